import { existsSync } from 'node:fs'
import { findProjectRoot } from '../agents/index.ts'
import { type InteractionEvent, type Store, type TreeEntry, type TreeId, TroupeError } from '../contracts/index.ts'
import type { AgentRuntime, OpenOptions, RunHandle } from '../runtime/index.ts'
import { nearestNames } from '../util/nearest-names.ts'
import { dataDirFlag } from './approvals/answer-command.ts'
import type { RunInvocation } from './parse-arguments.ts'
import { resumeCommand } from './resume-command.ts'
import { originIn } from './run-origin.ts'
import { type KeptSession, keptSessions } from './sessions/kept-sessions.ts'
import { missingDenials } from './taken-up.ts'

interface Beginning {
  readonly invocation: RunInvocation
  readonly prompt: string
  /** The agent of the file that was given. */
  readonly agent: string
  /** The folder that this command would work in. */
  readonly workspace: string
  /** Where the journal is, where it is not found without being named. */
  readonly dataDir: string | undefined
  /** What is different in a run that is taken up. */
  readonly changes?: OpenOptions
}

export interface BegunRun {
  readonly handle: RunHandle
  /** What had happened before, of a run that is taken up. */
  readonly past: readonly InteractionEvent[]
}

/** A new run, or one that is taken up where it stands. */
export async function startRun(runtime: AgentRuntime, store: Store, beginning: Beginning): Promise<BegunRun> {
  const { prompt, invocation } = beginning
  const { resume } = invocation
  if (resume === undefined) return { handle: runtime.stream(prompt), past: [] }
  const run = await store.trees.get(resume as TreeId)
  if (!run) throw await unknownSession(resume, store, beginning)
  refuseOther(run, beginning)
  const past = await store.journal.read(run.treeId, 0)
  refuseElsewhere(past[0], beginning)
  refuseWeaker(past[0], beginning)
  const handle = await runtime.open(run.treeId, beginning.changes)
  if (prompt !== '') await handle.send(prompt)
  return { handle, past }
}

/** A run keeps its agent; and one that has ended needs something to do. */
function refuseOther(run: TreeEntry, { prompt, agent, invocation }: Beginning): void {
  const { treeId, status } = run
  if (run.agent !== agent)
    throw new TroupeError('usage', `The session ${treeId} belongs to the agent ${run.agent}; ${invocation.file} is ${agent}.`, {
      remedy: `Give the file of ${run.agent}, or start a new session without --resume.`,
    })
  if (prompt === '' && hasEnded(run))
    throw new TroupeError(
      'usage',
      `The session ${treeId} ${status === 'interrupted' ? 'was interrupted and ' : ''}has ended: there is nothing to go on with.`,
      { remedy: `Give a PROMPT for its next turn: ${resumeCommand(invocation, treeId, { hasEnded: true })}` },
    )
}

/** What was asked for, and perhaps approved, was meant for the folder that the run works in. */
function refuseElsewhere(first: InteractionEvent | undefined, { invocation, workspace, dataDir }: Beginning): void {
  const origin = originIn(first)
  if (!first || origin === undefined || origin.workspace === workspace) return
  const { treeId } = first
  const isThere = existsSync(origin.workspace)
  const there = resumeCommand(invocation, treeId, {
    hasEnded: invocation.prompt !== undefined,
    elsewhere: { workspace: origin.workspace, ...(dataDir !== undefined && { dataDir }) },
  })
  throw new TroupeError('usage', `The session ${treeId} works in ${origin.workspace}; this is ${workspace}.`, {
    remedy: isThere
      ? `Go on with it there: ${there}`
      : `That folder is gone: bring it back, or drop the session: troupe approvals drop ${treeId}${dataDirFlag(dataDir)}`,
  })
}

/** Rules were made before the run was looked up: where it was not found then, what it was denied has to be said. */
function refuseWeaker(first: InteractionEvent | undefined, { invocation }: Beginning): void {
  const flags = originIn(first)?.flags ?? []
  const missing = missingDenials(flags, invocation)
  if (!first || missing.length === 0) return
  const stricter = resumeCommand({ ...invocation, deny: [...missing, ...invocation.deny] }, first.treeId)
  throw new TroupeError('usage', `The session ${first.treeId} was started with more denied: ${missing.join(', ')}.`, {
    remedy: `Deny it again: ${stricter}`,
  })
}

const hasEnded = ({ status }: TreeEntry): boolean => status !== 'suspended' && status !== 'running'

/** Whoever lost an id finds it again: those of this project that could go on are named. */
async function unknownSession(id: string, store: Store, { workspace, dataDir }: Beginning): Promise<TroupeError> {
  const known = await store.trees.list({ limit: 20 })
  const [near] = nearestNames(
    id,
    known.map(({ treeId }) => treeId as string),
  )
  const unended = await keptSessions(store, { project: findProjectRoot(workspace), isUnended: true })
  const named = (kind: KeptSession['standing']['kind'], words: string): readonly string[] => {
    const ids = unended.filter(({ standing }) => standing.kind === kind).map(({ run }) => run.treeId)
    return ids.length > 0 ? [`${words}: ${ids.slice(0, mostNamed).join(', ')}${ids.length > mostNamed ? ', …' : ''}.`] : []
  }
  const others = [...named('left', 'Left in the middle'), ...named('waiting', 'Waiting')]
  const list = `See them all: troupe sessions list${dataDirFlag(dataDir)}`
  return new TroupeError('usage', `There is no session ${id} in that folder.`, {
    remedy: near ? `Did you mean ${near}?` : [...others, list].join(' '),
  })
}

const mostNamed = 5
