import type { Model, ModelAbility, ModelFailure, ModelPart } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { type FromAiSdkOptions, fromAiSdk, type Remedies } from '../ai-sdk/index.ts'
import { baseUrlOf, isKeyHeader, settingsFailure } from './check-settings.ts'
import { guardedFetch } from './guarded-fetch.ts'
import { loadModel } from './load-model.ts'
import type { ProviderSettings, ProviderSpec } from './provider-spec.ts'
import { traitsOf } from './servers.ts'

const abilities: readonly ModelAbility[] = ['tools', 'images', 'files', 'reasoning', 'json_schema']

/**
 * A model by its provider's name. Nothing is read from the environment, and no request is made. Settings that cannot
 * work make a model that says so when it is asked, so that the next one in line gets its turn.
 */
export async function providerModel(spec: ProviderSpec): Promise<Model> {
  const remedies = remediesOf(spec)
  const failure = settingsFailure(spec, remedies)
  if (failure) return refusing(spec, failure)
  try {
    const connection = { baseURL: baseUrlOf(spec), fetch: guardedFetch(spec.fetch ?? fetch, remedies) }
    return fromAiSdk(await loadModel(spec, connection), adapterOptions(spec, remedies))
  } catch (error) {
    // Two of the packages look at a variable of their own while they load, and fail over one that is set to nothing.
    const remedy = `${remedies.baseUrl} If OPENAI_BASE_URL or ANTHROPIC_BASE_URL is set to nothing, unset it.`
    return refusing(spec, { class: 'config', message: `${spec.provider} cannot be used: ${messageOf(error)}`, remedy })
  }
}

function adapterOptions(spec: ProviderSpec, remedies: Remedies): FromAiSdkOptions {
  const { kind, provider, model, settings, facts, now } = spec
  return {
    ...facts,
    id: `${provider}/${model}`,
    abilities,
    remedies,
    dialect: kind,
    schemaMode: kind !== 'openai-compatible' || traitsOf(provider).schemaMode,
    secrets: secretsOf(settings),
    now,
  }
}

function secretsOf({ apiKey = '', headers = {} }: ProviderSettings): readonly string[] {
  const inHeaders = Object.entries(headers).flatMap(([name, value]) => (isKeyHeader(name) ? [value.replace(/^\w+ /, '')] : []))
  return [apiKey.trim(), ...inHeaders]
}

function remediesOf(spec: ProviderSpec): Remedies {
  const { kind, provider, keyVariable } = spec
  const address = baseUrlOf(spec)
  const isLocal = /^https?:\/\/(?:localhost|127\.|\[::1\])/.test(address)
  const ending = kind === 'openai-compatible' ? '; it mostly ends in /v1' : ''
  return {
    auth: keyVariable === undefined ? `Check the key of ${provider}.` : `Check ${keyVariable}.`,
    network: isLocal
      ? `Start the server of ${provider}, or set the base URL to where it runs (now ${address}).`
      : `Check the network, and the base URL of ${provider} (${address}).`,
    baseUrl: `Check the base URL of ${provider} (${address === '' ? 'none is set' : address}${ending}).`,
  }
}

function refusing({ provider, model, facts }: ProviderSpec, failure: ModelFailure): Model {
  return {
    ...facts,
    id: `${provider}/${model}`,
    abilities,
    async *stream(): AsyncGenerator<ModelPart> {
      yield { type: 'error', failure }
    },
  }
}
