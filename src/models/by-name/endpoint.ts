import { TroupeError } from '../../contracts/index.ts'
import { knownProvider, type ProviderProfile, profileOf, variablePrefix } from '../known-providers.ts'
import {
  type Endpoint,
  isKey,
  keyOf,
  type ProviderKey,
  type ProviderSettings,
  secretsIn,
  variableOf,
  wrongAddress,
} from '../provider-settings.ts'
import type { ProviderSources } from './adapter-options.ts'

/**
 * Finds a provider by name: configured, known, or set by a variable such as `LAB_BASE_URL`. `undefined` for an unknown
 * provider. `model` is for messages. Throws `model_key_missing` without a required key, and `config_invalid` for an invalid
 * address.
 */
export function endpointOf(provider: string, sources: ProviderSources, model = `of ${provider}`): Endpoint | undefined {
  const { profile, settings } = configOf(provider, sources)
  const isNamed = own(sources.providers, provider) !== undefined || knownProvider(provider) !== undefined
  const variable = profile.urlVariables.find((name) => variableOf(sources.variables, name) !== undefined) ?? profile.urlVariables[0]
  // A configured key goes to the configured address, or to the provider's own.
  const isBound = isKeyConfigured(settings)
  const written = settings.baseURL ?? (isBound ? undefined : variableOf(sources.variables, variable))
  if (!isNamed && written === undefined) return undefined
  const baseURL = (written === undefined ? profile.home : (profile.urlOf?.(written) ?? written)) ?? ''
  const addressFrom = settings.baseURL === undefined && !isBound ? variable : `providers.${provider}.baseURL`
  const example = profile.urlExample ?? profile.home
  const wrong = baseURL === '' ? { message: 'is not set.', remedy: `Say where ${provider} is.` } : wrongAddress(baseURL, example)
  if (wrong) throw new TroupeError('config_invalid', `${addressFrom} ${wrong.message}`, { remedy: wrong.remedy })
  const key = keyOf(settings, sources.variables, profile.keys)
  if (profile.needsKey && (key.kind === 'none' || key.kind === 'empty')) throw keyMissing(model, key, { provider, profile })
  if (key.kind === 'key' && !isKey(key.key)) throw keyUnusable(model, key.variable ?? `providers.${provider}.apiKey`)
  return {
    provider,
    kind: profile.kind,
    settings: { ...settings, baseURL: baseURL.replace(/\/+$/, ''), ...(key.kind === 'key' && { apiKey: key.key }) },
    keyVariable: (key.kind === 'key' ? key.variable : undefined) ?? profile.keys[0],
    addressFrom,
  }
}

const isKeyConfigured = ({ apiKey, headers = {} }: ProviderSettings): boolean => apiKey !== undefined || Object.keys(headers).length > 0

/** The address variable that is ignored, because the key is configured without an address. */
export function ignoredAddress(provider: string, sources: ProviderSources): string | undefined {
  const { profile, settings } = configOf(provider, sources)
  if (settings.baseURL !== undefined || !isKeyConfigured(settings)) return undefined
  return profile.urlVariables.find((name) => variableOf(sources.variables, name) !== undefined)
}

/** The profile of a provider, and where its credentials come from, if it has some: a variable or its section of the configuration. */
export function prospectOf(provider: string, sources: ProviderSources): { readonly profile: ProviderProfile; readonly keyFrom?: string } {
  const { profile, settings } = configOf(provider, sources)
  const key = keyOf(settings, sources.variables, profile.keys)
  if (key.kind !== 'key' && key.kind !== 'header') return { profile }
  return { profile, keyFrom: (key.kind === 'key' ? key.variable : undefined) ?? `providers.${provider}` }
}

function configOf(provider: string, { providers }: ProviderSources) {
  const { kind, ...settings } = own(providers, provider) ?? {}
  return { profile: profileOf(provider, kind), settings }
}

/** All secrets of the sources, by name. */
export function secretsAmong({ variables, providers = {} }: ProviderSources): { readonly [name: string]: string } {
  const secrets: Record<string, string> = {}
  for (const name of Object.keys(variables)) {
    const value = /_API_KEY$/.test(name) ? variableOf(variables, name) : undefined
    if (value !== undefined) secrets[name] = value
  }
  for (const [provider, settings] of Object.entries(providers)) {
    for (const [what, secret] of secretsIn(settings)) {
      const name = variablePrefix(`${provider}_${what}`)
      secrets[(secrets[name] ?? secret) === secret ? name : `${name}_OF_ITS_OWN`] = secret
    }
  }
  return secrets
}

interface Wanted {
  readonly provider: string
  readonly profile: ProviderProfile
}

function keyMissing(model: string, key: ProviderKey, { provider, profile }: Wanted): TroupeError {
  const { keys } = profile
  const empty = key.kind === 'empty' ? (key.variable ?? `providers.${provider}.apiKey`) : undefined
  const why = empty === undefined ? `${keys.join(', ')} is not set` : `${empty} is empty`
  return new TroupeError('model_key_missing', `The model ${model} needs a key, and ${why}.`, {
    remedy: `Set ${keys[0]}, or use the model \`rehearsal\`, which needs no LLM.`,
  })
}

function keyUnusable(model: string, where: string): TroupeError {
  const message = `The key of the model ${model} (${where}) contains a character that is not valid in a key: a line break, a space or a typographic character.`
  return new TroupeError('model_key_missing', message, { remedy: `Set ${where} anew.` })
}

function own<T>(map: { readonly [name: string]: T } | undefined, name: string): T | undefined {
  return map && Object.hasOwn(map, name) ? map[name] : undefined
}
