import { type Clock, type Problem, TroupeError } from '../contracts/index.ts'
import { endpointOf, isLoopback, type ProviderSources, variableOf } from './endpoint.ts'
import { knownProviders } from './known-providers.ts'

export interface SearchOptions extends ProviderSources {
  readonly clock: Clock
  readonly fetch: typeof fetch
}

/** All local servers together are given this long to answer. */
const patienceMs = 300

/**
 * What `auto` means here and now: the first provider whose key is there, else a model of a server on this machine.
 * Nothing is sent to any other machine. Throws `model_unavailable` with everything that was looked at.
 */
export async function findModel(options: SearchOptions): Promise<string> {
  for (const [name, { keys, defaultModel }] of Object.entries(knownProviders)) {
    const hasKey = options.providers?.[name]?.apiKey !== undefined || keys.some((key) => variableOf(options.variables, key) !== undefined)
    if (defaultModel !== undefined && hasKey) return `${name}/${defaultModel}`
  }
  const looked = await Promise.all(localProviders().map((server) => probe(server, options)))
  const found = looked.find((each) => each.kind === 'found')
  if (found) return found.model
  throw unavailable(looked.flatMap((each) => (each.kind === 'found' ? [] : [each.problem])))
}

type Probed = { readonly kind: 'found'; readonly model: string } | { readonly kind: 'nothing'; readonly problem: Problem }

interface LocalProvider {
  readonly provider: string
  readonly name: string
}

function localProviders(): readonly LocalProvider[] {
  return Object.entries(knownProviders).flatMap(([provider, { local }]) => (local === undefined ? [] : [{ provider, name: local }]))
}

async function probe({ provider, name }: LocalProvider, options: SearchOptions): Promise<Probed> {
  const baseURL = endpointOf(provider, options)?.settings.baseURL ?? ''
  const place = `${baseURL} (${name})`
  const nothing = (message: string, remedy?: string): Probed => ({
    kind: 'nothing',
    problem: { place, message, ...(remedy !== undefined && { remedy }) },
  })
  if (!isLoopback(baseURL)) return nothing('It is not on this machine, so it was not asked.', `Name it: --model ${provider}/MODEL`)
  const models = await listModels(`${baseURL}/models`, options)
  if (models === undefined) return nothing('Nothing answers there.')
  const model = models.find((id) => !/embed|rerank|whisper|tts/i.test(id))
  if (model !== undefined) return { kind: 'found', model: `${provider}/${model}` }
  return nothing('It answers, but has no model to talk to.', provider === 'ollama' ? 'Get one: ollama pull qwen3' : 'Load one there.')
}

/** The ids that a server lists, or nothing where there is no such server. */
async function listModels(url: string, { clock, fetch }: SearchOptions): Promise<readonly string[] | undefined> {
  const controller = new AbortController()
  const cancel = clock.after(patienceMs, () => controller.abort())
  try {
    const response = await fetch(url, { signal: controller.signal, redirect: 'error', headers: { accept: 'application/json' } })
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
  const keys = Object.values(knownProviders).flatMap((known) => (known.defaultModel === undefined ? [] : known.keys))
  const problems = [{ place: keys.join(', '), message: 'None of these variables is set.' }, ...looked]
  return new TroupeError('model_unavailable', 'There is no model: `auto` found no key and no server on this machine.', {
    remedy: `Set a key (export ${keys[0]}=…), start a server such as Ollama, or try it without an LLM: --model rehearsal`,
    problems,
  })
}
