import { resolve } from 'node:path'
import type { Outcome, RunOrigin, Store, TreeId } from '../../../contracts/index.ts'
import { dataDirFlag, dataDirOf, isAlarming, openRuntime, realPath, sentenceOf } from '../../../project/index.ts'
import type { RunHandle } from '../../../runtime/index.ts'
import { redactor } from '../../../util/redact.ts'
import type { RunInvocation } from '../../arguments/parse-arguments.ts'
import { progressFor } from '../../progress/display.ts'
import type { Interruption } from '../../terminal/interruption.ts'
import { type PrintTarget, printNotice, printWarning, withColour } from '../../terminal/print-messages.ts'
import type { Host } from '../../terminal/process-host.ts'
import { strictError } from '../../terminal/strict-error.ts'
import { chooseApprover } from '../asking/terminal-approver.ts'
import { type NextSteps, nextSteps, type Suspended } from '../sessions/next-commands.ts'
import { dryRun } from './dry-run.ts'
import { followRun } from './follow-run.ts'
import { type PreparedRun, prepareRun } from './prepare-run.ts'
import { reportRun } from './report-run.ts'
import { resumeCommand, runFlags } from './resume-command.ts'
import { startRun } from './start-run.ts'

/** `troupe run`: checks everything before anything is started. */
export async function runCommand(requested: RunInvocation, given: Host, interruption: Interruption): Promise<number> {
  const { display, output } = requested
  const host = withColour(given, display)
  const prepared = await interruption.before(prepareRun(requested, host))
  const { invocation } = prepared
  await printStartMessages(prepared, { host, display })
  if (invocation.isStrict) refuseWarnings(prepared)
  if (invocation.dryRun) return dryRun(prepared, invocation, host)

  const progress = progressFor(host.window, display)
  const { project, prompt, agent, changes } = prepared
  const { workspace, folder } = project
  const store = await interruption.before(project.openStore())
  const approver = chooseApprover(host, project.onUnavailable)
  const opened = openRuntime(project, { store, approver, origin: originOf(prepared), clock: host })
  const { runtime } = opened
  const dataDir = dataDirOf(folder, host.env)
  const started = await interruption.before(
    startRun(runtime, store, { invocation, prompt, workspace, folder, dataDir, changes, agent: agent.name }),
  )
  const { handle, past } = started
  for (const notice of prepared.changed) await printNotice(notice, { host, display })
  if (display.detail === 'verbose') await introduce(handle, prepared, { host, display })
  const release = (): Promise<void> => runtime.close()
  const followed = await followRun(handle, { host, progress, output, interruption, release, approver, past })
  const { sessionId } = handle
  const resume = resumeCommand(invocation, sessionId)
  const ways = await nextStepsFor(followed.outcome, { store, treeId: sessionId, resume, dataDir })
  const { request } = interruption
  const code = await reportRun(followed, {
    host,
    display,
    output,
    progress,
    request,
    before: project.diagnostics,
    ...(invocation.isStrict && { isStrict: true }),
    ...(ways && { nextSteps: ways }),
  })
  const further = (await afterStoreFailure(followed.outcome, invocation, store)) ?? afterInterrupt(followed.outcome, invocation, sessionId)
  if (further !== undefined) await printNotice(`Continue: ${further}`, { host, display })
  // A run that ignored its interrupt would block closing. The next process finds that its owner is gone.
  if (followed.outcome) await opened.close()
  for (const problem of opened.webhooks?.problems ?? []) await printWarning(problem, { host, display })
  if (followed.outcome) await project.close()
  return code
}

/** What the user can do about a suspended run. */
async function nextStepsFor(outcome: Outcome | undefined, { store, ...run }: OpenRun): Promise<NextSteps | undefined> {
  if (outcome?.status !== 'suspended') return undefined
  if (outcome.reason === 'released') return { remedy: 'Continue it:', commands: [run.resume] }
  if (outcome.reason === 'client') return clientSteps(run)
  return outcome.reason === 'input' ? inputSteps(run) : nextSteps(store, run)
}

/** No command sends input to a child. */
const inputSteps = ({ treeId, dataDir }: Suspended): NextSteps => ({
  remedy: 'A program can send it: sessions.send(id, input, { to }). To end the session instead:',
  commands: [`troupe approvals drop ${treeId}${dataDirFlag(dataDir)}`],
})

/** Only the client has its tools. */
const clientSteps = ({ treeId, dataDir }: Suspended): NextSteps => ({
  remedy: 'Its client sends the results to a server: troupe serve. To end the session instead:',
  commands: [`troupe approvals drop ${treeId}${dataDirFlag(dataDir)}`],
})

interface OpenRun extends Suspended {
  readonly store: Store
}

async function printStartMessages({ notices, project: { diagnostics }, warnings }: PreparedRun, audience: PrintTarget): Promise<void> {
  for (const notice of notices) await printNotice(notice, audience)
  for (const each of diagnostics) await (isAlarming(each) ? printWarning : printNotice)(sentenceOf(each), audience)
  for (const warning of warnings) await printWarning(warning, audience)
}

/** @throws TroupeError for `--strict`, if there are warnings. */
function refuseWarnings({ project, warnings }: PreparedRun): void {
  const found = [...project.diagnostics, ...project.warnings, ...warnings.map((message) => ({ place: 'troupe run', message }))]
  if (found.length > 0) throw strictError(found)
}

/** The data that a later resume needs. It is stored, so secrets are redacted. */
function originOf({ project: { adapter }, invocation }: PreparedRun): Omit<RunOrigin, 'workspace'> {
  const { configFile } = invocation
  const flags = runFlags({ ...invocation, ...(configFile !== undefined && { configFile: resolve(configFile) }) })
  const { text } = redactor(adapter.secrets ?? {})
  return {
    agentFile: realPath(invocation.file),
    ...(flags.length > 0 && { flags: flags.map(({ name, value }) => ({ name, value: text(value) })) }),
  }
}

/** The resume command after an interrupt. The turn has ended, unless the run did not stop in time. */
function afterInterrupt(outcome: Outcome | undefined, invocation: RunInvocation, sessionId: string): string | undefined {
  if (!outcome) return resumeCommand(invocation, sessionId)
  return outcome.reason === 'interrupted' ? resumeCommand(invocation, sessionId, { hasEnded: true }) : undefined
}

/** The resume command after a store failure, if the session is in the store. */
async function afterStoreFailure(outcome: Outcome | undefined, invocation: RunInvocation, { trees }: Store): Promise<string | undefined> {
  if (outcome?.code !== 'store_failed') return undefined
  const entry = await Promise.resolve(trees.get(outcome.sessionId as string as TreeId)).catch(() => undefined)
  return entry && resumeCommand(invocation, outcome.sessionId)
}

async function introduce({ sessionId }: RunHandle, { agent, project: { folder } }: PreparedRun, audience: PrintTarget): Promise<void> {
  await printNotice(`session ${sessionId}`, audience)
  await printNotice(`models ${agent.models.join(', ')}`, audience)
  await printNotice(`journal in ${folder}`, audience)
}
