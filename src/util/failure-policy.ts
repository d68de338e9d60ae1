import type { ModelFailureClass } from '../contracts/index.ts'

interface FailurePolicy {
  /** Ask the same model again, leave it out for the turn, or ask nobody any more. */
  readonly next: 'retry' | 'drop' | 'end'
  /** Whether the provider may have worked, and be paid, for a reply of which nothing arrived. */
  readonly billed: boolean
}

/** What follows from each way in which an attempt can fail. */
export const failurePolicy: { readonly [Class in ModelFailureClass]: FailurePolicy } = {
  rate_limit: { next: 'retry', billed: false },
  auth: { next: 'drop', billed: false },
  quota: { next: 'drop', billed: false },
  config: { next: 'drop', billed: false },
  network: { next: 'retry', billed: true },
  timeout: { next: 'retry', billed: true },
  invalid_response: { next: 'retry', billed: true },
  model: { next: 'retry', billed: true },
  lost: { next: 'retry', billed: true },
  cancelled: { next: 'end', billed: true },
}
