/** How a provider is reached; what is left out is what is known about it. */
export interface ProviderSettings {
  readonly baseURL?: string
  readonly apiKey?: string
  readonly headers?: { readonly [name: string]: string }
}

export interface Variables {
  readonly [name: string]: string | undefined
}

/** What lets us in: a key, from a variable or not, a header that has one, or nothing. */
export type ProviderKey =
  | { readonly kind: 'key'; readonly key: string; readonly variable?: string }
  | { readonly kind: 'header' }
  | { readonly kind: 'empty'; readonly variable?: string }
  | { readonly kind: 'none' }

/**
 * The key of a provider. What is configured goes before variables, also where it is empty: a key must not go to a server
 * that it was not meant for.
 */
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

/** An empty variable is none. */
export function variableOf(variables: Variables, name: string): string | undefined {
  return (Object.hasOwn(variables, name) && variables[name]?.trim()) || undefined
}

/** Everything in the settings that nobody must see, by what it is. */
export function secretsIn({ apiKey = '', headers = {} }: ProviderSettings): readonly (readonly [what: string, secret: string])[] {
  const inHeaders = Object.entries(headers).flatMap(([name, value]) =>
    isSecretHeader.test(name) ? [[name, value.trim().replace(/^\w+ +/, '')] as const] : [],
  )
  return [['api-key', apiKey.trim()] as const, ...inHeaders].filter(([, secret]) => secret !== '')
}

/** Headers that let a request in. */
const isKeyHeader = /^(?:authorization|(?:x-)?(?:goog-)?api-key)$/i
const isSecretHeader = /auth|key|token|secret|password|cookie/i

/** Whether it can go out in a header as it is. */
export const isKey = (text: string): boolean => /^[\x21-\x7e]+$/.test(text)
