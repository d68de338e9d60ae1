import { type Cost, type Model, roundUsd, type TokenPrice, type Usage } from '../../contracts/index.ts'

// Checks figures from models: a model is third-party code.

export function isUsage(usage: Usage | undefined): usage is Usage {
  if (!usage) return false
  const { input, output, cacheRead, cacheWrite, reasoning } = usage
  return [input, output, cacheRead, cacheWrite, reasoning].every(isCount)
}

export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
const isPrice = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0

/** The cost of a step: what the model reported, or else by its price. `unknown` if it has none, or `costOf` fails. */
export function computeCost(model: Pick<Model, 'costOf'> | undefined, usage: Usage, reported?: number): Cost {
  try {
    const cost = isPrice(reported) ? reported : model?.costOf?.(usage)
    return isPrice(cost) ? roundUsd(cost) : 'unknown'
  } catch {
    return 'unknown'
  }
}

/** What tokens cost, for reservations. */
export const priceOf = (price: TokenPrice, { input, output }: Pick<Usage, 'input' | 'output'>): number =>
  roundUsd(input * price.input + output * price.output)
