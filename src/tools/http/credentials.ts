// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
import type { HttpAuth, ToolFailure } from '../../contracts/index.ts'
import { fillPlaceholders } from '../../policy/placeholders.ts'
import { type Redactor, redactor } from '../../util/redact.ts'

export interface Variables {
  readonly [name: string]: string
}

/** Headers and credentials, with placeholders. */
export interface CredentialTemplates {
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly query: readonly (readonly [name: string, value: string])[]
  readonly cookies: readonly (readonly [name: string, value: string])[]
  /** `user:password`. */
  readonly basic?: string
}

/** The same with values. Never part of a message or a result. */
export interface Credentials {
  readonly headers: { readonly [name: string]: string }
  readonly query: readonly (readonly [name: string, value: string])[]
  readonly redactor: Redactor
}

type ResolvedCredentials = { readonly ok: true; readonly credentials: Credentials } | { readonly ok: false; readonly failure: ToolFailure }

export const noCredentials: Credentials = { headers: {}, query: [], redactor: redactor() }

export function credentialTemplates(
  headers: { readonly [name: string]: string } = {},
  { bearer, basic, header, query }: HttpAuth = {},
): CredentialTemplates {
  return {
    headers: [
      ...Object.entries(headers),
      ...(bearer === undefined ? [] : [['authorization', `Bearer ${bearer}`] as const]),
      ...(header ? [[header.name, header.value] as const] : []),
    ],
    query: query ? [[query.name, query.value]] : [],
    cookies: [],
    ...(basic && { basic: `${basic.user}:${basic.password}` }),
  }
}

/** Fails with the names of missing variables, never with a value. */
export function resolveCredentials(
  { headers, query, cookies, basic }: CredentialTemplates,
  find: (name: string) => string | undefined,
): ResolvedCredentials {
  const missing = new Set<string>()
  const secrets: Record<string, string> = {}
  let count = 0
  const resolve = (template: string): string => {
    const text = fillPlaceholders(template, (name) => {
      const value = find(name)
      if (value !== undefined) secrets[`secret ${name}`] = value
      return value
    })
    if (typeof text !== 'string') for (const name of text.missing) missing.add(name)
    return typeof text === 'string' ? text : ''
  }
  const hide = (value: string): string => {
    secrets[`secret ${++count}`] = value
    return value
  }
  const pairs = (list: CredentialTemplates['query']) => list.map(([name, value]) => [name, resolve(value)] as const)
  const sent: Record<string, string> = Object.fromEntries(pairs(headers).map(([name, value]) => [name.toLowerCase(), value]))
  for (const [name, value] of Object.entries(sent)) if (isSecretHeader(name)) hide(value.replace(/^(?:Bearer|Basic|Token) /i, ''))
  const inQuery = pairs(query)
  const inCookies = pairs(cookies)
  for (const [, value] of [...inQuery, ...inCookies]) hide(value)
  if (inCookies.length > 0) sent.cookie = inCookies.map(([name, value]) => `${name}=${value}`).join('; ')
  if (basic !== undefined) {
    const pair = resolve(basic)
    hide(pair.slice(pair.indexOf(':') + 1))
    sent.authorization = `Basic ${hide(Buffer.from(pair).toString('base64'))}`
  }
  if (missing.size > 0) return { ok: false, failure: missingVariables([...missing]) }
  return { ok: true, credentials: { headers: sent, query: inQuery, redactor: redactor(secrets) } }
}

const isSecretHeader = (name: string): boolean => /auth|key|token|secret|cookie|password/i.test(name)

const missingVariables = (names: readonly string[]): ToolFailure => ({
  class: 'config',
  message: `The tool needs ${names.length === 1 ? 'the variable' : 'the variables'} ${names.join(', ')}, which ${names.length === 1 ? 'is' : 'are'} not set.`,
  remedy: 'The user must set it. Continue without this tool.',
})
