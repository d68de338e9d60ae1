import { plural } from '../util/plural.ts'
import { elapsed, price, waitingTime } from './format-numbers.ts'
import type { AgentSummary } from './run-summary.ts'

/** A run in one line: `4 agents, 17 calls, $0.04, 9.1 s work, 4.0 s waiting for you`. `waitingFor`: what the rest of the time was. */
export function totalLine(summary: AgentSummary, waitingFor = 'waiting for you'): string {
  const all = [...everyAgent(summary)]
  const calls = all.reduce((sum, { tools, agents }) => sum + callsIn(tools) + callsIn(agents), 0)
  const waiting = waitingTime(summary.waitedMs)
  return [
    plural(new Set(all.map(({ agent }) => agent)).size, 'agent'),
    plural(calls, 'call'),
    price(summary.cost),
    `${elapsed(summary.latencyMs - summary.waitedMs)} work`,
    waiting && `${waiting} ${waitingFor}`,
  ]
    .filter((part) => part !== '')
    .join(', ')
}

function* everyAgent(summary: AgentSummary): Generator<AgentSummary> {
  yield summary
  for (const agent of summary.agents) yield* everyAgent(agent)
}

const callsIn = (those: readonly { readonly calls: number }[]): number => those.reduce((sum, { calls }) => sum + calls, 0)
