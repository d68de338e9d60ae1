import type { InteractionEvent } from '../../contracts/index.ts'
import { type AgentNode, runTree, type TurnNode } from '../../view/index.ts'
import { plural } from '../terminal/format-numbers.ts'
import type { Paint } from '../terminal/paint.ts'
import { collapseRows } from './collapse-rows.ts'
import { linesOf } from './layout.ts'
import type { Moment } from './tree-row.ts'
import { turnRow } from './turn-rows.ts'

interface TreeStyle {
  readonly paint: Paint
  /** Columns of the terminal. */
  readonly width: number
  /** As many of the events had happened before this run was taken up. */
  readonly past?: number
}

/** Below this a terminal is too narrow for bars. */
export const minWidthForBars = 90

/** Nobody reads on behind this many lines; the journal has it all. */
export const maxTreeLines = 1000

/** Draws what happened: turn → step → call, with status, latency, tokens, and when each ran. */
export function renderTree(events: readonly InteractionEvent[], { past = 0, ...style }: TreeStyle): readonly string[] {
  return runTree(events, past).roots.flatMap((agent) => agent.turns.flatMap((turn) => renderTurn(agent, turn, style)))
}

export interface TurnStyle extends Pick<TreeStyle, 'paint' | 'width'> {
  /** Default: nobody drives it any more, or its end is known. */
  readonly moment?: Moment
  /** Lines, at the most. */
  readonly most?: number
}

/** One turn of it. */
export function renderTurn(agent: AgentNode, turn: TurnNode, style: TurnStyle): readonly string[] {
  const { paint, width, moment = { kind: 'final' }, most = maxTreeLines } = style
  // While it goes on, a bar would have to grow with every look.
  const bars = width >= minWidthForBars && moment.kind === 'final' ? { whole: turn.span } : {}
  // The last column stays free: some terminals break a line that fills it.
  const lines = linesOf(collapseRows(turnRow(agent, turn, moment), most), { paint, width: width - 1, ...bars })
  if (lines.length <= most) return lines
  // What has not ended is not folded. The head says how it stands; below it, what happened last is at the end.
  const kept = lines.slice(2 - most)
  return [...lines.slice(0, 1), paint('dim', `⋯ ${plural(lines.length - 1 - kept.length, 'line')}`), ...kept]
}
