import type { ModelFailureClass } from '../contracts/index.ts'

/** No wait is longer, whatever a server asks for; it also bounds what a wall clock that was set back can cost. */
export const maxDelayMs = 60_000

interface FailurePolicy {
  /** Ask the same model again, leave it out for the turn, or ask nobody any more. */
  readonly next: 'retry' | 'drop' | 'end'
  /** Whether it uses up one of the further attempts that a step has. */
  readonly counts: boolean
  /** Whether the provider may have worked, and be paid, for a reply of which nothing arrived. */
  readonly billed: boolean
}

/** What follows from each way in which an attempt can fail. */
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
