import * as files from 'node:fs'
import { type LookBounds, type OneLook, readInOneLook } from '../../policy/safe-read.ts'

/** Looks at what was opened, not at what stood there before. */
export const readRegularFile = (path: string, bounds: LookBounds): OneLook => readInOneLook(files, path, bounds)
