import type { ModelFailure, ModelFailureClass } from '../../contracts/index.ts'

/** A failure as an error, for code that only passes errors on. */
export class FailureError extends Error {
  override readonly name = 'FailureError'
  readonly failure: ModelFailure

  constructor(failure: ModelFailure) {
    super(failure.message)
    this.failure = failure
  }
}

/** A failure, with a remedy if there is a better one than that of its class. */
export const failing = (kind: ModelFailureClass, message: string, remedy?: string): ModelFailure => ({
  class: kind,
  message,
  ...(remedy !== undefined && { remedy }),
})

/** Remedies for this provider. */
export interface Remedies {
  readonly auth?: string
  readonly network?: string
  readonly baseUrl?: string
}

/** For a model that was passed as an object: its creator chose key and address. */
export const userBuiltRemedies: Remedies = {
  auth: 'Check the key that the model was built with, and what it may do.',
  network: 'Check the network and the base URL that the model was built with.',
  baseUrl: 'Check the base URL that the model was built with.',
}
