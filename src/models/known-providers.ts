import type { ProviderKind } from './providers/index.ts'

/** A provider that is known by name. */
export interface KnownProvider {
  readonly kind: ProviderKind
  /** Variables that its key is looked for in, in this order; none where it needs no key. */
  readonly keys: readonly string[]
  /** The variable that moves it elsewhere. */
  readonly urlVariable: string
  readonly baseURL?: string
  /** What `auto` takes where the key is there. */
  readonly defaultModel?: string
  /** Its name among people, where it is a server on their own machine that `auto` looks for. */
  readonly local?: string
}

/** In the order in which `auto` prefers them. */
export const knownProviders: { readonly [name: string]: KnownProvider } = {
  anthropic: { kind: 'anthropic', keys: ['ANTHROPIC_API_KEY'], urlVariable: 'ANTHROPIC_BASE_URL', defaultModel: 'claude-sonnet-5' },
  openai: { kind: 'openai', keys: ['OPENAI_API_KEY'], urlVariable: 'OPENAI_BASE_URL', defaultModel: 'gpt-5.4-mini' },
  google: {
    kind: 'google',
    keys: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    urlVariable: 'GOOGLE_BASE_URL',
    defaultModel: 'gemini-3.5-flash',
  },
  openrouter: {
    kind: 'openai-compatible',
    keys: ['OPENROUTER_API_KEY'],
    urlVariable: 'OPENROUTER_BASE_URL',
    baseURL: 'https://openrouter.ai/api/v1',
    defaultModel: 'anthropic/claude-sonnet-5',
  },
  ollama: local('Ollama', 11_434, 'OLLAMA_HOST'),
  lmstudio: local('LM Studio', 1_234, 'LMSTUDIO_BASE_URL'),
  llamacpp: local('llama.cpp', 8_080, 'LLAMACPP_BASE_URL'),
  vllm: local('vLLM', 8_000, 'VLLM_BASE_URL'),
}

function local(name: string, port: number, urlVariable: string): KnownProvider {
  return { kind: 'openai-compatible', keys: [], urlVariable, baseURL: `http://127.0.0.1:${port}/v1`, local: name }
}
