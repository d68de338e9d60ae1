import type { Host } from '../host/process-host.ts'
import type { DisplayOptions } from '../options/parse-arguments.ts'
import { colourPaint, type Paint, plainPaint, printable } from './paint.ts'
import { errorLines, type PrintedError } from './print-errors.ts'
import { safeJson } from './safe-json.ts'

/** Who is told, and how they want it. */
export interface PrintTarget {
  readonly host: Host
  readonly display: DisplayOptions
}

/** The host with the colours that were asked for. Those do not make a terminal of a pipe; without any there is no escape at all. */
export function withColour(host: Host, { color }: Pick<DisplayOptions, 'color'>): Host {
  if (color === 'auto') return host
  const wanted = color === 'always' ? { paint: colourPaint } : { paint: plainPaint, answerPaint: plainPaint, window: 'plain' as const }
  return {
    ...host,
    ...wanted,
    // It may change at any time.
    get width() {
      return host.width
    },
  }
}

/** An error on standard error: lines for people, or a line of the log. It is told however quiet it is to be. */
export function printError(error: PrintedError & { readonly cause?: unknown }, { host, display }: PrintTarget): Promise<void> {
  const { message, remedy, problems, commands, isFailure = true } = error
  if (display.logFormat === 'json') {
    const code = 'code' in error ? error.code : undefined
    return host.stderr.line(
      logRecord(host, {
        level: isFailure ? 'error' : 'warn',
        msg: message,
        code,
        remedy,
        commands,
        ...(problems.length > 0 && { problems }),
      }),
    )
  }
  return host.stderr.prose([...errorLines(error, host.paint), ...(display.detail === 'verbose' ? causeLines(error.cause, host) : [])])
}

/** Something worth knowing that is no error. */
export function printNotice(text: string, { host, display }: PrintTarget): Promise<void> {
  if (display.detail === 'quiet') return Promise.resolve()
  if (display.logFormat === 'json') return host.stderr.line(logRecord(host, { level: 'info', msg: text }))
  return host.stderr.prose([host.paint('dim', printable(text))])
}

/** Something that changes what happens, or keeps it from happening: it is told however quiet it is to be. */
export function printWarning(text: string, { host, display }: PrintTarget): Promise<void> {
  if (display.logFormat === 'json') return host.stderr.line(logRecord(host, { level: 'warn', msg: text }))
  return host.stderr.prose([host.paint('yellow', printable(text))])
}

/** A line of the log. */
export function logRecord(
  host: Pick<Host, 'now'>,
  entry: { readonly level: 'info' | 'warn' | 'error'; readonly msg: string; readonly [field: string]: unknown },
): string {
  return safeJson({ time: new Date(host.now()).toISOString(), ...entry })
}

const maxCauses = 5

/** What lies behind an error, for those who want to know more. */
function causeLines(cause: unknown, { paint }: Host): readonly string[] {
  const lines: string[] = []
  for (let at = cause; at instanceof Error && lines.length < maxCauses; at = at.cause) {
    const text = `${at.name}: ${at.message}`
    lines.push(`  ${paint('dim', `caused by ${printable(text)}`)}`)
  }
  return lines
}

/** The colours of a host are those of standard error: where a pipe reads standard output, it gets none. */
export const stdoutPaint = ({ stdout, paint }: Pick<Host, 'stdout' | 'paint'>): Paint => (stdout.columns === undefined ? plainPaint : paint)
