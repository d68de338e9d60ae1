import type { ModelAbility, ProviderKind } from '../contracts/index.ts'

type Names = readonly [string, ...string[]]
type Body = { readonly [field: string]: unknown }

/** A provider that Troupe knows by name. */
interface KnownProvider {
  /** The name for people. */
  readonly label: string
  readonly kind: ProviderKind
  readonly home: string
  /** Variables that override the base URL; the first that is set wins. */
  readonly urlVariables: Names
  /** Turns their value into a base URL, where it is not one. */
  urlOf?(written: string): string
  /** An example of their value, where it does not look like `home`. */
  readonly urlExample?: string
  /** Variables for its key, in order of precedence. */
  readonly keys: Names
  /** A local server needs no key, and `auto` probes it. */
  readonly access: 'key' | 'local'
  /** How its keys begin. */
  readonly keyPrefix?: string
  /** Where people create keys. */
  readonly keyPage?: string
  /** The path below the base URL that answers only to a valid key. Default: `/models`. */
  readonly keyCheck?: string
  /** The model for `auto`, if the key is set. */
  readonly defaultModel?: string
  /** Its name in the bundled table of prices. */
  readonly prices?: string
  /** Changes the request body for this provider. */
  body?(body: Body): Body
}

/** In the order in which `auto` prefers them. */
export const knownProviders: { readonly [name: string]: KnownProvider } = {
  anthropic: {
    label: 'Anthropic',
    kind: 'anthropic',
    home: 'https://api.anthropic.com/v1',
    urlVariables: ['ANTHROPIC_BASE_URL'],
    urlOf: anthropicUrl,
    keys: ['ANTHROPIC_API_KEY'],
    access: 'key',
    keyPrefix: 'sk-ant-',
    keyPage: 'https://console.anthropic.com/settings/keys',
    defaultModel: 'claude-sonnet-5',
    prices: 'anthropic',
  },
  openai: {
    label: 'OpenAI',
    kind: 'openai',
    home: 'https://api.openai.com/v1',
    urlVariables: ['OPENAI_BASE_URL'],
    keys: ['OPENAI_API_KEY'],
    access: 'key',
    keyPrefix: 'sk-',
    keyPage: 'https://platform.openai.com/api-keys',
    defaultModel: 'gpt-5.4-mini',
    prices: 'openai',
  },
  google: {
    label: 'Google Gemini',
    kind: 'google',
    home: 'https://generativelanguage.googleapis.com/v1beta',
    urlVariables: ['GOOGLE_BASE_URL', 'GEMINI_BASE_URL'],
    keys: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    access: 'key',
    keyPrefix: 'AIza',
    keyPage: 'https://aistudio.google.com/apikey',
    defaultModel: 'gemini-3.5-flash',
    prices: 'google',
  },
  openrouter: {
    label: 'OpenRouter',
    kind: 'openai-compatible',
    home: 'https://openrouter.ai/api/v1',
    urlVariables: ['OPENROUTER_BASE_URL'],
    keys: ['OPENROUTER_API_KEY'],
    access: 'key',
    keyPrefix: 'sk-or-',
    keyPage: 'https://openrouter.ai/keys',
    // Its list of models is public.
    keyCheck: '/key',
    defaultModel: 'anthropic/claude-sonnet-5',
    prices: 'openrouter',
    // Reports the cost in the usage, and has its own object for reasoning.
    body: ({ reasoning_effort: effort, ...body }) => ({
      ...body,
      usage: { include: true },
      ...(effort !== undefined && { reasoning: { effort } }),
    }),
  },
  ollama: {
    ...ownServer('Ollama', 11_434, 'OLLAMA'),
    urlVariables: ['OLLAMA_HOST', 'OLLAMA_BASE_URL'],
    urlOf: ollamaUrl,
    urlExample: '127.0.0.1:11434',
    // Supports fewer efforts.
    body: ({ reasoning_effort: effort, ...body }) =>
      effort === undefined ? body : { ...body, reasoning_effort: effort === 'minimal' ? 'low' : effort === 'xhigh' ? 'high' : effort },
  },
  lmstudio: ownServer('LM Studio', 1_234, 'LMSTUDIO'),
  llamacpp: ownServer('llama.cpp', 8_080, 'LLAMACPP'),
  vllm: ownServer('vLLM', 8_000, 'VLLM'),
}

function ownServer(label: string, port: number, prefix: string): KnownProvider {
  const home = `http://127.0.0.1:${port}/v1`
  return { label, kind: 'openai-compatible', home, urlVariables: [`${prefix}_BASE_URL`], keys: [`${prefix}_API_KEY`], access: 'local' }
}

/** Other tools write the address without the version. */
function anthropicUrl(written: string): string {
  return /^https:\/\/api\.anthropic\.com\/*$/i.test(written) ? 'https://api.anthropic.com/v1' : written
}

/**
 * `OLLAMA_HOST` is the address that Ollama listens on: a host, a port or both, often without scheme and path. Anything else is
 * returned unchanged.
 */
function ollamaUrl(written: string): string {
  const [, scheme = 'http://', rest = ''] = /^([a-z][a-z0-9+.-]*:\/\/)?(.*)$/i.exec(written) ?? []
  const address = /^[\da-f]*:[\da-f]*:[\da-f:.]*$/i.test(rest) ? `[${rest}]` : rest.replace(/^:(?=\d)/, '127.0.0.1:')
  // `URL` reads a bare number as an IPv4 address.
  const url = /^\d+$/.test(address) ? null : URL.parse(`${scheme}${address}`)
  if (!url) return written
  // Bound to all interfaces: use the loopback address.
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1'
  if (url.protocol === 'http:' && !/:\d+(?:\/|$)/.test(address)) url.port = '11434'
  url.pathname = `${url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1`
  return url.href
}

/** A known provider, or what follows from a name and a kind. */
export interface ProviderProfile
  extends Pick<KnownProvider, 'kind' | 'urlVariables' | 'urlOf' | 'urlExample' | 'keys' | 'defaultModel' | 'body'> {
  readonly home?: string
  readonly needsKey: boolean
  readonly abilities: readonly ModelAbility[]
}

export function profileOf(name: string, kind?: ProviderKind): ProviderProfile {
  const known = knownProvider(name)
  if (known && (kind ?? known.kind) === known.kind) return { ...known, needsKey: known.access === 'key', abilities: allAbilities }
  const prefix = variablePrefix(name)
  const common = { urlVariables: [`${prefix}_BASE_URL`], keys: [`${prefix}_API_KEY`] } as const
  // Another endpoint for models of that kind.
  const vendor = kind === undefined ? undefined : knownProvider(kind)
  return vendor
    ? { ...common, kind: vendor.kind, home: vendor.home, needsKey: true, abilities: allAbilities }
    : { ...common, kind: 'openai-compatible', needsKey: false, abilities: abilitiesOfUnknownServers }
}

export const knownProvider = (name: string): KnownProvider | undefined =>
  Object.hasOwn(knownProviders, name) ? knownProviders[name] : undefined

export const variablePrefix = (provider: string): string => provider.toUpperCase().replace(/[^A-Z0-9]+/g, '_')

/** An unknown server may refuse requests with a schema. */
export const abilitiesOfUnknownServers: readonly ModelAbility[] = ['tools', 'images', 'files', 'reasoning']

export const allAbilities: readonly ModelAbility[] = [...abilitiesOfUnknownServers, 'json_schema']
