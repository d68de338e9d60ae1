import { type InteractionEvent, type Store, type TreeEntry, type TreeId, TroupeError } from '../contracts/index.ts'
import type { AgentRuntime, RunHandle } from '../runtime/index.ts'
import { nearestNames } from '../util/nearest-names.ts'

interface Beginning {
  readonly prompt: string
  /** The run to go on with. */
  readonly resume?: string
  /** The agent of the file that was given. */
  readonly agent: string
  readonly file: string
}

export interface BegunRun {
  readonly handle: RunHandle
  /** What had happened before, of a run that is taken up. */
  readonly past: readonly InteractionEvent[]
}

/** A new run, or one that is taken up where it stands. */
export async function startRun(runtime: AgentRuntime, store: Store, beginning: Beginning): Promise<BegunRun> {
  const { prompt, resume } = beginning
  if (resume === undefined) return { handle: runtime.stream(prompt), past: [] }
  const run = await store.trees.get(resume as TreeId)
  if (!run) throw unknownRun(resume, await store.trees.list({ limit: 20 }))
  refuseOther(run, beginning)
  const past = await store.journal.read(run.treeId, 0)
  const handle = await runtime.open(run.treeId)
  if (prompt !== '') await handle.send(prompt)
  return { handle, past }
}

/** A run keeps its agent; and one that has ended needs something to do. */
function refuseOther(run: TreeEntry, { prompt, agent, file }: Beginning): void {
  if (run.agent !== agent)
    throw new TroupeError('usage', `The run ${run.treeId} is one of the agent ${run.agent}; ${file} is ${agent}.`, {
      remedy: `Give the file of ${run.agent}, or start a new run without --resume.`,
    })
  if (prompt === '' && hasEnded(run))
    throw new TroupeError('usage', `The run ${run.treeId} has ended: there is nothing to go on with.`, {
      remedy: 'Give a PROMPT for its next turn.',
    })
}

const hasEnded = ({ status }: TreeEntry): boolean => status !== 'suspended' && status !== 'running'

function unknownRun(id: string, runs: readonly TreeEntry[]): TroupeError {
  const ids = runs.map(({ treeId }) => treeId as string)
  const [near] = nearestNames(id, ids)
  const waiting = runs.filter(({ status }) => status === 'suspended').map(({ treeId }) => treeId)
  const others = waiting.length > 0 ? `These wait: ${waiting.join(', ')}.` : 'No run waits there.'
  return new TroupeError('usage', `There is no run ${id} in that folder.`, { remedy: near ? `Did you mean ${near}?` : others })
}
