/** The protocols that providers of models speak. Configuration, its schema and the model adapters all use this list. */
export const providerKinds = ['openai', 'anthropic', 'google', 'openai-compatible'] as const

export type ProviderKind = (typeof providerKinds)[number]
