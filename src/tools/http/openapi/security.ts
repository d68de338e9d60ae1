import { isRecord } from '../../../util/is-record.ts'
import type { CredentialTemplates } from '../credentials.ts'
import { follow, type OpenApiDocument } from './read-document.ts'

type Pairs = CredentialTemplates['headers']

/** The credentials of an operation by its security schemes. `values` are templates by scheme; the first complete set applies. */
export function credentialsFor(
  document: OpenApiDocument,
  security: unknown,
  { values, headers }: { readonly values: { readonly [scheme: string]: string }; readonly headers: Pairs },
): CredentialTemplates {
  const none: CredentialTemplates = { headers, query: [], cookies: [] }
  const choices = Array.isArray(security) ? security.filter(isRecord) : []
  // `{}` means that credentials are optional; those that are configured are sent.
  const chosen = choices.find((choice) => {
    const schemes = Object.keys(choice)
    return schemes.length > 0 && schemes.every((name) => Object.hasOwn(values, name))
  })
  const { securitySchemes } = isRecord(document.components) ? document.components : {}
  if (!chosen || !isRecord(securitySchemes)) return none
  return Object.keys(chosen).reduce((all, name) => withScheme(all, follow(document, securitySchemes[name]), values[name] ?? ''), none)
}

function withScheme(all: CredentialTemplates, scheme: { readonly [key: string]: unknown }, value: string): CredentialTemplates {
  const { type, in: where, name, scheme: kind } = scheme
  if (type === 'apiKey') {
    const pair = [String(name), value] as const
    if (where === 'query') return { ...all, query: [...all.query, pair] }
    return where === 'cookie' ? { ...all, cookies: [...all.cookies, pair] } : { ...all, headers: [...all.headers, pair] }
  }
  if (type === 'http' && String(kind).toLowerCase() === 'basic') return { ...all, basic: value }
  return { ...all, headers: [...all.headers, ['authorization', `Bearer ${value}`]] }
}
