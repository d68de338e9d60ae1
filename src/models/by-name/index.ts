export type { ModelAdapterOptions, ProviderConfig, ProviderSources } from './adapter-options.ts'
export { ignoredAddress } from './endpoint.ts'
export { modelAdapter } from './model-adapter.ts'
export { modelSourceNames } from './model-sources.ts'

/** Models of a provider with similar names. */
export const nearestModels = async (provider: string, model: string): Promise<readonly string[]> =>
  (await import('./prices.ts')).nearestModels(provider, model)
