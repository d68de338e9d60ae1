import { type Store, type TreeId, TroupeError } from '../../contracts/index.ts'
import { endTree } from '../../runtime/index.ts'
import { nearestNames } from '../../util/nearest-names.ts'
import type { ApprovalsInvocation } from '../agents-invocations.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Host } from '../host.ts'
import { safeJson } from '../safe-json.ts'
import { runFolder, withRuns } from './run-store.ts'

const byCommand = 'troupe approvals drop'

/** `troupe approvals drop`: ends runs that nobody wants to go on with. Nothing of them runs, and their journals stay. */
export async function dropRuns(invocation: ApprovalsInvocation, host: Host): Promise<number> {
  const { named, output } = invocation
  if (named.length === 0)
    throw new TroupeError('usage', 'No run is named.', { remedy: 'Name the runs that approvals list shows: troupe approvals drop ID' })
  const folder = await runFolder(invocation, host)
  const dropped = await withRuns<readonly string[]>(folder, [], (store) => drop(store, named))
  if (dropped.length === 0) throw unknown(named, [])
  const { code } = exitCodes.done
  if (output === 'json') await host.stdout.line(safeJson({ ok: true, dropped, exitCode: code }))
  else await host.stdout.lines(dropped.map((id) => `Dropped: ${id}`))
  return code
}

/** All or none: whoever misspells one has not lost the others. */
async function drop(store: Store, ids: readonly string[]): Promise<readonly string[]> {
  const runs = await Promise.all(ids.map(async (id) => ({ id: id as TreeId, run: await store.trees.get(id as TreeId) })))
  const missing = runs.filter(({ run }) => !run).map(({ id }) => id)
  if (missing.length > 0)
    throw unknown(
      missing,
      (await store.trees.list({ limit: 100 })).map(({ treeId }) => treeId),
    )
  const ended = runs.filter(({ run }) => run?.status !== 'suspended' && run?.status !== 'running').map(({ id }) => id)
  if (ended.length > 0)
    throw new TroupeError('usage', `${ended.join(', ')} ${ended.length === 1 ? 'has' : 'have'} ended: there is nothing to drop.`, {
      remedy: 'Leave it out.',
    })
  for (const { id } of runs) await endTree(store, id, byCommand)
  return ids
}

function unknown(ids: readonly string[], known: readonly string[]): TroupeError {
  return new TroupeError('usage', 'Not every run that is to be dropped is there.', {
    problems: ids.map((id) => {
      const [near] = nearestNames(id, known)
      return { place: id, message: 'there is no such run in that folder', ...(near !== undefined && { remedy: `Did you mean ${near}?` }) }
    }),
    remedy: 'See what waits: troupe approvals list --everywhere',
  })
}
