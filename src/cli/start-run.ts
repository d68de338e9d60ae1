import { type Store, type TreeEntry, type TreeId, TroupeError } from '../contracts/index.ts'
import type { AgentRuntime, RunHandle } from '../runtime/index.ts'
import { nearestNames } from '../util/nearest-names.ts'

interface Beginning {
  readonly prompt: string
  /** The run to go on with. */
  readonly resume?: string
}

/** A new run, or one that is taken up where it stands. */
export async function startRun(runtime: AgentRuntime, store: Store, { prompt, resume }: Beginning): Promise<RunHandle> {
  if (resume === undefined) return runtime.stream(prompt)
  const run = await store.trees.get(resume as TreeId)
  if (!run) throw unknownRun(resume, await store.trees.list({ limit: 20 }))
  if (prompt === '' && hasEnded(run))
    throw new TroupeError('usage', `The run ${resume} has ended: there is nothing to go on with.`, {
      remedy: 'Give a PROMPT for its next turn.',
    })
  const handle = await runtime.open(run.treeId)
  if (prompt !== '') await handle.send(prompt)
  return handle
}

const hasEnded = ({ status }: TreeEntry): boolean => status !== 'suspended' && status !== 'running'

function unknownRun(id: string, runs: readonly TreeEntry[]): TroupeError {
  const ids = runs.map(({ treeId }) => treeId as string)
  const [near] = nearestNames(id, ids)
  const waiting = runs.filter(({ status }) => status === 'suspended').map(({ treeId }) => treeId)
  const others = waiting.length > 0 ? `These wait: ${waiting.join(', ')}.` : 'No run waits there.'
  return new TroupeError('usage', `There is no run ${id} in that folder.`, { remedy: near ? `Did you mean ${near}?` : others })
}
