import type { ModelFailure } from '../../contracts/index.ts'

/** A failure on its way through the code of a provider's package, which knows errors only. */
export class FailureError extends Error {
  override readonly name = 'FailureError'
  readonly failure: ModelFailure

  constructor(failure: ModelFailure) {
    super(failure.message)
    this.failure = failure
  }
}
