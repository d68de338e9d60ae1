import { type AgentNode, isGoingOn, type RunTree } from '../../view/index.ts'
import type { Paint } from '../terminal/paint.ts'
import { collapseRows } from '../tree/collapse-rows.ts'
import { linesOf } from '../tree/layout.ts'
import type { Moment, RowNode } from '../tree/tree-row.ts'
import { turnRow } from '../tree/turn-rows.ts'

interface View {
  /** Columns and rows of the window. */
  readonly width: number
  readonly height: number
  /** Wall time. */
  readonly now: number
  readonly paint: Paint
  /** What the root agent is saying is shown elsewhere. */
  readonly hidesText?: boolean
}

/** A run as it stands at this moment: at most one row less than the window has, and no line as wide as the window. */
export function liveFrame(tree: RunTree, { width, height, now, paint, hidesText = false }: View): readonly string[] {
  const most = Math.max(0, height - 1)
  const moment: Moment = { kind: 'live', now }
  const lines = tree.roots
    .flatMap((agent) => lastTurn(hidesText ? withoutText(agent) : agent, moment))
    .flatMap((branch) => linesOf(collapseRows(branch, most), { paint, width: Math.max(0, width - 1) }))
  if (lines.length <= most) return lines
  // The head says how it stands; below it, what happens now is at the end.
  return [...lines.slice(0, Math.min(1, most)), ...(most > 1 ? lines.slice(1 - most) : [])]
}

function lastTurn(agent: AgentNode, moment: Moment): readonly RowNode[] {
  const turn = agent.turns.at(-1)
  return turn ? [turnRow(agent, turn, moment)] : []
}

/** The agent without what it is saying at present. */
function withoutText(agent: AgentNode): AgentNode {
  const turn = agent.turns.at(-1)
  const step = turn?.steps.at(-1)
  if (!turn || step?.streamed?.kind !== 'text') return agent
  const { streamed: _, ...silent } = step
  return { ...agent, turns: [{ ...turn, steps: [...turn.steps.slice(0, -1), silent] }] }
}

/** Whether the picture changes by time alone. */
export const isAnimated = (tree: RunTree): boolean => tree.roots.some(({ turns }) => turns.slice(-1).some(isGoingOn))
