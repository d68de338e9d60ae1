import { type ModelUsage, noUsage, roundUsd, type TurnRecord, type Usage } from '../../contracts/index.ts'

/** What one turn used of one model. A turn without a request has one row, without a model. */
export interface UsageRow extends Omit<ModelUsage, 'costUsd'> {
  /** Nano-dollars. */
  readonly nanos: number
}

const noRequest: ModelUsage = { model: '', requests: 0, failed: 0, usage: noUsage, costUsd: 0, unpriced: 0, latencyMs: 0 }

/** None for a copied turn. */
export function usageRows({ models }: TurnRecord): readonly UsageRow[] {
  if (models === undefined) return []
  return (models.length === 0 ? [noRequest] : models).map(({ costUsd, ...rest }) => ({
    model: rest.model,
    requests: whole(rest.requests),
    failed: whole(rest.failed),
    usage: wholeUsage(rest.usage),
    nanos: whole(roundUsd(costUsd) * 1e9),
    unpriced: whole(rest.unpriced),
    latencyMs: whole(rest.latencyMs),
  }))
}

/** Figures of a provider must not keep a turn from being stored. */
export const whole = (amount: number): number => (amount > 0 ? Math.min(Math.round(amount), Number.MAX_SAFE_INTEGER) : 0)

function wholeUsage({ input, output, cacheRead, cacheWrite, reasoning, estimated }: Usage): Usage {
  const tokens = {
    input: whole(input),
    output: whole(output),
    cacheRead: whole(cacheRead),
    cacheWrite: whole(cacheWrite),
    reasoning: whole(reasoning),
  }
  return estimated ? { ...tokens, estimated } : tokens
}
