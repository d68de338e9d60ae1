import type { ModelFailureClass } from '../contracts/index.ts'

/** Longest wait before a retry, whatever a server asks for. Also the maximum loss if the wall clock is set back. */
export const maxDelayMs = 60_000

interface FailurePolicy {
  /** Ask again, drop the model for this turn, or stop. */
  readonly next: 'retry' | 'drop' | 'end'
  /** Whether it uses up one of the retries of a step. */
  readonly usesRetry: boolean
  /** Whether the provider may charge for a reply of which nothing arrived. */
  readonly billed: boolean
}

export const failurePolicy: { readonly [Class in ModelFailureClass]: FailurePolicy } = {
  rate_limit: { next: 'retry', usesRetry: true, billed: false },
  auth: { next: 'drop', usesRetry: false, billed: false },
  quota: { next: 'drop', usesRetry: false, billed: false },
  config: { next: 'drop', usesRetry: false, billed: false },
  context: { next: 'retry', usesRetry: false, billed: false },
  network: { next: 'retry', usesRetry: true, billed: true },
  timeout: { next: 'retry', usesRetry: true, billed: true },
  invalid_response: { next: 'retry', usesRetry: true, billed: true },
  model: { next: 'retry', usesRetry: true, billed: true },
  budget: { next: 'retry', usesRetry: false, billed: true },
  lost: { next: 'retry', usesRetry: false, billed: true },
  cancelled: { next: 'end', usesRetry: true, billed: true },
}
