import type { ModelFailure } from '../../contracts/index.ts'
import type { Remedies } from '../ai-sdk/index.ts'
import type { ProviderKind, ProviderSpec } from './provider-spec.ts'
import { traitsOf } from './servers.ts'

// Given explicitly, always: the packages would look into the environment otherwise.
const homes: { readonly [K in Exclude<ProviderKind, 'openai-compatible'>]: string } = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
}

export const baseUrlOf = ({ kind, settings }: ProviderSpec): string =>
  (settings.baseURL?.trim() || (kind === 'openai-compatible' ? '' : homes[kind])).replace(/\/+$/, '')

/** What is wrong with the settings, found before any request is made. */
export function settingsFailure(spec: ProviderSpec, remedies: Remedies): ModelFailure | undefined {
  return wrongBaseUrl(spec, remedies) ?? wrongKey(spec, remedies) ?? wrongHeader(spec)
}

function wrongBaseUrl(spec: ProviderSpec, { baseUrl: remedy }: Remedies): ModelFailure | undefined {
  const text = baseUrlOf(spec)
  if (text === '')
    return {
      class: 'config',
      message: `${spec.provider} has no base URL.`,
      remedy: `Set one for ${spec.provider}, such as http://localhost:8000/v1.`,
    }
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol))
    return { class: 'config', message: `The base URL of ${spec.provider} is no http: or https: address.`, remedy }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    return {
      class: 'config',
      message: `The base URL of ${spec.provider} must have no user, query or fragment.`,
      remedy: 'Give credentials as the key or as headers.',
    }
  return undefined
}

/** Headers that a key may stand in. */
export const isKeyHeader = (name: string): boolean => /^(?:authorization|(?:x-)?(?:goog-)?api-key)$/i.test(name)

function wrongKey({ kind, provider, settings, keyVariable }: ProviderSpec, { auth }: Remedies): ModelFailure | undefined {
  const key = settings.apiKey ?? ''
  const variable = keyVariable ?? `the key of ${provider}`
  if (key.trim() === '') {
    const isNeeded = kind === 'openai-compatible' ? traitsOf(provider).needsKey : true
    const hasOther = Object.keys(settings.headers ?? {}).some(isKeyHeader)
    if (!isNeeded || hasOther) return undefined
    const remedy = keyVariable === undefined ? `Give a key for ${provider}.` : `Set ${keyVariable}.`
    return { class: 'auth', message: settings.apiKey === undefined ? `${provider} needs a key.` : `${capital(variable)} is empty.`, remedy }
  }
  if (isHeaderValue(key.trim())) return undefined
  return {
    class: 'auth',
    message: `${capital(variable)} has a character that no key has: a line break, a space or a typographic character.`,
    remedy: auth,
  }
}

function wrongHeader({ provider, settings }: ProviderSpec): ModelFailure | undefined {
  for (const [name, value] of Object.entries(settings.headers ?? {})) {
    if (/^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)) continue
    return {
      class: 'config',
      message: `The header ${JSON.stringify(name)} of ${provider} has a character that no header can carry.`,
      remedy: 'Write it anew.',
    }
  }
  return undefined
}

const isHeaderValue = (key: string): boolean => /^[\x21-\x7e]+$/.test(key)

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
