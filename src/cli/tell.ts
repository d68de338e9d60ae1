import type { TroupeError } from '../contracts/index.ts'
import type { Host } from './host.ts'
import { safeJson } from './live/safe-json.ts'
import { colourPaint, plainPaint, printable } from './paint.ts'
import type { Wishes } from './parse-arguments.ts'
import { errorLines } from './print-errors.ts'

/** Who is told, and how they want it. */
export interface Told {
  readonly host: Host
  readonly wishes: Wishes
}

/** The host with the colours that were asked for. */
export function withColour(host: Host, { color }: Pick<Wishes, 'color'>): Host {
  if (color === 'auto') return host
  const paint = color === 'always' ? colourPaint : plainPaint
  // Not a copy: the width of a window changes.
  return Object.create(host, { paint: { value: paint, enumerable: true } })
}

/** An error on standard error: lines for people, or a line of the log. It is told however quiet it is to be. */
export function tellError(
  error: Pick<TroupeError, 'message' | 'remedy' | 'problems'> & { readonly cause?: unknown },
  told: Told,
): Promise<void> {
  const { host, wishes } = told
  const { message, remedy, problems } = error
  if (wishes.logFormat === 'json') {
    const code = 'code' in error ? error.code : undefined
    return host.stderr.line(logged('error', message, { code, remedy, ...(problems.length > 0 && { problems }) }))
  }
  return host.stderr.lines([...errorLines(error, host.paint), ...(wishes.verbose ? causeLines(error.cause, host) : [])])
}

/** Something worth knowing that is no error. */
export function tellNotice(text: string, { host, wishes }: Told): Promise<void> {
  if (wishes.quiet) return Promise.resolve()
  return host.stderr.line(wishes.logFormat === 'json' ? logged('info', text) : host.paint('dim', printable(text)))
}

function logged(level: 'info' | 'error', msg: string, fields: object = {}): string {
  return safeJson({ time: new Date().toISOString(), level, msg, ...fields })
}

const mostCauses = 5

/** What lies behind an error, for those who want to know more. */
function causeLines(cause: unknown, { paint }: Host): readonly string[] {
  const lines: string[] = []
  for (let at = cause; at instanceof Error && lines.length < mostCauses; at = at.cause) {
    const text = `${at.name}: ${at.message}`
    lines.push(`  ${paint('dim', `caused by ${printable(text)}`)}`)
  }
  return lines
}
