export type { ModelAdapterOptions, ProviderConfig, ProviderSources } from './adapter-options.ts'

import { type ProviderSources, platform } from './adapter-options.ts'
import type { FoundModel, FoundProvider } from './find-model.ts'

export { costAt } from '../token-price.ts'
export { endpointOf, ignoredAddress } from './endpoint.ts'
export { modelAdapter } from './model-adapter.ts'
export { modelSourceNames } from './model-sources.ts'
export type { FoundModel, FoundProvider }

/** Models of a provider with similar names. */
export const nearestModels = async (provider: string, model: string): Promise<readonly string[]> =>
  (await import('./prices.ts')).nearestModels(provider, model)

/** The provider that a bare name, such as `gpt-5`, means. */
export const providerOfModel = async (model: string): Promise<string | undefined> => (await import('./prices.ts')).providerOf(model)

/** Names of all models in the bundled table. */
export const bundledModels = async (): Promise<readonly string[]> => (await import('./prices.ts')).bundledModels()

/** Models of keys and local servers that are found now. No other machine is contacted. Most servers that are not there refuse immediately. */
export const findAllModels = async (sources: ProviderSources): Promise<readonly FoundModel[]> =>
  (await import('./find-model.ts')).findAllModels({ ...platform, ...sources, timeoutMs: 1_500 })

/** The same by provider, with those that cannot be used now. */
export const findProviders = async (sources: ProviderSources): Promise<readonly FoundProvider[]> =>
  (await import('./find-model.ts')).findProviders({ ...platform, ...sources, timeoutMs: 1_500 })
