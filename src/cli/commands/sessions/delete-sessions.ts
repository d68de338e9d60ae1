import { type Store, type TreeEntry, TroupeError } from '../../../contracts/index.ts'
import { sessionPlace, storeName, withSessions } from '../../../project/index.ts'
import { deleteTree } from '../../../runtime/index.ts'
import { messageOf } from '../../../util/message-of.ts'
import { parseAge } from '../../../util/parse-time.ts'
import { timeText } from '../../../view/index.ts'
import type { SessionsInvocation } from '../../arguments/project-invocations.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import { printDocument, printNotice, printWarning } from '../../terminal/print-messages.ts'
import { printable } from '../../terminal/printable.ts'
import type { Host } from '../../terminal/process-host.ts'
import { findSession, type SessionPlace, unknownSession } from './find-session.ts'
import { hasEnded, prunable, type Retention } from './retention.ts'
import { allSessions } from './waiting-requests.ts'

interface Deleted {
  readonly sessions: readonly TreeEntry[]
  /** Why their disk space was not freed. */
  readonly unreclaimed?: string
}

/** `troupe sessions delete`: all of the named sessions, or none where one is missing or running. */
export async function deleteSessions(invocation: SessionsInvocation, host: Host): Promise<number> {
  const { ids, dataDir, isDryRun } = invocation
  if (ids.length === 0) throw new TroupeError('usage', 'The session ID is missing.', { remedy: 'To find the ID: troupe sessions list' })
  const store = await sessionPlace(invocation, host)
  const place = { folder: storeName(store), dataDir }
  const deleted = await withSessions<Deleted | undefined>(store, undefined, async (store) => {
    const sessions = await namedSessions(store, ids, place)
    return isDryRun ? { sessions } : remove(store, sessions, refuseDriven)
  })
  if (!deleted) throw unknownSession(ids.join(', '), place)
  return printDeleted(deleted, invocation, host)
}

/** `troupe sessions prune`: deletes ended sessions of the data folder that are old and not among the newest. */
export async function pruneSessions(invocation: SessionsInvocation, host: Host): Promise<number> {
  const retention = retentionOf(invocation)
  const place = await sessionPlace(invocation, host)
  const deleted = await withSessions<Deleted>(place, { sessions: [] }, async (store) => {
    const entries: TreeEntry[] = []
    for await (const entry of allSessions(store)) entries.push(entry)
    const sessions = prunable(entries, retention, host.now())
    return invocation.isDryRun ? { sessions } : remove(store, sessions, () => undefined)
  })
  return printDeleted(deleted, invocation, host)
}

async function namedSessions(store: Store, ids: readonly string[], place: SessionPlace): Promise<readonly TreeEntry[]> {
  const found = new Map<string, TreeEntry>()
  for (const id of ids) {
    const entry = await findSession(store, id, place)
    found.set(entry.treeId, entry)
  }
  for (const { treeId } of found.values()) {
    const driver = await store.trees.driver(treeId)
    if (driver !== undefined) refuseDriven(treeId, driver)
  }
  return [...found.values()]
}

function refuseDriven(treeId: string, driver: string): never {
  throw new TroupeError('session_driven', `Session ${treeId} is running: ${driver}.`, {
    remedy: 'Wait for it or interrupt it there, or leave it out.',
  })
}

/** Calls `driven` for a session that a process has claimed in the meantime; it is not deleted. */
async function remove(store: Store, entries: readonly TreeEntry[], driven: (treeId: string, driver: string) => void): Promise<Deleted> {
  const sessions: TreeEntry[] = []
  for (const entry of entries) {
    // The session may have been resumed since the list was read.
    const now = await store.trees.get(entry.treeId)
    if (!now || hasEnded(entry) !== hasEnded(now)) continue
    const deletion = await deleteTree(store, entry.treeId)
    if (deletion.ok) sessions.push(entry)
    else if (deletion.refusal === 'driven') driven(entry.treeId, deletion.driver)
  }
  try {
    if (sessions.length > 0) await store.vacuum()
    return { sessions }
  } catch (error) {
    return { sessions, unreclaimed: messageOf(error) }
  }
}

async function printDeleted(
  { sessions, unreclaimed }: Deleted,
  { output, display, isDryRun }: SessionsInvocation,
  host: Host,
): Promise<number> {
  if (output === 'json') {
    const deleted = sessions.map(({ treeId }) => treeId)
    await printDocument({ ...(isDryRun && { dryRun: true }), deleted }, host)
  } else {
    const verb = isDryRun ? 'Would delete' : 'Deleted'
    await host.stdout.lines(
      sessions.map(
        ({ treeId, agent, updatedAt, title }) => `${verb}: ${treeId}  ${printable(`${agent} · ${timeText(updatedAt)} · “${title}”`)}`,
      ),
    )
    if (sessions.length === 0) await printNotice('There is nothing to delete.', { host, display })
  }
  if (unreclaimed !== undefined)
    await printWarning(`The disk space was not freed: ${unreclaimed}. The next prune frees it.`, { host, display })
  return exitCodes.done.code
}

function retentionOf({ older, keep }: SessionsInvocation): Retention {
  const olderMs = older === undefined ? 0 : parseAge(older)
  const count = keep === undefined ? 0 : /^\d+$/.test(keep) ? Number(keep) : undefined
  const problems = [
    ...(older === undefined && keep === undefined
      ? [
          {
            place: 'prune',
            message: '--older, --keep or both are required.',
            remedy: 'For example: troupe sessions prune --older 30d --keep 100',
          },
        ]
      : []),
    ...(olderMs === undefined ? [{ place: '--older', message: `expected a duration such as 30d or 12h, found ${older}` }] : []),
    ...(count === undefined ? [{ place: '--keep', message: `expected a number of sessions, found ${keep}` }] : []),
  ]
  if (problems.length > 0 || olderMs === undefined || count === undefined)
    throw new TroupeError('usage', 'The command line is invalid.', { problems, remedy: 'More: troupe help sessions' })
  return { olderMs, keep: count }
}
