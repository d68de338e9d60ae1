import type { ModelFailure } from '../../contracts/index.ts'
import { failurePolicy, maxDelayMs } from '../../core/index.ts'

/** Retry backoff: 200 ms · 2ⁿ ± 10 %. Retry-After of the server wins, up to a minute. 0 if there is no retry. */
export function retryDelay(attempt: number, failure: ModelFailure, fraction: number): number {
  const { next, usesRetry } = failurePolicy[failure.class]
  if (next !== 'retry' || !usesRetry) return 0
  if (failure.retryAfterMs !== undefined) return Math.min(maxDelayMs, Math.max(0, failure.retryAfterMs))
  return Math.round(Math.min(maxDelayMs, 200 * 2 ** (attempt - 1)) * (0.9 + 0.2 * fraction))
}
