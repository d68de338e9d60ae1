import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Clock, type InteractionEvent, type Outcome, TroupeError } from '../../../contracts/index.ts'
import { loadProject, type Project, type ProjectPlace } from '../../../project/index.ts'
import { createAgentRuntime, systemClock } from '../../../runtime/index.ts'
import { messageOf } from '../../../util/message-of.ts'
import { runSummary, totalLine } from '../../../view/index.ts'
import type { DemoInvocation } from '../../arguments/parse-arguments.ts'
import { progressFor, showsTree } from '../../progress/display.ts'
import { minWidthForBars } from '../../progress/tree/render-tree.ts'
import { exitCodeOf, exitCodes } from '../../terminal/exit-codes.ts'
import type { Interruption } from '../../terminal/interruption.ts'
import { printError, withColour } from '../../terminal/print-messages.ts'
import type { Host } from '../../terminal/process-host.ts'
import { safeJson } from '../../terminal/safe-json.ts'
import { type RunApprover, TerminalApprover } from '../asking/terminal-approver.ts'
import { outcomeDocument } from '../output/run-documents.ts'
import { followRun } from '../run/follow-run.ts'
import { printAnswer, printTree, reportRun } from '../run/report-run.ts'
import { mayAsk } from '../trust/trust-question.ts'
import { recordedModels } from './recorded-models.ts'
import { demoAgents, demoShop, trustedModules } from './web-demo.ts'

const prompt = 'Fix the failing checkout test'

/**
 * `troupe demo`: a team fixes a failing test in a temporary folder. Answers are recorded; tools, edits, tests and the approval are real.
 * The journal is kept in memory.
 */
export async function demoCommand(invocation: DemoInvocation, given: Host, interruption: Interruption): Promise<number> {
  const host = withColour(given, invocation.display)
  const before = process.cwd()
  const workspace = temporaryFolder()
  try {
    // The tool module of the demonstration works in the folder of the process.
    process.chdir(workspace)
    return await fixTest(invocation, { host, interruption, workspace })
  } finally {
    process.chdir(before)
    rmSync(workspace, { recursive: true, force: true })
  }
}

/** @throws TroupeError `config_invalid` if there is none. */
function temporaryFolder(): string {
  try {
    return realpathSync(mkdtempSync(join(tmpdir(), 'troupe-demo-')))
  } catch (error) {
    throw new TroupeError('config_invalid', `The demo needs a temporary folder that it can write: ${messageOf(error)}`, {
      remedy: 'Set TMPDIR to a folder that you can write, or free some disk space.',
      cause: error,
    })
  }
}

interface Place {
  readonly host: Host
  readonly interruption: Interruption
  readonly workspace: string
}

async function fixTest(invocation: DemoInvocation, { host, interruption, workspace }: Place): Promise<number> {
  const { output, display } = invocation
  const progress = progressFor(host.window, display)
  const asks = mayAsk(host) && showsTree(progress)
  const agents = demoAgents()
  const project = await interruption.before(openTeam(agents, { cwd: workspace, env: host.env }))
  const approver = asks ? new TerminalApprover(host) : autoApprover
  const runtime = createAgentRuntime({
    config: { ...project.config, agentSelection: { agent: 'lead' } },
    adapter: recordedModels(project.adapter, { agents, workspace, shop: demoShop(), clock: asks ? systemClock : withoutPauses }),
    clock: systemClock,
    approver,
    hooks: project.hooks,
    ...(project.sandbox && { sandbox: project.sandbox }),
  })
  if (showsTree(progress)) await host.stderr.prose(introduction(host, asks))
  const followed = await followRun(runtime.stream(prompt), { host, progress, interruption, release: () => runtime.close(), approver })
  const { outcome } = followed
  if (!outcome) return reportRun(followed, { host, display, output, progress, request: interruption.request })
  await printTree(followed, { host, progress, legend: legend(host) })
  const isFixed = outcome.status === 'completed'
  const code = isFixed ? exitCodes.done.code : exitCodeOf(outcome, interruption.request) || exitCodes.failed.code
  if (!isFixed) await printError(unplanned(outcome), { host, display })
  if (output === 'json') await host.stdout.line(safeJson(outcomeDocument(outcome, { exitCode: code })))
  else if (isFixed) await printAnswer(outcome.report, host)
  const summary = runSummary(outcome)
  if (isFixed && summary && showsTree(progress)) {
    const waitedMs = Math.max(summary.waitedMs, askedMs(followed.events))
    await host.stderr.lines(['', host.paint('bold', totalLine({ ...summary, waitedMs })), nextLine(host)])
  }
  await runtime.close()
  return code
}

/** Works in the temporary folder. Nothing is stored there. */
async function openTeam(agents: string, place: ProjectPlace): Promise<Project> {
  const report = await loadProject({ ...place, agents: [agents], alsoTrusted: trustedModules(agents) })
  return report.open({ dataDir: join(place.cwd, 'sessions') })
}

/** Used without a terminal. The change is made in a temporary folder, so the approval is harmless. */
const autoApprover: RunApprover = {
  shows: 'nothing',
  decide: () => ({ decision: { kind: 'approve', breadth: 'once' }, by: 'the demonstration' }),
  attach: () => {},
  onEvent: () => {},
}

/** Without a person who watches, recorded answers arrive immediately. */
const withoutPauses: Clock = {
  now: () => systemClock.now(),
  monotonic: () => systemClock.monotonic(),
  after: (_ms, fire) => systemClock.after(0, fire),
}

function introduction({ paint }: Host, asks: boolean): readonly string[] {
  return [
    `${paint('bold', 'troupe demo')}  a team of agents that asks before it acts`,
    `${paint('cyan', '›')} ${prompt}`,
    paint('dim', 'Demo mode: recorded answers, no AI model. Files, tests and the edit are real, in a temporary folder.'),
    paint(
      'dim',
      asks ? 'You will be asked to approve the change.' : 'Without a terminal, the demo approves the change by itself and does not pause.',
    ),
    '',
  ]
}

/** How long requests were open. While its child asks, the root has other calls: it does not count that as waiting. */
function askedMs(events: readonly InteractionEvent[]): number {
  const since = new Map<string, number>()
  return events.reduce((sum, event) => {
    if (event.type === 'interaction.approval.requested') since.set(event.request.id, event.at)
    return event.type === 'interaction.approval.resolved' ? sum + event.at - (since.get(event.approvalId) ?? event.at) : sum
  }, 0)
}

const nextLine = ({ paint }: Host): string =>
  paint('dim', 'Next: npx troupe demo --web (in the browser), npx troupe init (agents of your own)')

function legend({ paint, width }: Host): string {
  const bars = width >= minWidthForBars ? 'bars: when each step and call ran · ' : ''
  return paint('dim', `∥ ran in parallel · ${bars}tokens: in → out`)
}

function unplanned({ message, status, remedy }: Outcome) {
  return { message: message ?? `The demo ended unexpectedly with the status ${status}.`, remedy, problems: [] }
}
