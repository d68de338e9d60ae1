import { addSpent, type Cost, noUsage, type TurnOperation, type Usage } from '../../../contracts/index.ts'
import { plural } from '../../../util/plural.ts'
import { price, tokens } from '../../../view/index.ts'

/** Totals of a session with its descendants, over all turns. */
export interface SessionTotals {
  readonly turns: number
  readonly steps: number
  readonly calls: number
  readonly usage: Usage
  readonly cost: Cost
  /** From start to end of each turn. */
  readonly durationMs: number
  /** The part of it that was no work. */
  readonly waitedMs: number
}

interface Spent {
  readonly usage: Usage
  readonly cost: Cost
}

/** `spent`: what each turn reported, including requests outside of steps. */
export function sessionTotals(turns: readonly TurnOperation[], spent: readonly Spent[]): SessionTotals {
  const { usage, cost } = spent.reduce<Spent>((sum, each) => addSpent(sum, each.usage, each.cost), { usage: noUsage, cost: 0 })
  const steps = turns.reduce((sum, turn) => sum + stepsIn(turn), 0)
  const calls = turns.reduce((sum, turn) => sum + callsIn(turn), 0)
  const durationMs = turns.reduce((sum, turn) => sum + turn.durationMs, 0)
  const waitedMs = turns.reduce((sum, turn) => sum + turn.waitedMs, 0)
  return { turns: turns.length, steps, calls, usage, cost, durationMs, waitedMs }
}

const stepsIn = (turn: TurnOperation): number => turn.steps.length + childrenOf(turn).reduce((sum, child) => sum + stepsIn(child), 0)

const callsIn = (turn: TurnOperation): number =>
  turn.steps.reduce((sum, { calls }) => sum + calls.length, 0) + childrenOf(turn).reduce((sum, child) => sum + callsIn(child), 0)

const childrenOf = ({ steps }: TurnOperation): readonly TurnOperation[] =>
  steps.flatMap(({ calls }) => calls.flatMap(({ child }) => child ?? []))

/** `2 turns · 5 steps · 3 calls · 120 → 46 tokens · $0.42`. */
export function totalsText({ turns, steps, calls, usage, cost }: SessionTotals): string {
  const counts = [plural(turns, 'turn'), plural(steps, 'step'), plural(calls, 'call')]
  return [...counts, `${tokens(usage)} tokens`, price(cost)].filter(Boolean).join(' · ')
}
