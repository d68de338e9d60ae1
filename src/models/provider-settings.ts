import type { Clock, Model, ProviderKind } from '../contracts/index.ts'
import { parseHttpAddress } from '../util/read-address.ts'

/** The address and the credentials of a provider. */
export interface Endpoint {
  /** Its name in model ids. */
  readonly provider: string
  readonly kind: ProviderKind
  readonly settings: ProviderSettings & {
    /** Which of OpenAI's two APIs is used; default `responses`. Other kinds have only one. */
    readonly api?: 'chat' | 'responses'
  }
  /** The variable for its key. */
  readonly keyVariable?: string
  /** The variable or setting for its address. */
  readonly addressFrom?: string
}

/** One model of one provider. */
export interface ProviderSpec extends Endpoint {
  readonly model: string
  readonly facts?: Pick<Model, 'contextTokens' | 'costOf'>
  readonly fetch?: typeof fetch
  readonly clock: Clock
}

/** How a provider is reached. Defaults depend on the provider. */
export interface ProviderSettings {
  readonly baseURL?: string
  readonly apiKey?: string
  readonly headers?: { readonly [name: string]: string }
}

export interface Variables {
  readonly [name: string]: string | undefined
}

/** The credentials: a key, from a variable or not, a header with one, or nothing. */
export type ProviderKey =
  | { readonly kind: 'key'; readonly key: string; readonly variable?: string }
  | { readonly kind: 'header' }
  | { readonly kind: 'empty'; readonly variable?: string }
  | { readonly kind: 'none' }

/** The key of a provider. The configuration wins over variables, even if it is empty: a key must not go to another server. */
export function keyOf({ apiKey, headers = {} }: ProviderSettings, variables: Variables = {}, names: readonly string[] = []): ProviderKey {
  const configured = apiKey?.trim()
  if (configured) return { kind: 'key', key: configured }
  if (Object.entries(headers).some(([name, value]) => isKeyHeader.test(name) && value.trim() !== '')) return { kind: 'header' }
  if (configured === '') return { kind: 'empty' }
  for (const variable of names) {
    const key = variableOf(variables, variable)
    if (key !== undefined) return { kind: 'key', key, variable }
  }
  const variable = names.find((name) => Object.hasOwn(variables, name) && variables[name] !== undefined)
  return variable === undefined ? { kind: 'none' } : { kind: 'empty', variable }
}

/** An empty variable is treated as unset. */
export function variableOf(variables: Variables, name: string): string | undefined {
  return (Object.hasOwn(variables, name) && variables[name]?.trim()) || undefined
}

/** All secrets in the settings, with what each one is. */
export function secretsIn({ apiKey = '', headers = {} }: ProviderSettings): readonly (readonly [what: string, secret: string])[] {
  const inHeaders = Object.entries(headers).flatMap(([name, value]) =>
    isSecretHeader.test(name) ? [[name, value.trim().replace(/^\w+ +/, '')] as const] : [],
  )
  return [['api-key', apiKey.trim()] as const, ...inHeaders].filter(([, secret]) => secret !== '')
}

/** Headers that carry credentials. */
const isKeyHeader = /^(?:authorization|(?:x-)?(?:goog-)?api-key)$/i
const isSecretHeader = /auth|key|token|secret|password|cookie/i

/** Whether it is valid in a header. */
export const isKey = (text: string): boolean => /^[\x21-\x7e]+$/.test(text)

export const isLoopback = (baseURL: string): boolean =>
  /^https?:\/\/(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])(?::\d+)?(?:\/|$)/i.test(baseURL)

interface WrongAddress {
  /** Follows the name of the setting. */
  readonly message: string
  readonly remedy: string
}

/** The problem with a base URL. It never includes the path, which may contain a key. */
export function wrongAddress(baseURL: string, example = 'https://models.example.org/v1'): WrongAddress | undefined {
  const read = parseHttpAddress(baseURL)
  if (!read) return { message: 'is not an http: or https: address.', remedy: `Write it like ${example}.` }
  const { url, isAsWritten } = read
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    return { message: 'must have no user, query or fragment.', remedy: 'Give credentials as the key or as headers.' }
  if (!isAsWritten)
    return {
      message: `is ambiguous: requests would go to ${url.origin}.`,
      remedy: `Write it like ${example}, without blanks.`,
    }
  return undefined
}
