import { existsSync } from 'node:fs'
import { type InteractionEvent, type Store, type TreeEntry, TroupeError } from '../../contracts/index.ts'
import type { AgentRuntime, OpenOptions, RunHandle } from '../../runtime/index.ts'
import { dataDirFlag } from '../approvals/next-steps.ts'
import { resumeCommand } from '../commands/resume-command.ts'
import type { RunInvocation } from '../options/parse-arguments.ts'
import { findSession, type SessionPlace } from '../sessions/find-session.ts'
import { missingDenials } from './resumed-run.ts'
import { originIn } from './run-origin.ts'

interface Beginning extends SessionPlace {
  readonly invocation: RunInvocation
  readonly prompt: string
  /** The agent of the file that was given. */
  readonly agent: string
  /** The folder that this command would work in. */
  readonly workspace: string
  /** What is different in a run that is taken up. */
  readonly changes?: OpenOptions
}

export interface StartedRun {
  readonly handle: RunHandle
  /** What had happened before, of a run that is taken up. */
  readonly past: readonly InteractionEvent[]
}

/** A new run, or one that is taken up where it stands. */
export async function startRun(runtime: AgentRuntime, store: Store, beginning: Beginning): Promise<StartedRun> {
  const { prompt, invocation } = beginning
  const { resume } = invocation
  if (resume === undefined) return { handle: runtime.stream(prompt), past: [] }
  const run = await findSession(store, resume, beginning)
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
      `The session ${treeId} ${status === 'interrupted' ? 'was interrupted and ' : ''}has ended; there is nothing to resume.`,
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
