import type { Model, Usage } from '../../contracts/index.ts'
import { nearestNames } from '../../util/nearest-names.ts'
import { knownProvider, knownProviders } from '../known-providers.ts'

/** Price and context window from the bundled table; empty for a model that is not in it. There is no lookup elsewhere. */
export async function bundledFacts(provider: string, model: string, now: () => number): Promise<Pick<Model, 'contextTokens' | 'costOf'>> {
  const providerId = knownProvider(provider)?.prices
  if (providerId === undefined) return {}
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
      { providerId, timestamp: new Date(now()) },
    )
  const known = price({ input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 })
  if (!known) return {}
  const contextTokens = known.model.context_window
  return { ...(contextTokens !== undefined && { contextTokens }), costOf: (usage) => price(usage)?.total_price }
}

/** Names of the models in the bundled table. Resellers are skipped. */
export async function bundledModels(): Promise<readonly string[]> {
  const vendors = Object.entries(knownProviders).filter(([, { kind }]) => kind !== 'openai-compatible')
  const lists = vendors.map(async ([provider, { prices }]) => (await modelIds(prices)).map((id) => `${provider}/${id}`))
  return (await Promise.all(lists)).flat()
}

/** Variants of models have a colon. */
async function modelIds(providerId: string | undefined): Promise<readonly string[]> {
  const { findProvider } = await import('@pydantic/genai-prices')
  const models = providerId === undefined ? [] : (findProvider({ providerId })?.models ?? [])
  return models.flatMap(({ id }) => (id.includes(':') ? [] : [id]))
}

/** Models of a provider with similar names, if the bundled table does not have this one. Resellers are skipped. */
export async function nearestModels(provider: string, model: string): Promise<readonly string[]> {
  const known = knownProvider(provider)
  if (known?.prices === undefined || known.kind === 'openai-compatible') return []
  const { calcPrice } = await import('@pydantic/genai-prices')
  if (calcPrice({ input_tokens: 1 }, model, { providerId: known.prices })) return []
  return nearestNames(model, await modelIds(known.prices))
}

/** The provider of a bare model name, if the bundled table knows it. Resellers are skipped. */
export async function providerOf(model: string): Promise<string | undefined> {
  const { findProvider } = await import('@pydantic/genai-prices')
  const id = findProvider({ modelId: model })?.id
  const found = Object.entries(knownProviders).find(([, { prices, kind }]) => prices === id && kind !== 'openai-compatible')
  return id === undefined ? undefined : found?.[0]
}
