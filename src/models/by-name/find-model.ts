import { type Problem, TroupeError } from '../../contracts/index.ts'
import { asSentence } from '../../util/as-sentence.ts'
import { knownProvider, knownProviders } from '../known-providers.ts'
import { isLoopback, type ProviderSettings } from '../provider-settings.ts'
import type { SettledOptions } from './adapter-options.ts'
import { endpointOf, prospectOf } from './endpoint.ts'

type SearchOptions = Pick<SettledOptions, 'variables' | 'providers' | 'clock' | 'fetch'> & {
  /** How long all local servers together have to answer. Default 300. */
  readonly timeoutMs?: number
}

/**
 * The model for `auto`: of the first provider with a key, else of a local server; configured providers first. No other machine
 * is contacted. Throws `model_unavailable` with everything that was tried.
 */
export async function findModel(options: SearchOptions): Promise<string> {
  const names = providerNames(options)
  for (const name of names) {
    const { profile, keyFrom } = prospectOf(name, options)
    if (profile.defaultModel !== undefined && keyFrom !== undefined) return `${name}/${profile.defaultModel}`
  }
  const servers = names.filter((name) => prospectOf(name, options).profile.defaultModel === undefined)
  const looked = await Promise.all(servers.map((server) => probe(server, options)))
  const found = looked.find((each) => each.kind === 'found')
  if (found) return found.models[0]
  throw unavailable(looked.flatMap((each) => (each.kind === 'found' ? [] : [each.problem])))
}

/** A model that can be used here. */
export interface FoundModel {
  readonly model: string
  /** Why: the variable or setting of its key, or the server that has it. */
  readonly from: string
}

/** A provider that can be used here, or could be. */
export interface FoundProvider {
  readonly name: string
  /** The name for people. */
  readonly label: string
  /** `local`: a server on this machine, which needs no key. */
  readonly access: 'key' | 'local'
  /** The model that `auto` would use of it, or the models of a local server. Empty: it cannot be used now. */
  readonly models: readonly FoundModel[]
  /** Why it cannot be used, if a key does not help. */
  readonly problem?: string
}

/** All known and configured providers, with the models that can be used now. */
export const findProviders = (options: SearchOptions): Promise<readonly FoundProvider[]> =>
  Promise.all(
    providerNames(options).map(async (name): Promise<FoundProvider> => {
      const { profile, keyFrom } = prospectOf(name, options)
      const label = knownProvider(name)?.label ?? name
      const settings = settingsOf(name, options)
      if (profile.defaultModel !== undefined) {
        const provider = { name, label, access: 'key' } as const
        // Without a key, its settings are not complete.
        if (keyFrom === undefined) return { ...provider, models: [] }
        if (settings instanceof TroupeError) return { ...provider, models: [], problem: settings.message }
        return { ...provider, models: [{ model: `${name}/${profile.defaultModel}`, from: keyFrom }] }
      }
      const provider = { name, label, access: 'local' } as const
      const probed = await probe(name, options)
      if (probed.kind === 'nothing') return { ...provider, models: [], problem: textOf(probed.problem) }
      return { ...provider, models: probed.models.map((model) => ({ model, from: `${label} on this machine` })) }
    }),
  )

const textOf = ({ message, remedy }: Problem): string => (remedy === undefined ? message : `${asSentence(message)} ${remedy}`)

/** The models that can be used now. */
export const findAllModels = async (options: SearchOptions): Promise<readonly FoundModel[]> =>
  (await findProviders(options)).flatMap(({ models }) => models)

const providerNames = ({ providers = {} }: SearchOptions): readonly string[] => [
  ...new Set([...Object.keys(providers), ...Object.keys(knownProviders)]),
]

type Probed =
  | { readonly kind: 'found'; readonly models: readonly [string, ...string[]] }
  | { readonly kind: 'nothing'; readonly problem: Problem }

async function probe(provider: string, options: SearchOptions): Promise<Probed> {
  const label = knownProvider(provider)?.label ?? provider
  const nothing = (problem: Problem): Probed => ({ kind: 'nothing', problem })
  const settings = settingsOf(provider, options)
  if (settings instanceof TroupeError)
    return nothing({ place: label, message: settings.message, ...(settings.remedy !== undefined && { remedy: settings.remedy }) })
  const { baseURL = '' } = settings
  const place = `${baseURL} (${label})`
  if (!isLoopback(baseURL))
    return nothing({
      place,
      message: 'It is not a local address, so it was not probed.',
      remedy: `Name a model of it: ${provider}/<model>.`,
    })
  const models = await listModels(settings, options)
  if (models === undefined) return nothing({ place, message: 'No server answers there.' })
  const [first, ...others] = models.filter((id) => !/embed|rerank|whisper|tts/i.test(id)).map((id) => `${provider}/${id}`)
  if (first !== undefined) return { kind: 'found', models: [first, ...others.slice(0, maxLocalModels - 1)] }
  const remedy = provider === 'ollama' ? 'Pull one: ollama pull qwen3' : 'Load a model on that server.'
  return nothing({ place, message: 'The server has no chat model.', remedy })
}

const maxLocalModels = 20

/** An invalid server does not prevent the probe of the others. */
function settingsOf(provider: string, options: SearchOptions): ProviderSettings | TroupeError {
  try {
    return endpointOf(provider, options)?.settings ?? {}
  } catch (error) {
    if (error instanceof TroupeError) return error
    throw error
  }
}

/** The model ids of a server, or `undefined` if no server answers. */
async function listModels(
  settings: ProviderSettings,
  { clock, fetch, timeoutMs = 300 }: SearchOptions,
): Promise<readonly string[] | undefined> {
  const { baseURL, apiKey, headers: own } = settings
  const headers = { accept: 'application/json', ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }), ...own }
  const controller = new AbortController()
  const cancel = clock.after(timeoutMs, () => controller.abort())
  try {
    const response = await fetch(`${baseURL}/models`, { signal: controller.signal, redirect: 'error', headers })
    const body: unknown = response.ok ? await response.json() : undefined
    const listed = (body as { readonly data?: unknown } | undefined)?.data
    if (!Array.isArray(listed)) return undefined
    return listed.map((each: { readonly id?: unknown } | null) => each?.id).filter((id) => typeof id === 'string')
  } catch {
    return undefined
  } finally {
    cancel()
  }
}

function unavailable(looked: readonly Problem[]): TroupeError {
  const keys = Object.values(knownProviders).flatMap((known) => (known.access === 'key' ? known.keys : []))
  return new TroupeError('model_unavailable', '`auto` found no model: no key is set, and no local server answers.', {
    remedy: `Set ${keys[0]} or another key, start a server such as Ollama, or use the model \`rehearsal\`, which needs no LLM.`,
    problems: [{ place: keys.join(', '), message: 'None of these variables is set.' }, ...looked],
  })
}
