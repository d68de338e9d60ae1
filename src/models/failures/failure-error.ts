import type { ModelFailure, ModelFailureClass } from '../../contracts/index.ts'

/** A failure on its way through code that knows errors only. */
export class FailureError extends Error {
  override readonly name = 'FailureError'
  readonly failure: ModelFailure

  constructor(failure: ModelFailure) {
    super(failure.message)
    this.failure = failure
  }
}

/** A failure, with a remedy where there is one that is better than that of its class. */
export const failing = (kind: ModelFailureClass, message: string, remedy?: string): ModelFailure => ({
  class: kind,
  message,
  ...(remedy !== undefined && { remedy }),
})
