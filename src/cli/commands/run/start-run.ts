import { existsSync } from 'node:fs'
import { type InteractionEvent, localPrincipal, type Store, type TreeEntry, TroupeError } from '../../../contracts/index.ts'
import { dataDirFlag, originIn } from '../../../project/index.ts'
import type { AgentRuntime, OpenOptions, RunHandle } from '../../../runtime/index.ts'
import type { RunInvocation } from '../../arguments/parse-arguments.ts'
import { findSession, type SessionPlace } from '../sessions/find-session.ts'
import { resumeCommand } from './resume-command.ts'
import { missingDenials } from './resumed-run.ts'

interface StartOptions extends SessionPlace {
  readonly invocation: RunInvocation
  readonly prompt: string
  /** The agent of the file. */
  readonly agent: string
  /** The workspace of this command. */
  readonly workspace: string
  /** Changed settings of a resumed session. */
  readonly changes?: OpenOptions
}

interface StartedRun {
  readonly handle: RunHandle
  /** The earlier events of a resumed session. */
  readonly past: readonly InteractionEvent[]
}

/** Starts a new session, or resumes one. */
export async function startRun(runtime: AgentRuntime, store: Store, options: StartOptions): Promise<StartedRun> {
  const { prompt, invocation } = options
  const { resume } = invocation
  if (resume === undefined) return { handle: runtime.stream(prompt, { principal: localPrincipal }), past: [] }
  const run = await findSession(store, resume, options)
  requireSameAgent(run, options)
  const past = await store.journal.read(run.treeId, 0)
  requireSameWorkspace(past[0], options)
  requireSameDenials(past[0], options)
  const handle = await runtime.open(run.treeId, { ...options.changes, definitions: 'pin' })
  if (prompt !== '') await handle.send(prompt)
  return { handle, past }
}

/** A session keeps its agent, and one that has ended needs a prompt. */
function requireSameAgent(run: TreeEntry, { prompt, agent, invocation }: StartOptions): void {
  const { treeId, status } = run
  if (run.agent !== agent)
    throw new TroupeError('usage', `The session ${treeId} belongs to the agent ${run.agent}; ${invocation.file} is ${agent}.`, {
      remedy: `Pass the file of ${run.agent}, or start a new session without --resume.`,
    })
  if (prompt === '' && hasEnded(run))
    throw new TroupeError(
      'usage',
      `The session ${treeId} ${status === 'interrupted' ? 'was interrupted and ' : ''}has ended; there is nothing to resume.`,
      { remedy: `Pass a PROMPT for its next turn: ${resumeCommand(invocation, treeId, { hasEnded: true })}` },
    )
}

/** The requests and approvals of a session apply to its workspace only. */
function requireSameWorkspace(first: InteractionEvent | undefined, { invocation, workspace, dataDir }: StartOptions): void {
  const origin = originIn(first)
  if (!first || origin === undefined || origin.workspace === workspace) return
  const { treeId } = first
  const isThere = existsSync(origin.workspace)
  const there = resumeCommand(invocation, treeId, {
    hasEnded: invocation.prompt !== undefined,
    elsewhere: { workspace: origin.workspace, dataDir },
  })
  throw new TroupeError('usage', `Session ${treeId} belongs to the folder ${origin.workspace}, but you are in ${workspace}.`, {
    remedy: isThere
      ? `Resume it there: ${there}`
      : `That folder no longer exists: restore it, or drop the session: troupe approvals drop ${treeId}${dataDirFlag(dataDir)}`,
  })
}

/** If `resumedRun` could not read the session, its `--deny` patterns are missing in the rules. */
function requireSameDenials(first: InteractionEvent | undefined, { invocation }: StartOptions): void {
  const flags = originIn(first)?.flags ?? []
  const missing = missingDenials(flags, invocation)
  if (!first || missing.length === 0) return
  const stricter = resumeCommand({ ...invocation, deny: [...missing, ...invocation.deny] }, first.treeId)
  throw new TroupeError('usage', `The session ${first.treeId} was started with more --deny patterns: ${missing.join(', ')}.`, {
    remedy: `Repeat them: ${stricter}`,
  })
}

const hasEnded = ({ status }: TreeEntry): boolean => status !== 'suspended' && status !== 'running'
