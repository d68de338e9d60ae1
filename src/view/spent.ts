import { addSpent, noUsage, type Spent } from '../contracts/index.ts'
import { type AttemptNode, childrenOf, type StepNode, type TurnNode } from './nodes.ts'

export const spentByAttempts = (attempts: readonly Pick<AttemptNode, 'usage' | 'cost'>[]): Spent =>
  attempts.reduce<Spent>((sum, { usage = noUsage, cost = 0 }) => addSpent(sum, usage, cost), { usage: noUsage, cost: 0 })

/** Sums of steps that have ended: most of a long run does not change. */
const settled = new WeakMap<StepNode, Spent>()

/** Tokens and cost with all children. A turn that has ended knows them. */
export function spentByTurns(turns: readonly TurnNode[]): Spent {
  let sum: Spent = { usage: noUsage, cost: 0 }
  for (const turn of turns) {
    if (turn.totals) sum = addSpent(sum, turn.totals.usage, turn.totals.cost)
    else
      for (const step of turn.steps) {
        const { usage, cost } = settled.get(step) ?? spentInStep(step, step === turn.steps.at(-1))
        sum = addSpent(sum, usage, cost)
      }
  }
  return sum
}

function spentInStep(step: StepNode, isLast: boolean): Spent {
  const own = spentByAttempts(step.attempts)
  const below = spentByTurns(step.calls.flatMap(childrenOf).flatMap(({ turns }) => turns))
  const spent = addSpent(own, below.usage, below.cost)
  if (!isLast && step.calls.every(({ latencyMs, isSpawned }) => latencyMs !== undefined && !isSpawned)) settled.set(step, spent)
  return spent
}
