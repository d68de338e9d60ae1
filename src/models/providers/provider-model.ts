import { createHash } from 'node:crypto'
import type { Model, ModelFailure, ModelPart } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { aiSdkModel } from '../ai-sdk/index.ts'
import { failing, type Remedies } from '../failures/index.ts'
import { profileOf } from '../known-providers.ts'
import { isLoopback, type ProviderSpec, secretsIn } from '../provider-settings.ts'
import { baseUrlOf, settingsFailure } from './check-settings.ts'
import { endMarkOf } from './end-mark.ts'
import { guardedFetch } from './guarded-fetch.ts'
import { loadModel } from './load-model.ts'

/**
 * A model of a provider. It reads no environment variables and makes no request. With invalid settings the model fails when it
 * is asked, so that a fallback model is used.
 */
export async function providerModel(spec: ProviderSpec): Promise<Model> {
  const { provider, model, kind, clock } = spec
  const remedies = remediesOf(spec)
  const facts = { ...spec.facts, id: `${provider}/${model}`, abilities: profileOf(provider, kind).abilities }
  const failure = settingsFailure(spec, remedies)
  if (failure) return refusing(facts, failure)
  try {
    const rules = { remedies, clock, endMark: endMarkOf(spec) }
    const connection = { baseURL: baseUrlOf(spec), fetch: guardedFetch(spec.fetch ?? fetch, rules) }
    const secrets = secretsIn(spec.settings).map(([, secret]) => secret)
    const rulesOfFailures = { remedies, secrets, now: () => clock.now() }
    return { ...aiSdkModel(await loadModel(spec, connection), { ...facts, dialect: kind }, rulesOfFailures), healthKey: healthKeyOf(spec) }
  } catch (error) {
    return refusing(facts, failing('config', `${provider} cannot be used: ${messageOf(error)}`, remedies.baseUrl))
  }
}

/** A hash that distinguishes accounts without revealing a key. */
function healthKeyOf(spec: ProviderSpec): string {
  const { provider, model, settings } = spec
  const account = [provider, baseUrlOf(spec), settings.apiKey, settings.headers, model]
  return createHash('sha256').update(JSON.stringify(account)).digest('base64url')
}

function remediesOf(spec: ProviderSpec): Required<Remedies> {
  const { kind, provider, keyVariable } = spec
  const address = baseUrlOf(spec)
  const setting = spec.addressFrom ?? profileOf(provider, kind).urlVariables[0]
  const ending = kind === 'openai-compatible' ? '; it mostly ends in /v1' : ''
  return {
    auth: keyVariable === undefined ? `Check the key of ${provider}.` : `Check ${keyVariable}.`,
    network: isLoopback(address)
      ? `Start the server of ${provider}, or set ${setting} to where it runs (now ${address}).`
      : `Check the network, and the base URL of ${provider} (${address}; ${setting} sets it).`,
    baseUrl: `Check the base URL of ${provider} (${address === '' ? 'none is set' : address}${ending}).`,
  }
}

function refusing(facts: Omit<Model, 'stream'>, failure: ModelFailure): Model {
  return {
    ...facts,
    async *stream(): AsyncGenerator<ModelPart> {
      yield { type: 'error', failure }
    },
  }
}
