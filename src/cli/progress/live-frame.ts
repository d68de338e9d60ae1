import { type AgentNode, isRunning, type RunTree } from '../../view/index.ts'
import type { Paint } from '../terminal/paint.ts'
import { collapseRows } from './tree/collapse-rows.ts'
import { linesOf } from './tree/layout.ts'
import type { Moment, RowNode } from './tree/tree-row.ts'
import { turnRow } from './tree/turn-rows.ts'

interface View {
  readonly width: number
  readonly height: number
  /** Wall time. */
  readonly now: number
  readonly paint: Paint
  /** The streamed text of the root agent is shown elsewhere. */
  readonly hidesText?: boolean
}

/** The current state of a run: at most one row less than the terminal has, and no line as wide as the terminal. */
export function liveFrame(tree: RunTree, { width, height, now, paint, hidesText = false }: View): readonly string[] {
  const maxLines = Math.max(0, height - 1)
  const moment: Moment = { kind: 'live', now }
  const lines = tree.roots
    .flatMap((agent) => lastTurn(hidesText ? withoutText(agent) : agent, moment))
    .flatMap((branch) => linesOf(collapseRows(branch, maxLines), { paint, width: Math.max(0, width - 1) }))
  if (lines.length <= maxLines) return lines
  // The first line has the state; the last lines show what happens now.
  return [...lines.slice(0, Math.min(1, maxLines)), ...(maxLines > 1 ? lines.slice(1 - maxLines) : [])]
}

function lastTurn(agent: AgentNode, moment: Moment): readonly RowNode[] {
  const turn = agent.turns.at(-1)
  return turn ? [turnRow(agent, turn, moment)] : []
}

function withoutText(agent: AgentNode): AgentNode {
  const turn = agent.turns.at(-1)
  const step = turn?.steps.at(-1)
  if (!turn || step?.streamed?.kind !== 'text') return agent
  const { streamed: _, ...silent } = step
  return { ...agent, turns: [{ ...turn, steps: [...turn.steps.slice(0, -1), silent] }] }
}

/** Whether the frame changes over time without events. */
export const isAnimated = (tree: RunTree): boolean => tree.roots.some(({ turns }) => turns.slice(-1).some(isRunning))
