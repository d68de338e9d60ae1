/** Tokens as the provider counts them. `cacheRead`, `cacheWrite` are within `input`, `reasoning` within `output`. */
export interface Usage {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly reasoning: number
  /** Present where at least a part of the figures is our estimate, because the provider gave none. */
  readonly estimated?: true
}

/** US dollars; `unknown` where any part of it has no price, never a false 0. */
export type Cost = number | 'unknown'

export const noUsage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
