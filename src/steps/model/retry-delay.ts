import type { ModelFailure } from '../../contracts/index.ts'
import { failurePolicy, maxDelayMs } from '../../core/index.ts'

/** 200 ms · 2ⁿ ± 10 %; what the server asks for wins, up to a minute. Nothing where the model is not asked again. */
export function retryDelay(attempt: number, failure: ModelFailure, fraction: number): number {
  const { next, counts } = failurePolicy[failure.class]
  if (next !== 'retry' || !counts) return 0
  if (failure.retryAfterMs !== undefined) return Math.min(maxDelayMs, Math.max(0, failure.retryAfterMs))
  return Math.round(Math.min(maxDelayMs, 200 * 2 ** (attempt - 1)) * (0.9 + 0.2 * fraction))
}
