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
