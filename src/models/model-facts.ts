import type { Model, Usage } from '../contracts/index.ts'

/** What is known about a model without asking anybody. */
export type ModelFacts = Pick<Model, 'contextTokens' | 'costOf'>

/** Providers that the bundled table has prices of, by its names for them. */
const pricedProviders = new Set(['anthropic', 'openai', 'google', 'openrouter'])

/** Price and window from the bundled table; nothing for a model that is not in it. Nothing is ever looked up elsewhere. */
export async function modelFacts(provider: string, model: string, now: () => number): Promise<ModelFacts> {
  if (!pricedProviders.has(provider)) return {}
  const { calcPrice } = await import('@pydantic/genai-prices')
  const price = (usage: Usage) =>
    calcPrice(
      {
        input_tokens: usage.input,
        output_tokens: usage.output,
        cache_read_tokens: usage.cacheRead,
        cache_write_tokens: usage.cacheWrite,
      },
      model,
      { providerId: provider, timestamp: new Date(now()) },
    )
  const known = price({ input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 })
  if (!known) return {}
  const contextTokens = known.model.context_window
  return { ...(contextTokens !== undefined && { contextTokens }), costOf: (usage) => price(usage)?.total_price }
}

/** The model that a bare name means, where the bundled table knows whose it is. */
export async function providerOf(model: string): Promise<string | undefined> {
  const { findProvider } = await import('@pydantic/genai-prices')
  const id = findProvider({ modelId: model })?.id
  return id !== undefined && ['anthropic', 'openai', 'google'].includes(id) ? id : undefined
}
