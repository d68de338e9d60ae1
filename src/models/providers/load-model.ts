import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { ProviderSpec } from './provider-spec.ts'
import { traitsOf } from './servers.ts'

export interface Connection {
  readonly baseURL: string
  readonly fetch: typeof fetch
}

// Each package takes some 60 ms to load: only the one that is used is.

/** The model as its package makes it. A key is always given, if only an empty one: otherwise the packages look for one. */
export async function loadModel(spec: ProviderSpec, { baseURL, fetch }: Connection): Promise<LanguageModelV4> {
  const { kind, provider, model, settings } = spec
  const apiKey = settings.apiKey?.trim() ?? ''
  const common = { baseURL, apiKey, fetch, headers: { 'user-agent': 'troupe', ...lowerCased(settings.headers ?? {}) } }
  switch (kind) {
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai')
      const openai = createOpenAI(common)
      return settings.api === 'chat' ? openai.chat(model) : openai.responses(model)
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      return createAnthropic(common)(model)
    }
    case 'google': {
      const { createGoogle } = await import('@ai-sdk/google')
      return createGoogle(common)(model)
    }
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
      const { body } = traitsOf(provider)
      // Whether a schema is sent at all is decided before the package sees it.
      const always = { name: provider, includeUsage: true, supportsStructuredOutputs: true }
      return createOpenAICompatible({ ...common, ...always, transformRequestBody: body })(model)
    }
    default:
      return kind satisfies never
  }
}

const lowerCased = (headers: { readonly [name: string]: string }): { [name: string]: string } =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
