import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Outcome } from '../contracts/index.ts'
import { createAgentRuntime, systemClock } from '../runtime/index.ts'
import { demoTools } from './demo-tools.ts'
import { exitCodeOf, exitCodes } from './exit-codes.ts'
import { followRun } from './follow-run.ts'
import type { Host } from './host.ts'
import { loadAgent } from './load-agent.ts'
import { errorLines } from './print-errors.ts'
import { renderTree } from './render-tree.ts'

const prompt = 'A weekend in Oslo by train from Gothenburg, not too expensive'
/** Four steps with tools, then the answer is forced. */
const maxToolTurns = 5

/** `troupe demo`: parallel tools, a failing one, and an answer forced by the step limit; in memory, without a network. */
export async function demoCommand(host: Host): Promise<number> {
  const { paint, stderr } = host
  const file = fileURLToPath(new URL('../../demo/trip.ai', import.meta.url))
  const { agent, adapter } = await loadAgent(file, systemClock)
  const tools = demoTools(systemClock)
  const runtime = createAgentRuntime({
    config: { agents: [{ ...agent, tools: tools.map(({ name }) => name), limits: { maxToolTurns } }], tools },
    adapter,
    clock: systemClock,
  })
  await stderr.lines([
    `${paint('bold', 'troupe demo')}  ${shownPath(file)}`,
    `${paint('cyan', '›')} ${prompt}`,
    paint('dim', 'The model is a script, no LLM, and the tools are made up: no key, no network, nothing stored.'),
    '',
  ])
  const { events, outcome } = await followRun(runtime.stream(prompt), { host, isQuiet: false })
  if (!outcome) return exitCodes.interrupted.code
  await stderr.lines(['', ...renderTree(events, host), '', ...legend(host), ''])
  const isAsPlanned = outcome.status === 'partial' && outcome.reason === 'steps'
  if (isAsPlanned) await host.stdout.line(outcome.report?.text ?? '')
  else await stderr.lines(errorLines(unplanned(outcome), paint))
  await runtime.close()
  return isAsPlanned ? exitCodes.done.code : exitCodeOf(outcome) || exitCodes.failed.code
}

function legend({ paint }: Host): readonly string[] {
  return [paint('dim', '∥ ran side by side · bars: when each step and call ran · tokens: in → out')]
}

function unplanned({ message, status, remedy }: Outcome) {
  return { message: message ?? `The demonstration ended as ${status}.`, remedy, problems: [] }
}

function shownPath(file: string): string {
  const path = relative('', file)
  return path.startsWith('..') ? file : path
}
