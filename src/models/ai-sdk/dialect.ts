import type { LanguageModelV3, LanguageModelV4 } from '@ai-sdk/provider'
import type { ModelAbility, ProviderKind } from '../../contracts/index.ts'
import { abilitiesOfStrangers, allAbilities } from '../known-providers.ts'

export type AiSdkModel = LanguageModelV4 | LanguageModelV3

/**
 * How a provider wants things said that the AI SDK leaves to it: cache marks, schema mode, reasoning, what a history
 * must look like. `plain` is a provider that we know nothing about: it is asked for nothing out of the ordinary.
 */
export type Dialect = ProviderKind | 'plain'

/** `openai.responses`, `vertex.anthropic.messages`, `google.generative-ai`: which dialect that is. */
export function dialectOf(model: AiSdkModel): Dialect {
  const names = model.provider.toLowerCase().split(/[./]/)
  if (names.includes('anthropic')) return 'anthropic'
  if (names[0] === 'openai' || names[0]?.startsWith('azure')) return 'openai'
  if (names[0] === 'google' || names[0] === 'vertex' || names[0] === 'googlevertex') return 'google'
  // Models of @ai-sdk/openai-compatible are named as their user pleases, but tell by this.
  return 'supportsStructuredOutputs' in model ? 'openai-compatible' : 'plain'
}

/** What a model can do, as far as its kind tells. */
export function abilitiesOf(model: AiSdkModel, dialect: Dialect): readonly ModelAbility[] {
  const isKnown = dialect === 'openai' || dialect === 'anthropic' || dialect === 'google'
  const isTold = 'supportsStructuredOutputs' in model && model.supportsStructuredOutputs === true
  return isKnown || isTold ? allAbilities : abilitiesOfStrangers
}

/** The Responses API keeps what it is sent unless told otherwise; the chat API does not. */
export const speaksResponses = (model: AiSdkModel): boolean => model.provider.endsWith('.responses')

/** A provider that caches by itself cannot be asked not to. */
export const cacheNotice = (dialect: Dialect): string | undefined =>
  dialect === 'anthropic' ? undefined : 'The setting cache: false has no effect: only Anthropic models cache on request.'

/** Under which name a provider looks for what is meant for it. */
export const namespaceOf: { readonly [D in Exclude<Dialect, 'plain'>]: string } = {
  openai: 'openai',
  anthropic: 'anthropic',
  google: 'google',
  'openai-compatible': 'openaiCompatible',
}
