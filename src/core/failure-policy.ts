import type { ModelFailureClass } from '../contracts/index.ts'

/** Longest wait before a retry, whatever a server asks for. Also the maximum loss if the wall clock is set back. */
export const maxDelayMs = 60_000

interface FailurePolicy {
  /** Ask again, drop the model for this turn, or stop. */
  readonly next: 'retry' | 'drop' | 'end'
  /** Whether it uses up one of the retries of a step. */
  readonly counts: boolean
  /** Whether the provider may charge for a reply of which nothing arrived. */
  readonly billed: boolean
}

export const failurePolicy: { readonly [Class in ModelFailureClass]: FailurePolicy } = {
  rate_limit: { next: 'retry', counts: true, billed: false },
  auth: { next: 'drop', counts: false, billed: false },
  quota: { next: 'drop', counts: false, billed: false },
  config: { next: 'drop', counts: false, billed: false },
  context: { next: 'retry', counts: false, billed: false },
  network: { next: 'retry', counts: true, billed: true },
  timeout: { next: 'retry', counts: true, billed: true },
  invalid_response: { next: 'retry', counts: true, billed: true },
  model: { next: 'retry', counts: true, billed: true },
  budget: { next: 'retry', counts: false, billed: true },
  lost: { next: 'retry', counts: false, billed: true },
  cancelled: { next: 'end', counts: true, billed: true },
}
