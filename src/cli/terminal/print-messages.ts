import type { DisplayOptions } from './display-options.ts'
import { exitCodes } from './exit-codes.ts'
import { colourPaint, type Paint, plainPaint } from './paint.ts'
import { errorLines, type PrintedError } from './print-errors.ts'
import { printable } from './printable.ts'
import type { Host } from './process-host.ts'
import { safeJson } from './safe-json.ts'

export interface PrintTarget {
  readonly host: Host
  readonly display: DisplayOptions
}

/** The host with the requested colours. Colours do not make a terminal of a pipe; without colours there are no escape sequences. */
export function withColour(host: Host, { color }: Pick<DisplayOptions, 'color'>): Host {
  if (color === 'auto') return host
  const wanted = color === 'always' ? { paint: colourPaint } : { paint: plainPaint, answerPaint: plainPaint, window: 'plain' as const }
  return {
    ...host,
    ...wanted,
    // The terminal may be resized.
    get width() {
      return host.width
    },
  }
}

/** Prints an error as lines or as a log record, also with `--quiet`. */
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

/** Prints the JSON document of a command that succeeded. */
export function printDocument(fields: object, { stdout }: Pick<Host, 'stdout'>): Promise<void> {
  return stdout.line(safeJson({ ok: true, ...fields, exitCode: exitCodes.done.code }))
}

export function printNotice(text: string, { host, display }: PrintTarget): Promise<void> {
  if (display.detail === 'quiet') return Promise.resolve()
  if (display.logFormat === 'json') return host.stderr.line(logRecord(host, { level: 'info', msg: text }))
  return host.stderr.prose([host.paint('dim', printable(text))])
}

/** A warning is printed also with `--quiet`. */
export function printWarning(text: string, { host, display }: PrintTarget): Promise<void> {
  if (display.logFormat === 'json') return host.stderr.line(logRecord(host, { level: 'warn', msg: text }))
  return host.stderr.prose([host.paint('yellow', printable(text))])
}

export function logRecord(
  host: Pick<Host, 'now'>,
  entry: { readonly level: 'info' | 'warn' | 'error'; readonly msg: string; readonly [field: string]: unknown },
): string {
  return safeJson({ time: new Date(host.now()).toISOString(), ...entry })
}

const maxCauses = 5

function causeLines(cause: unknown, { paint }: Host): readonly string[] {
  const lines: string[] = []
  for (let at = cause; at instanceof Error && lines.length < maxCauses; at = at.cause) {
    const text = `${at.name}: ${at.message}`
    lines.push(`  ${paint('dim', `caused by ${printable(text)}`)}`)
  }
  return lines
}

/** Paint for standard output. The paint of the host is for standard error, which may be a terminal when standard output is a pipe. */
export const stdoutPaint = ({ stdout, paint }: Pick<Host, 'stdout' | 'paint'>): Paint => (stdout.columns === undefined ? plainPaint : paint)
