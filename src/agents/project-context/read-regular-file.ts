import * as files from 'node:fs'
import { type SafeReadBounds, type SafeReadResult, safeRead } from '../../policy/safe-read.ts'

/** Looks at what was opened, not at what stood there before. */
export const readRegularFile = (path: string, bounds: SafeReadBounds): SafeReadResult => safeRead(files, path, bounds)
