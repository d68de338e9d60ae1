import type { LanguageModelV4 } from '@ai-sdk/provider'
import { profileOf } from '../known-providers.ts'
import type { ProviderSpec } from '../provider-settings.ts'

interface Connection {
  readonly baseURL: string
  readonly fetch: typeof fetch
}

// Each package takes about 60 ms to load, so only the one in use is loaded. The main entries of two of them read the environment
// while they load; their internal entries do not.

/** The model of the provider's package. A key is always given, even an empty one: otherwise the packages read the environment. */
export async function loadModel(spec: ProviderSpec, { baseURL, fetch }: Connection): Promise<LanguageModelV4> {
  const { kind, provider, model, settings } = spec
  const apiKey = settings.apiKey?.trim() ?? ''
  const own = { 'user-agent': 'troupe', ...lowerCased(settings.headers ?? {}) }
  const common = { baseURL, apiKey, fetch, headers: own }
  switch (kind) {
    case 'openai': {
      const { OpenAIChatLanguageModel, OpenAIResponsesLanguageModel } = await import('@ai-sdk/openai/internal')
      const config = {
        url: ({ path }: { path: string }) => `${baseURL}${path}`,
        headers: { authorization: `Bearer ${apiKey}`, ...own },
        fetch,
      }
      return settings.api === 'chat'
        ? new OpenAIChatLanguageModel(model, { ...config, provider: 'openai.chat' })
        : new OpenAIResponsesLanguageModel(model, { ...config, baseURL, provider: 'openai.responses', fileIdPrefixes: ['file-'] })
    }
    case 'anthropic': {
      const { AnthropicLanguageModel } = await import('@ai-sdk/anthropic/internal')
      return new AnthropicLanguageModel(model, {
        provider: 'anthropic.messages',
        baseURL,
        headers: { 'anthropic-version': '2023-06-01', 'x-api-key': apiKey, ...own },
        fetch,
        supportsMessageThreads: true,
        supportedUrls: () => readByAnthropic,
      })
    }
    case 'google': {
      const { createGoogle } = await import('@ai-sdk/google')
      return createGoogle(common)(model)
    }
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
      const { body } = profileOf(provider, kind)
      // `takesSchema` decides whether a schema is sent. The package drops the signatures that OpenRouter puts into
      // `reasoning_details`.
      const always = { name: provider, includeUsage: true, supportsStructuredOutputs: true }
      return createOpenAICompatible({ ...common, ...always, ...(body && { transformRequestBody: body }) })(model)
    }
    default:
      return kind satisfies never
  }
}

/** Media types that Anthropic fetches itself. */
const readByAnthropic = { 'image/*': [/^https?:\/\/.*$/], 'application/pdf': [/^https?:\/\/.*$/] }

const lowerCased = (headers: { readonly [name: string]: string }): { [name: string]: string } =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
