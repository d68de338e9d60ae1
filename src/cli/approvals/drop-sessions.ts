import { randomUUID } from 'node:crypto'
import { type OwnerId, type Problem, type Store, type TreeId, TroupeError } from '../../contracts/index.ts'
import { endTree } from '../../runtime/index.ts'
import { nearestNames } from '../../util/nearest-names.ts'
import type { ApprovalsInvocation } from '../agents-invocations.ts'
import { exitCodeOfError, exitCodes } from '../exit-codes.ts'
import type { Host } from '../host.ts'
import type { InterruptedError } from '../interrupted-error.ts'
import { troupeError } from '../print-errors.ts'
import { errorDocument } from '../run-documents.ts'
import { safeJson } from '../safe-json.ts'
import { tellError } from '../tell.ts'
import { sessionFolder, withSessions } from './session-store.ts'

const byCommand = 'troupe approvals drop'

/** `troupe approvals drop`: ends runs that nobody wants to go on with. Nothing of them runs, and their journals stay. */
export async function dropSessions(invocation: ApprovalsInvocation, host: Host): Promise<number> {
  const { named, output, wishes } = invocation
  if (named.length === 0)
    throw new TroupeError('usage', 'No session is named.', {
      remedy: 'Name the sessions that approvals list shows: troupe approvals drop ID',
    })
  const folder = await sessionFolder(invocation, host)
  const ids = [...new Set(named as readonly TreeId[])]
  const { dropped, error } = await withSessions<Dropped>(folder, { dropped: [] }, (store) => endSessions(store, ids))
  if (dropped.length === 0) throw error ?? unknown(named, [])
  const code = error ? exitCodeOfError(error) : exitCodes.done.code
  if (output === 'json')
    await host.stdout.line(safeJson(error ? { ...errorDocument(error), dropped } : { ok: true, dropped, exitCode: code }))
  else await host.stdout.lines(dropped.map((id) => `Dropped: ${id}`))
  if (error) await tellError(error, { host, wishes })
  return code
}

export interface Dropped {
  readonly dropped: readonly TreeId[]
  /** Why the next one was not, although nothing spoke against it before. */
  readonly error?: TroupeError | InterruptedError
}

/** All or none: whoever misspells one has not lost the others. What comes up after that ends it where it is. */
export async function endSessions(store: Store, ids: readonly TreeId[]): Promise<Dropped> {
  await refuseEnded(store, ids)
  await refuseDriven(store, ids)
  const dropped: TreeId[] = []
  for (const id of ids) {
    try {
      await endTree(store, id, byCommand)
      dropped.push(id)
    } catch (error) {
      return { dropped, error: troupeError(error) }
    }
  }
  return { dropped }
}

async function refuseEnded({ trees }: Store, ids: readonly TreeId[]): Promise<void> {
  const runs = await Promise.all(ids.map(async (id) => ({ id, run: await trees.get(id) })))
  const missing = runs.filter(({ run }) => !run).map(({ id }) => id)
  if (missing.length > 0)
    throw unknown(
      missing,
      (await trees.list({ limit: 100 })).map(({ treeId }) => treeId),
    )
  const ended = runs.filter(({ run }) => run?.status !== 'suspended' && run?.status !== 'running').map(({ id }) => id)
  if (ended.length > 0)
    throw new TroupeError('usage', `${ended.join(', ')} ${ended.length === 1 ? 'has' : 'have'} ended: there is nothing to drop.`, {
      remedy: 'Leave it out.',
    })
}

/** Whoever can have a run, and gives it up again, has seen that nobody else has it. */
async function refuseDriven({ journal }: Store, ids: readonly TreeId[]): Promise<void> {
  const owner = `drop-${randomUUID()}` as OwnerId
  const problems: Problem[] = []
  for (const id of ids) {
    const claim = await journal.claim(id, owner)
    if (claim.ok) await journal.release(id, claim.epoch)
    else problems.push({ place: id, message: `it is driven by ${claim.owner}`, remedy: 'Interrupt it there, or leave it out.' })
  }
  if (problems.length > 0) throw new TroupeError('tree_owned', 'Not every session can be dropped; none was.', { problems })
}

function unknown(ids: readonly string[], known: readonly string[]): TroupeError {
  return new TroupeError('usage', 'Some of the sessions to drop do not exist; none was dropped.', {
    problems: ids.map((id) => {
      const [near] = nearestNames(id, known)
      return {
        place: id,
        message: 'there is no such session in that folder',
        ...(near !== undefined && { remedy: `Did you mean ${near}?` }),
      }
    }),
    remedy: 'See what waits: troupe approvals list --everywhere',
  })
}
