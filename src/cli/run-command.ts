import { type Store, TroupeError } from '../contracts/index.ts'
import { type AgentRuntime, createAgentRuntime, type RunHandle, systemClock } from '../runtime/index.ts'
import { approverFor } from './approvals/approver-for.ts'
import { grantPlaceOf, projectGrants } from './approvals/project-grants.ts'
import { dryRun } from './dry-run.ts'
import { followRun } from './follow-run.ts'
import type { Host } from './host.ts'
import type { Interruption } from './interruption.ts'
import type { RunInvocation } from './parse-arguments.ts'
import { type PreparedRun, prepareRun, teamConfig } from './prepare-run.ts'
import { progressFor } from './progress/progress.ts'
import { reportRun } from './report-run.ts'
import { resumeCommand } from './resume-command.ts'
import { startRun } from './start-run.ts'
import { type Audience, tellNotice, tellWarning, withColour } from './tell.ts'

/** `troupe run`: everything is checked before anything is started. */
export async function runCommand(invocation: RunInvocation, given: Host, interruption: Interruption): Promise<number> {
  const { wishes, output } = invocation
  const host = withColour(given, wishes)
  const prepared = await interruption.before(prepareRun(invocation, host))
  for (const notice of prepared.notices) await tellNotice(notice, { host, wishes })
  for (const warning of prepared.warnings) await tellWarning(warning, { host, wishes })
  if (invocation.dryRun) return dryRun(prepared, invocation, host)

  const progress = progressFor(host.window, wishes)
  const store = await interruption.before(openStore(prepared.folder))
  const approver = approverFor(host, prepared.whenNobodyIsThere)
  const runtime = createAgentRuntime({
    config: teamConfig(prepared),
    adapter: prepared.adapter,
    store,
    clock: systemClock,
    approver,
    grants: projectGrants(grantPlaceOf(host), prepared.project, host.now),
    ...(prepared.sandbox && { sandbox: prepared.sandbox }),
    hooks: prepared.hooks,
  })
  const { handle, past } = await interruption.before(startRun(runtime, store, { ...invocation, ...prepared, agent: prepared.agent.name }))
  if (wishes.detail === 'verbose') await introduce(handle, prepared, { host, wishes })
  // Who reads events and leaves has seen enough.
  if (output === 'stream-json') host.stdout.onEnd(() => void handle.interrupt().catch(() => {}))
  const followed = await followRun(handle, { host, progress, output, interruption, approver, past })
  const code = await reportRun(followed, { host, wishes, output, progress, resume: resumeCommand(invocation, handle.treeId) })
  // A run that did not heed its interrupt would keep these from closing, too; whoever comes next finds its owner gone.
  if (followed.outcome) await close(runtime, store)
  return code
}

async function introduce({ treeId }: RunHandle, { agent, folder }: PreparedRun, audience: Audience): Promise<void> {
  await tellNotice(`run ${treeId}`, audience)
  await tellNotice(`models ${agent.models.join(', ')}`, audience)
  await tellNotice(`journal in ${folder}`, audience)
}

async function close(runtime: AgentRuntime, store: Store): Promise<void> {
  await runtime.close()
  await store.close()
}

/** A data folder that cannot be used is a matter of how the command was called. */
async function openStore(path: string): Promise<Store> {
  const { sqliteStore } = await import('../stores/sqlite/index.ts')
  try {
    return sqliteStore({ path })
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error
    throw new TroupeError('config_invalid', error.message, { remedy: error.remedy ?? 'Name another folder with --data-dir.', cause: error })
  }
}
