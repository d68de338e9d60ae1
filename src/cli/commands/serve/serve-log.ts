import type { AccessEntry } from '../../../server/http/index.ts'
import type { ServerLog } from '../../../server/index.ts'
import { duration } from '../../../view/index.ts'
import type { ServeInvocation } from '../../arguments/serve-invocations.ts'
import type { DisplayOptions } from '../../terminal/display-options.ts'
import { logRecord, printNotice, printWarning } from '../../terminal/print-messages.ts'
import { printable } from '../../terminal/printable.ts'
import type { Host } from '../../terminal/process-host.ts'

/** Lines of JSON, unless a person reads them. */
export const displayOf = ({ display, logFormat }: ServeInvocation, { window, isSeen = window === 'terminal' }: Host): DisplayOptions => ({
  ...display,
  logFormat: logFormat ?? (isSeen ? 'text' : 'json'),
})

/** `showsRequests`: whether each request is logged, or only with `--verbose`. */
export function serveLog(host: Host, display: DisplayOptions, showsRequests = true): ServerLog {
  const target = { host, display }
  return {
    debug(text) {
      if (display.detail === 'verbose') void printNotice(text, target)
    },
    note: (text) => void printNotice(text, target),
    warn: (text) => void printWarning(text, target),
    failure(error, requestId) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
      void printWarning(`${requestId === undefined ? 'Unexpected error' : `Request ${requestId} failed`}: ${text}`, target)
    },
    access(entry) {
      const isShown = showsRequests ? display.detail !== 'quiet' : display.detail === 'verbose'
      if (!isShown && entry.status < 500) return
      void host.stderr.line(display.logFormat === 'json' ? accessRecord(entry, host) : accessLine(entry, host))
    },
  }
}

/** One line for each request, without queries, bodies and tokens. */
function accessRecord(entry: AccessEntry, host: Pick<Host, 'now'>): string {
  return logRecord(host, { level: entry.status >= 500 ? 'error' : 'info', msg: 'request', ...entry })
}

function accessLine({ method, path, status, durationMs, principal, sessionId, error }: AccessEntry, { now, paint }: Host): string {
  const colour = status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green'
  const time = new Date(now()).toISOString().slice(11, 19)
  const facts = [principal, sessionId, error].filter((each) => each !== undefined).map(printable)
  return [paint('dim', time), paint(colour, String(status)), method, printable(path), duration(durationMs), paint('dim', facts.join(' '))]
    .join(' ')
    .trimEnd()
}
