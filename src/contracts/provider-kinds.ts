/** The protocols that providers of models speak. Configuration, its schema and the model adapters all use this list. */
export const providerKinds = ['openai', 'anthropic', 'google', 'openai-compatible'] as const

export type ProviderKind = (typeof providerKinds)[number]

/** Built-in model names and prefixes. No alias or provider can use them. */
export const reservedModelNames = ['auto', 'rehearsal', 'script'] as const
