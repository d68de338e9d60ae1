import { denialsIn } from '../../../view/index.ts'
import type { SessionsInvocation } from '../../arguments/project-invocations.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import { printError, stdoutPaint } from '../../terminal/print-messages.ts'
import type { Host } from '../../terminal/process-host.ts'
import { safeJson } from '../../terminal/safe-json.ts'
import { runEnd } from '../output/run-documents.ts'
import { withSession } from './find-session.ts'
import { type LoadedSession, loadSession } from './load-session.ts'
import { isResting, sessionDocument } from './session-document.ts'
import { sessionReport } from './session-report.ts'

/** `troupe sessions show`: reads one session and changes nothing. */
export async function showSession(invocation: SessionsInvocation, host: Host): Promise<number> {
  const { output, display } = invocation
  const { shown, place } = await withSession(invocation, host, async (store, entry, where) => ({
    shown: await loadSession(store, entry),
    place: where,
  }))
  switch (output) {
    case 'json':
      await host.stdout.line(safeJson(sessionDocument(shown, place)))
      break
    case 'stream-json':
      await stream(shown, host)
      break
    case 'answer':
      await host.stdout.prose(
        sessionReport(shown, {
          place,
          paint: stdoutPaint(host),
          width: host.stdout.columns ?? host.width,
          isWindow: host.stdout.columns !== undefined,
          now: host.now(),
          ...(display.detail === 'verbose' && { isVerbose: true }),
        }),
      )
      break
    default:
      output satisfies never
  }
  if (!shown.damage) return exitCodes.done.code
  await printError(shown.damage, { host, display })
  return exitCodes.failed.code
}

/** As `run --stream-json`, without live events. An open session has no final line. */
async function stream(shown: LoadedSession, { stdout }: Host): Promise<void> {
  for (const event of shown.events) await stdout.line(safeJson(event))
  if (isResting(shown)) await stdout.line(safeJson(runEnd(shown.outcome, { denials: denialsIn(shown.events) })))
}
