import { modelRequest, recordedRun } from '../../../runtime/index.ts'
import type { SessionsInvocation } from '../../arguments/project-invocations.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import { stdoutPaint } from '../../terminal/print-messages.ts'
import type { Host } from '../../terminal/process-host.ts'
import { safeJson } from '../../terminal/safe-json.ts'
import { findRequest } from './find-request.ts'
import { withSession } from './find-session.ts'
import { requestReport } from './request-report.ts'

/** `troupe sessions show ID --request STEP`: what a model was sent. */
export async function showRequest(
  invocation: SessionsInvocation,
  wanted: NonNullable<SessionsInvocation['request']>,
  host: Host,
): Promise<number> {
  const { stdout } = host
  const request = await withSession(invocation, host, async (store, { treeId }) => {
    const { events } = await recordedRun(store, treeId)
    return modelRequest({ store }, treeId, findRequest(events, wanted))
  })
  if (invocation.output === 'json') await stdout.line(safeJson(request))
  // Some terminals wrap a line that fills the last column.
  else await stdout.lines(requestReport(request, { paint: stdoutPaint(host), width: (stdout.columns ?? Number.POSITIVE_INFINITY) - 1 }))
  return exitCodes.done.code
}
