// peer: Troupe, memory | troupe
import { make } from '../lib/troupe.mjs'
export const prepare = make()
