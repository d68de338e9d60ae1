import type { InteractionEvent } from '../../../contracts/index.ts'
import { plural } from '../../../util/plural.ts'
import { type AgentNode, runTree, type TurnNode } from '../../../view/index.ts'
import type { Paint } from '../../terminal/paint.ts'
import { collapseRows } from './collapse-rows.ts'
import { linesOf } from './layout.ts'
import type { Moment } from './tree-row.ts'
import { turnRow } from './turn-rows.ts'

interface TreeStyle {
  readonly paint: Paint
  /** Columns of the terminal. */
  readonly width: number
  /** Number of events from before the run was resumed. */
  readonly past?: number
}

export const minWidthForBars = 90

/** The journal has everything. */
export const maxTreeLines = 1000

/** Draws turns, steps and calls with status, latency, tokens, and when each ran. */
export function renderTree(events: readonly InteractionEvent[], { past = 0, ...style }: TreeStyle): readonly string[] {
  return runTree(events, past).roots.flatMap((agent) => agent.turns.flatMap((turn) => renderTurn(agent, turn, style)))
}

interface TurnStyle extends Pick<TreeStyle, 'paint' | 'width'> {
  /** Default: `final`. */
  readonly moment?: Moment
  readonly maxLines?: number
}

export function renderTurn(agent: AgentNode, turn: TurnNode, style: TurnStyle): readonly string[] {
  const { paint, width, moment = { kind: 'final' }, maxLines = maxTreeLines } = style
  // Bars of a running turn would grow with every frame.
  const bars = width >= minWidthForBars && moment.kind === 'final' ? { whole: turn.span } : {}
  // Some terminals wrap a line that fills the last column.
  const lines = linesOf(collapseRows(turnRow(agent, turn, moment), maxLines), { paint, width: width - 1, ...bars })
  if (lines.length <= maxLines) return lines
  // Running branches are not collapsed. The first line has the state; the last lines show what happened last.
  const kept = lines.slice(2 - maxLines)
  return [...lines.slice(0, 1), paint('dim', `⋯ ${plural(lines.length - 1 - kept.length, 'line')}`), ...kept]
}
