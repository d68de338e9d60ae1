import type { Host } from '../host/process-host.ts'
import { type Paint, plainPaint } from '../terminal/paint.ts'

/** The colours of a host are those of standard error: where a pipe reads standard output, it gets none. */
export const paintOn = ({ stdout, paint }: Pick<Host, 'stdout' | 'paint'>): Paint => (stdout.columns === undefined ? plainPaint : paint)
