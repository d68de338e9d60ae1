import type { Usage } from '../contracts/index.ts'

/** US dollars per million tokens. Without a price of their own, cached tokens cost as much as other input. */
export interface TokenPrice {
  readonly input: number
  readonly output: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
}

/** US dollars. `usage.input` includes cache reads and writes. */
export function costAt(price: TokenPrice, { input, output, cacheRead, cacheWrite }: Usage): number {
  const { cacheRead: read = price.input, cacheWrite: write = price.input } = price
  const plain = Math.max(0, input - cacheRead - cacheWrite)
  return (plain * price.input + cacheRead * read + cacheWrite * write + output * price.output) / 1_000_000
}
