import { TroupeError } from '../contracts/index.ts'
import { type KnownProvider, knownProviders } from './known-providers.ts'
import type { ProviderKind, ProviderSettings } from './providers/index.ts'

export interface Variables {
  readonly [name: string]: string | undefined
}

/** A provider as a configuration describes it. What is left out comes from variables, or from what is known about it. */
export interface ProviderConfig extends ProviderSettings {
  /** Default: an OpenAI-compatible server. */
  readonly kind?: ProviderKind
}

export interface ProviderSources {
  /** Where keys and addresses are looked for: `OPENAI_API_KEY`, `LAB_BASE_URL`. */
  readonly variables: Variables
  readonly providers?: { readonly [name: string]: ProviderConfig }
}

/** Where a provider is, and how it lets us in. */
export interface Endpoint {
  readonly provider: string
  readonly kind: ProviderKind
  readonly settings: ProviderSettings
  /** The variable that its key came from, or should come from. */
  readonly keyVariable: string
}

/**
 * Finds a provider by name: configured, known, or given by a variable like `LAB_BASE_URL`. `undefined` where there is
 * no such provider. `model` is what it is wanted for.
 *
 * @throws TroupeError `model_key_missing` where it needs a key and there is none; `config_invalid` for an address that is none.
 */
export function endpointOf(provider: string, sources: ProviderSources, model = `of ${provider}`): Endpoint | undefined {
  const configured = own(sources.providers, provider)
  const known = own(knownProviders, provider)
  const { urlVariable, keys } = known ?? unknownProvider(provider)
  const written = configured?.baseURL ?? variableOf(sources.variables, urlVariable)
  if (!configured && !known && written === undefined) return undefined

  const place = configured?.baseURL === undefined ? urlVariable : `providers.${provider}.baseURL`
  const baseURL = written === undefined ? known?.baseURL : addressOf(written, { place, isHost: urlVariable === 'OLLAMA_HOST' })
  const kind = configured?.kind ?? known?.kind ?? 'openai-compatible'
  const found = keys.find((name) => variableOf(sources.variables, name) !== undefined)
  const apiKey = configured?.apiKey ?? (found === undefined ? undefined : variableOf(sources.variables, found))
  const [firstKey = `${variablePrefix(provider)}_API_KEY`] = keys
  if (apiKey === undefined && known && known.keys.length > 0) throw keyMissing(model, known, sources.variables)
  const { kind: _, ...settings } = configured ?? {}
  return {
    provider,
    kind,
    settings: { ...settings, ...(baseURL !== undefined && { baseURL }), ...(apiKey !== undefined && { apiKey }) },
    keyVariable: found ?? firstKey,
  }
}

/** Everything among the sources that nobody must see, by name. */
export function secretsOf({ variables, providers = {} }: ProviderSources): { readonly [name: string]: string } {
  const secrets: Record<string, string> = {}
  for (const [name, value] of Object.entries(variables)) {
    if (/_API_KEY$/.test(name) && value !== undefined && value.trim() !== '') secrets[name] = value.trim()
  }
  for (const [name, { apiKey }] of Object.entries(providers)) if (apiKey) secrets[`${variablePrefix(name)}_API_KEY`] = apiKey
  return secrets
}

export const isLoopback = (baseURL: string): boolean =>
  /^https?:\/\/(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])(?::\d+)?(?:\/|$)/i.test(baseURL)

/** An empty variable is none. */
export function variableOf(variables: Variables, name: string): string | undefined {
  const value = own(variables, name)?.trim()
  return value === '' ? undefined : value
}

function unknownProvider(name: string): Pick<KnownProvider, 'urlVariable' | 'keys'> {
  const prefix = variablePrefix(name)
  return { urlVariable: `${prefix}_BASE_URL`, keys: [`${prefix}_API_KEY`] }
}

const variablePrefix = (provider: string): string => provider.toUpperCase().replace(/[^A-Z0-9]+/g, '_')

/** `OLLAMA_HOST` is what Ollama itself listens on: a host and port, often without a scheme, and never with the path. */
function addressOf(written: string, { place, isHost }: { readonly place: string; readonly isHost: boolean }): string {
  const text = isHost && !/^https?:\/\//i.test(written) ? `http://${written}` : written
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '')
    throw new TroupeError('config_invalid', `${place} is not an address: ${written}`, {
      remedy: 'Write it like https://models.example.org/v1.',
    })
  if (!isHost) return url.href.replace(/\/+$/, '')
  // Bound to every interface means: reach it on this machine.
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1'
  if (url.port === '' && url.protocol === 'http:') url.port = '11434'
  return `${url.origin}${url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1`
}

function keyMissing(model: string, { keys }: KnownProvider, variables: Variables): TroupeError {
  const empty = keys.find((name) => own(variables, name) !== undefined)
  const why = empty === undefined ? `${keys.join(', ')} is not set` : `${empty} is empty`
  return new TroupeError('model_key_missing', `The model ${model} needs a key, and ${why}.`, {
    remedy: `Set it: export ${keys[0]}=…; or try it without an LLM: --model rehearsal`,
  })
}

function own<T>(map: { readonly [name: string]: T } | undefined, name: string): T | undefined {
  return map && Object.hasOwn(map, name) ? map[name] : undefined
}
