import type { LanguageModelV3, LanguageModelV4 } from '@ai-sdk/provider'
import type { ModelAbility, ProviderKind } from '../../contracts/index.ts'
import { abilitiesOfUnknownServers, allAbilities } from '../known-providers.ts'

export type AiSdkModel = LanguageModelV4 | LanguageModelV3

/**
 * Provider-specific parts of a request: cache marks, schema mode, reasoning, form of the history. `plain` is an unknown
 * provider: it gets standard options only.
 */
export type Dialect = ProviderKind | 'plain'

/** Detects the dialect from names such as `openai.responses`, `vertex.anthropic.messages`, `google.generative-ai`. */
export function dialectOf(model: AiSdkModel): Dialect {
  const names = model.provider.toLowerCase().split(/[./]/)
  if (names.includes('anthropic')) return 'anthropic'
  if (names[0] === 'openai' || names[0]?.startsWith('azure')) return 'openai'
  if (names[0] === 'google' || names[0] === 'vertex' || names[0] === 'googlevertex') return 'google'
  // Models of @ai-sdk/openai-compatible can have any name, but have this property.
  return 'supportsStructuredOutputs' in model ? 'openai-compatible' : 'plain'
}

/** The abilities of a model, by its dialect. */
export function abilitiesOf(model: AiSdkModel, dialect: Dialect): readonly ModelAbility[] {
  const isKnown = dialect === 'openai' || dialect === 'anthropic' || dialect === 'google'
  const hasSchemaMode = 'supportsStructuredOutputs' in model && model.supportsStructuredOutputs === true
  return isKnown || hasSchemaMode ? allAbilities : abilitiesOfUnknownServers
}

/** The Responses API stores requests by default; the chat API does not. */
export const speaksResponses = (model: AiSdkModel): boolean => model.provider.endsWith('.responses')

/** Packages for other APIs write the bytes of a result as JSON text. */
export const takesResultParts = (model: AiSdkModel, dialect: Dialect): boolean =>
  model.specificationVersion === 'v4' &&
  (dialect === 'anthropic' || dialect === 'google' || (dialect === 'openai' && speaksResponses(model)))

/** Automatic caching cannot be switched off. */
export const cacheNotice = (dialect: Dialect): string | undefined =>
  dialect === 'anthropic' ? undefined : 'The setting cache: false has no effect: only Anthropic models cache on request.'

/** The key of a provider in `providerOptions`. */
export const namespaceOf: { readonly [D in Exclude<Dialect, 'plain'>]: string } = {
  openai: 'openai',
  anthropic: 'anthropic',
  google: 'google',
  'openai-compatible': 'openaiCompatible',
}
