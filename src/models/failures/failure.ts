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

/** What helps with this provider, where more is known than the kind of the failure tells. */
export interface Remedies {
  readonly auth?: string
  readonly network?: string
  readonly baseUrl?: string
}

/** Where the model came as an object: who built it chose the key and the address. */
export const builtByItsUser: Remedies = {
  auth: 'Check the key that the model was built with, and what it may do.',
  network: 'Check the network and the base URL that the model was built with.',
  baseUrl: 'Check the base URL that the model was built with.',
}
