export { modelAdapter } from './model-adapter.ts'
export { modelSourceNames } from './model-sources.ts'
export type { ModelAdapterOptions, ProviderConfig, ProviderSources } from './options.ts'
