import type { UsageGrouping, UsageTotals } from '../../contracts/index.ts'
import { duration, grouped, price } from '../../view/index.ts'

// What the usage page compares.

/** An amount that the plot shows. */
export interface Amount {
  readonly name: string
  of(totals: UsageTotals): number
  text(value: number): string
  /** At the axis, whose values are round. */
  round?(value: number): string
}

export const amounts = {
  cost: {
    name: 'Cost',
    of: ({ costUsd }) => costUsd,
    text: (value) => price(value) || '$0',
    round: (value) => `$${Number(value.toPrecision(3))}`,
  },
  tokens: { name: 'Tokens', of: ({ usage }) => usage.input + usage.output, text: grouped },
  failures: { name: 'Failures', of: ({ failedTurns }) => failedTurns, text: grouped },
  p95: { name: 'p95', of: ({ p95Ms }) => p95Ms, text: duration },
} as const satisfies { readonly [Name: string]: Amount }

export type AmountName = keyof typeof amounts

/** Failures by model are those of requests: a turn may have asked several. */
const failuresByModel: Amount = { ...amounts.failures, of: ({ failedRequests }) => failedRequests }

export const amountOf = (name: AmountName, by: UsageGrouping): Amount =>
  name === 'failures' && by === 'model' ? failuresByModel : amounts[name]

/** Without any price, tokens say more. */
export const firstAmount = ({ costUsd }: UsageTotals): AmountName => (costUsd > 0 ? 'cost' : 'tokens')

/** A round number that is not below any value: the end of the axis. */
export function axisEnd(values: readonly number[]): number {
  const most = Math.max(0, ...values)
  if (most === 0) return 1
  const power = 10 ** Math.floor(Math.log10(most))
  const step = [1, 2, 2.5, 5, 10].find((each) => each * power >= most * 0.999_999) ?? 10
  return step * power
}
