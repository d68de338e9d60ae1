export { modelAdapter } from './model-adapter.ts'
export type { ModelAdapterOptions, ProviderConfig, ProviderSources } from './options.ts'
