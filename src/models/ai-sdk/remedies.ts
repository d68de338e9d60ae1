/** What a person can do, in the provider's own words. */
export interface Remedies {
  readonly auth: string
  readonly network: string
  readonly baseUrl: string
}

/** Where only time or another provider helps. */
export const waitOrFallBack = 'Try again later, or name a further model to fall back on.'

/** Where the request itself is at fault. */
export const changeRequest = 'Change what the provider objects to: a parameter, a tool, a message, or the model.'
