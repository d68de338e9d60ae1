import { randomUUID } from 'node:crypto'
import { type DriverId, type Problem, type Store, type TreeEntry, type TreeId, TroupeError } from '../../../contracts/index.ts'
import { sessionPlace, storeName, withSessions } from '../../../project/index.ts'
import { endTree } from '../../../runtime/index.ts'
import type { ApprovalsInvocation } from '../../arguments/project-invocations.ts'
import { exitCodeOfError, exitCodes } from '../../terminal/exit-codes.ts'
import type { InterruptedError } from '../../terminal/interruption.ts'
import { troupeError } from '../../terminal/print-errors.ts'
import { printError } from '../../terminal/print-messages.ts'
import type { Host } from '../../terminal/process-host.ts'
import { safeJson } from '../../terminal/safe-json.ts'
import { auditAction } from '../audit/audit-action.ts'
import { errorDocument } from '../output/error-documents.ts'
import { findSession, type SessionPlace, unknownSession } from '../sessions/find-session.ts'

const byCommand = 'troupe approvals drop'

/** `troupe approvals drop`: ends suspended sessions without running them. Their journals stay. */
export async function dropSessions(invocation: ApprovalsInvocation, host: Host): Promise<number> {
  const { named, output, display, dataDir } = invocation
  if (named.length === 0)
    throw new TroupeError('usage', 'The session ID is missing.', {
      remedy: 'To find the ID: troupe approvals list',
    })
  const store = await sessionPlace(invocation, host)
  const place = { folder: storeName(store), dataDir }
  const { dropped, error } = await withSessions<DropResult>(store, { dropped: [] }, (store) => endSessions(store, named, place))
  if (dropped.length === 0) throw error ?? unknownSession(named.join(', '), place)
  const code = error ? exitCodeOfError(error) : exitCodes.done.code
  if (output === 'json') await host.stdout.line(safeJson(error ? errorDocument(error, { dropped }) : { ok: true, dropped, exitCode: code }))
  else await host.stdout.lines(dropped.map((id) => `Dropped: ${id}`))
  if (error) await printError(error, { host, display })
  return code
}

interface DropResult {
  readonly dropped: readonly TreeId[]
  /** Why the next session could not be ended. */
  readonly error?: TroupeError | InterruptedError
}

/** Ends all sessions, or none if an ID is wrong or a session is running. A later error stops the loop. */
export async function endSessions(store: Store, named: readonly string[], place: SessionPlace): Promise<DropResult> {
  const sessions: TreeEntry[] = []
  for (const id of named) sessions.push(await findSession(store, id, place))
  const ids = [...new Set(sessions.map(({ treeId }) => treeId))]
  refuseEnded(sessions)
  await refuseDriven(store, ids)
  const dropped: TreeId[] = []
  for (const id of ids) {
    try {
      await endTree(store, id, byCommand)
      await auditAction(store, { action: 'session.drop', sessionId: id })
      dropped.push(id)
    } catch (error) {
      return { dropped, error: troupeError(error) }
    }
  }
  return { dropped }
}

function refuseEnded(sessions: readonly TreeEntry[]): void {
  const ended = sessions.filter(({ status }) => status !== 'suspended' && status !== 'running').map(({ treeId }) => treeId)
  if (ended.length > 0)
    throw new TroupeError('usage', `${ended.join(', ')} ${ended.length === 1 ? 'has' : 'have'} already ended.`, {
      remedy: 'Remove it from the command.',
    })
}

/** Claims and releases each session to find out whether another process drives it. */
async function refuseDriven({ journal }: Store, ids: readonly TreeId[]): Promise<void> {
  const driver = `drop-${randomUUID()}` as DriverId
  const problems: Problem[] = []
  for (const id of ids) {
    const claim = await journal.claim(id, driver)
    if (claim.ok) await journal.release(id, claim.epoch)
    else problems.push({ place: id, message: `it is running: ${claim.driver}`, remedy: 'Interrupt it there, or leave it out.' })
  }
  if (problems.length > 0) throw new TroupeError('session_driven', 'Some sessions are running, so none was dropped.', { problems })
}
