import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAgentFile } from '../../agents/index.ts'
import type { Outcome } from '../../contracts/index.ts'
import { createAgentRuntime, systemClock } from '../../runtime/index.ts'
import { type RunApprover, TerminalApprover } from '../approvals/terminal-approver.ts'
import { exitCodeOf, exitCodes } from '../host/exit-codes.ts'
import type { Host } from '../host/process-host.ts'
import { findModels, modelOptions } from '../models/find-models.ts'
import type { DemoInvocation } from '../options/parse-arguments.ts'
import { packageFile } from '../package-file.ts'
import { progressFor, showsTree } from '../progress/display.ts'
import { followRun } from '../run/follow-run.ts'
import type { Interruption } from '../run/interruption.ts'
import { printAnswer, printTree, reportRun } from '../run/report-run.ts'
import { outcomeDocument } from '../run/run-documents.ts'
import { printError, withColour } from '../terminal/print-messages.ts'
import { safeJson } from '../terminal/safe-json.ts'
import { minWidthForBars } from '../tree/render-tree.ts'
import { mayAsk } from '../trust/trust-question.ts'
import { demoTools } from './demo-tools.ts'

const prompt = 'A weekend in Oslo by train from Gothenburg, not too expensive'
/** Named here because the demo ignores the files of the working directory. */
const children = ['weather', 'trains']

/**
 * `troupe demo`: a parent with two concurrent children, an approval, a failing tool, and an answer forced by the step
 * limit. In memory and without a network.
 */
export async function demoCommand({ output, display }: DemoInvocation, given: Host, interruption: Interruption): Promise<number> {
  const host = withColour(given, display)
  const progress = progressFor(host.window, display)
  const file = demoFile('trip')
  const team = [file, ...children.map(demoFile)].map((each) => parseAgentFile(readFileSync(each), each))
  const { adapter } = await interruption.before(
    findModels(
      team.flatMap(({ models }) => models),
      modelOptions(file, host),
    ),
  )
  const tools = demoTools(systemClock)
  const asks = mayAsk(host) && showsTree(progress)
  const approver = asks ? new TerminalApprover(host) : autoApprover
  const agents = team.map((agent, index) => ({ ...agent, tools: ['*'], agents: index === 0 ? children : [] }))
  const runtime = createAgentRuntime({
    config: { agents, agentSelection: { agent: 'trip' }, tools },
    adapter,
    clock: systemClock,
    approver,
  })
  if (showsTree(progress)) await host.stderr.prose(introduction(file, host, asks))
  const followed = await followRun(runtime.stream(prompt), { host, progress, interruption, release: () => runtime.close(), approver })
  const { outcome } = followed
  if (!outcome) return reportRun(followed, { host, display, output, progress, request: interruption.request })
  await printTree(followed, { host, progress, legend: legend(host) })
  const isAsPlanned = outcome.status === 'partial' && outcome.reason === 'steps'
  const code = isAsPlanned ? exitCodes.done.code : exitCodeOf(outcome, interruption.request) || exitCodes.failed.code
  if (!isAsPlanned) await printError(unplanned(outcome), { host, display })
  if (output === 'json') await host.stdout.line(safeJson(outcomeDocument(outcome, { exitCode: code })))
  else if (isAsPlanned) await printAnswer(outcome.report, host)
  await runtime.close()
  return code
}

const demoFile = (name: string): string => fileURLToPath(packageFile(`demo/${name}.ai`))

/** Used without a terminal. The demo books nothing, so the approval is harmless. */
const autoApprover: RunApprover = {
  shows: 'nothing',
  decide: () => ({ decision: { kind: 'approve', breadth: 'once' }, by: 'the demonstration' }),
  attach: () => {},
  onEvent: () => {},
}

function introduction(file: string, { paint }: Host, asks: boolean): readonly string[] {
  const approval = asks ? 'You will be asked to approve a booking.' : 'Without a terminal, the demo approves the booking itself.'
  return [
    `${paint('bold', 'troupe demo')}  ${shownPath(file)}`,
    `${paint('cyan', '›')} ${prompt}`,
    paint('dim', 'The models are scripts and the tools are simulated: no LLM, no key, no network, nothing stored.'),
    paint('dim', approval),
    '',
  ]
}

function legend({ paint, width }: Host): string {
  const bars = width >= minWidthForBars ? 'bars: when each step and call ran · ' : ''
  return paint('dim', `∥ ran in parallel · ${bars}tokens: in → out`)
}

function unplanned({ message, status, remedy }: Outcome) {
  return { message: message ?? `The demo ended unexpectedly with the status ${status}.`, remedy, problems: [] }
}

function shownPath(file: string): string {
  const path = relative('', file)
  return path.startsWith('..') ? file : path
}
