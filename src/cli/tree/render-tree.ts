import type { InteractionEvent } from '../../contracts/index.ts'
import type { Paint } from '../paint.ts'
import { folded } from './fold.ts'
import { linesOf } from './layout.ts'
import { runTree } from './run-tree.ts'
import { turnBranch } from './turn-branch.ts'

interface TreeStyle {
  readonly paint: Paint
  /** Columns of the terminal. */
  readonly width: number
  /** As many of the events had happened before this run was taken up. */
  readonly past?: number
}

/** Below this a terminal is too narrow for bars. */
export const leastForBars = 90

/** Nobody reads on behind this many lines; the journal has it all. */
const mostLines = 1000

/** Draws what happened: turn → step → call, with status, latency, tokens, and when each ran. */
export function renderTree(events: readonly InteractionEvent[], { paint, width, past = 0 }: TreeStyle): readonly string[] {
  return runTree(events, past).roots.flatMap((agent) =>
    agent.turns.flatMap((turn) => {
      const bars = width >= leastForBars ? { whole: turn.span } : {}
      // The last column stays free: some terminals break a line that fills it.
      return linesOf(folded(turnBranch(agent, turn, { kind: 'final' }), mostLines), { paint, width: width - 1, ...bars })
    }),
  )
}
