export { providerModel } from './provider-model.ts'
export type { ProviderKind, ProviderSettings, ProviderSpec } from './provider-spec.ts'
