import type { Host } from '../host.ts'
import { plainPaint } from '../paint.ts'

/**
 * How a run is shown on standard error while it goes on: a tree that is redrawn in place, a line for each thing that
 * happens, the same with more detail, a JSON log, or nothing.
 */
export type Progress = 'live' | 'plain' | 'verbose' | 'json' | 'none'

export interface ProgressWishes {
  readonly quiet?: boolean
  readonly verbose?: boolean
  readonly logFormat?: 'text' | 'json'
}

/** Who wants a log gets one; otherwise what is redrawn in place needs a terminal that takes escapes. */
export function progressFor(
  { paint }: Pick<Host, 'paint'>,
  { quiet = false, verbose = false, logFormat = 'text' }: ProgressWishes,
): Progress {
  if (quiet) return 'none'
  if (logFormat === 'json') return 'json'
  if (verbose) return 'verbose'
  // Only a terminal that nobody has forbidden escapes for is given colours, so a plain brush means plain lines.
  return paint === plainPaint ? 'plain' : 'live'
}

/** Whether the tree belongs below a run that was shown so. A log is for programs, and quiet is quiet. */
export const showsTree = (progress: Progress): boolean => progress !== 'json' && progress !== 'none'
