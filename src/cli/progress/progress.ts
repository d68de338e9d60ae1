import type { DisplayOptions } from '../options/parse-arguments.ts'
import type { Window } from '../terminal/paint.ts'

/**
 * How a run is shown on standard error while it goes on: a tree that is redrawn in place, a line for each thing that
 * happens, the same with more detail, a JSON log, or nothing.
 */
export type Progress = 'live' | 'plain' | 'verbose' | 'json' | 'none'

/** Who wants a log gets one; otherwise what is redrawn in place needs a terminal that takes escapes. */
export function progressFor(window: Window, { detail, logFormat }: Pick<DisplayOptions, 'detail' | 'logFormat'>): Progress {
  if (detail === 'quiet') return 'none'
  if (logFormat === 'json') return 'json'
  if (detail === 'verbose') return 'verbose'
  return window === 'terminal' ? 'live' : 'plain'
}

/** Whether the tree belongs below a run that was shown so. A log is for programs, and quiet is quiet. */
export const showsTree = (progress: Progress): boolean => progress !== 'json' && progress !== 'none'
