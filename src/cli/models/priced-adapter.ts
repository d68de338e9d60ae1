import type { ModelPrice } from '../../agents/index.ts'
import type { Model, ModelAdapter, Usage } from '../../contracts/index.ts'

/**
 * Prices in the configuration override the bundled table; a cost that a provider reports overrides both. Scripts cost
 * nothing, so that they can run with a cost budget.
 */
export function pricedAdapter(adapter: ModelAdapter, prices: { readonly [model: string]: ModelPrice }): ModelAdapter {
  return {
    ...(adapter.secrets && { secrets: adapter.secrets }),
    async resolve(name) {
      const model = await adapter.resolve(name)
      const price = Object.hasOwn(prices, model.id) ? prices[model.id] : undefined
      if (price) return priced(model, (usage) => costOf(usage, price))
      return model.costOf === undefined && model.id.startsWith('script/') ? priced(model, () => 0) : model
    },
  }
}

function priced(model: Model, costOf: (usage: Usage) => number): Model {
  const { id, abilities, healthKey, contextTokens, maxOutputTokens } = model
  return {
    id,
    abilities,
    ...(healthKey !== undefined && { healthKey }),
    ...(contextTokens !== undefined && { contextTokens }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    costOf,
    stream: (request, context) => model.stream(request, context),
  }
}

/** Prices are for a million tokens. `input` includes cache reads and writes. */
function costOf({ input, output, cacheRead, cacheWrite }: Usage, price: ModelPrice): number {
  const { cacheRead: read = price.input, cacheWrite: write = price.input } = price
  const plain = Math.max(0, input - cacheRead - cacheWrite)
  return (plain * price.input + cacheRead * read + cacheWrite * write + output * price.output) / 1_000_000
}
