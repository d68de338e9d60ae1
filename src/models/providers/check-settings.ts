import type { ModelFailure } from '../../contracts/index.ts'
import { failing, type Remedies } from '../failures/index.ts'
import { profileOf } from '../known-providers.ts'
import { isKey, keyOf, type ProviderSpec, wrongAddress } from '../provider-settings.ts'

/** Always given explicitly: otherwise the packages read the environment. */
export const baseUrlOf = ({ provider, kind, settings }: ProviderSpec): string =>
  (settings.baseURL?.trim() || (profileOf(provider, kind).home ?? '')).replace(/\/+$/, '')

/** The problem with the settings, before any request is made. */
export function settingsFailure(spec: ProviderSpec, remedies: Remedies): ModelFailure | undefined {
  return wrongBaseUrl(spec) ?? wrongKey(spec, remedies) ?? wrongHeader(spec)
}

function wrongBaseUrl(spec: ProviderSpec): ModelFailure | undefined {
  const { provider } = spec
  const baseURL = baseUrlOf(spec)
  if (baseURL === '') return failing('config', `${provider} has no base URL.`, `Set one for ${provider}, such as http://localhost:8000/v1.`)
  const wrong = wrongAddress(baseURL)
  return wrong && failing('config', `The base URL of ${provider} ${wrong.message}`, wrong.remedy)
}

function wrongKey({ kind, provider, settings, keyVariable }: ProviderSpec, { auth }: Remedies): ModelFailure | undefined {
  const key = keyOf(settings)
  const subject = keyVariable ?? `The key of ${provider}`
  switch (key.kind) {
    case 'header':
      return undefined
    case 'key':
      if (isKey(key.key)) return undefined
      return failing(
        'auth',
        `${subject} contains a character that is not valid in a key: a line break, a space or a typographic character.`,
        auth,
      )
    case 'none':
    case 'empty': {
      if (!profileOf(provider, kind).needsKey) return undefined
      const remedy = keyVariable === undefined ? `Give a key for ${provider}.` : `Set ${keyVariable}.`
      return failing('auth', key.kind === 'none' ? `${provider} needs a key.` : `${subject} is empty.`, remedy)
    }
    default:
      return key satisfies never
  }
}

function wrongHeader({ provider, settings }: ProviderSpec): ModelFailure | undefined {
  const wrong = Object.entries(settings.headers ?? {}).find(
    ([name, value]) => !/^[\w!#$%&'*+.^`|~-]+$/.test(name) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value),
  )
  if (!wrong) return undefined
  return failing(
    'config',
    `The header ${JSON.stringify(wrong[0])} of ${provider} contains a character that is not valid in a header.`,
    'Write it again without that character.',
  )
}
