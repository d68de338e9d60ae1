import { oneLine } from '../util/one-line.ts'
import { plural } from '../util/plural.ts'
import { cutText } from '../util/well-formed.ts'
import { duration, workTime } from './format-numbers.ts'
import { type AgentNode, type CallNode, childrenOf, shownStatus, shownTurnStatus, type TurnNode } from './nodes.ts'
import { totalLine } from './total-line.ts'
import { treeSummary } from './tree-summary.ts'
import { callTimes } from './waiting.ts'

const mostLines = 200
const mostChars = 120

/** The last turn of an agent as text: its calls, and below them those of the agents that they started. `now`: for what has not ended. */
export function turnLines(agent: AgentNode, now: number): readonly string[] {
  const turn = agent.turns.at(-1)
  if (!turn) return []
  const calls = callLines(turn, now, '')
  const left = calls.length - mostLines
  return [
    `${agent.name}: ${shownTurnStatus(turn)}. ${totalLine(treeSummary({ ...agent, turns: [turn] }, now), 'waiting')}`,
    ...calls.slice(0, mostLines),
    ...(left > 0 ? [`… ${plural(left, 'more call')}`] : []),
  ]
}

const callLines = (turn: TurnNode, now: number, stem: string): readonly string[] => {
  const calls = turn.steps.flatMap((step) => step.calls)
  return calls.flatMap((call, index) => {
    const isLast = index === calls.length - 1
    const below = childrenOf(call).flatMap((child) => child.turns)
    const inner = below.flatMap((each) => callLines(each, now, `${stem}${isLast ? '   ' : '│  '}`))
    return [`${stem}${isLast ? '└─ ' : '├─ '}${callText(call, now)}`, ...inner]
  })
}

/** `shell npm test · failed after 3.2 s: exit code 1`. */
function callText(call: CallNode, now: number): string {
  const { name, about, error, latencyMs } = call
  const status = shownStatus(call)
  const time = latencyMs === undefined && status !== 'completed' ? '' : workTime(callTimes(call, now), duration)
  const what = [name, shortened(about)].filter((text) => text !== '').join(' ')
  const how = status === 'completed' ? time : [status, time].filter((text) => text !== '').join(' after ')
  return `${what} · ${how}${error ? `: ${shortened(error.message)}` : ''}`
}

function shortened(text: string): string {
  const line = oneLine(text)
  return line.length > mostChars ? `${cutText(line, mostChars)}…` : line
}
