/** Tokens as the provider counts them. `input` includes `cacheRead` and `cacheWrite`; `output` includes `reasoning`. */
export interface Usage {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly reasoning: number
  /** At least a part is our estimate, because the provider reported nothing. */
  readonly estimated?: true
}

/** US dollars; `unknown` if any part has no price. */
export type Cost = number | 'unknown'

export const noUsage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
