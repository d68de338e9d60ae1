import { TroupeError } from '../../contracts/index.ts'
import { type ModelAdapterOptions, modelAdapter } from '../../models/by-name/index.ts'
import { systemClock } from '../../runtime/index.ts'
import { isLoopback } from '../../util/loopback.ts'

/** The same as for `auto`. */
const patienceMs = 300
/** The servers that `auto` searches, besides those of the configuration. A test keeps this equal to the provider table. */
export const ownServers: readonly string[] = ['ollama', 'lmstudio', 'llamacpp', 'vllm']

/**
 * The problem of the server that a model needs, if that server is on this machine and one that `auto` would search.
 * Never contacts other machines. `name` must be resolvable.
 */
export async function serverProblem(name: string, options: ModelAdapterOptions): Promise<TroupeError | undefined> {
  const request = await requestOf(name, options)
  if (!request || !isLoopback(request.url.hostname)) return undefined
  const base = request.url.href.replace(endOfRequest, '')
  const models = await listModels(`${base}/models`, request.headers, options)
  if (models === 'silence')
    return new TroupeError('model_unavailable', `The model ${name} needs a server at ${base}, which does not respond.`, {
      remedy: 'Start the server, or use another model.',
    })
  const [, model = ''] = /^[^/]+\/(.+)$/s.exec(request.name) ?? []
  if (models.length === 0 || models.some((id) => id === model || id.replace(/:.*$/, '') === model)) return undefined
  return new TroupeError('model_unavailable', `The server at ${base} has no model ${model}.`, {
    remedy: `Load the model there, or use one that it has: ${models.slice(0, 5).join(', ')}.`,
  })
}

const endOfRequest = /\/(?:chat\/completions|responses|messages|models\/[^/]*)$/

interface CaughtRequest {
  readonly url: URL
  readonly headers: Headers
  /** The id of the model, with aliases resolved. */
  readonly name: string
}

/** The request that the model would send, captured before it is sent: its URL includes every setting. */
async function requestOf(name: string, options: ModelAdapterOptions): Promise<CaughtRequest | undefined> {
  let caught: Omit<CaughtRequest, 'name'> | undefined
  const fetch: typeof globalThis.fetch = (input, init) => {
    const { url, headers } = new Request(input, init)
    caught = { url: new URL(url), headers }
    return Promise.reject(new Error('Nothing is sent.'))
  }
  const model = await modelAdapter({ ...options, fetch }).resolve(name)
  const [source = ''] = model.id.split('/')
  if (!ownServers.includes(source) && !Object.hasOwn(options.providers ?? {}, source)) return undefined
  const nothing = { system: '', messages: [], tools: [], toolChoice: 'auto', parameters: {} } as const
  for await (const _part of model.stream(nothing, { signal: new AbortController().signal })) if (caught) break
  return caught && { ...caught, name: model.id }
}

/** The model ids that the server lists; empty for any other response. */
async function listModels(
  url: string,
  sent: Headers,
  { clock = systemClock, fetch = globalThis.fetch }: ModelAdapterOptions,
): Promise<readonly string[] | 'silence'> {
  const headers = new Headers(sent)
  headers.delete('content-type')
  const controller = new AbortController()
  const cancel = clock.after(patienceMs, () => controller.abort())
  try {
    const response = await fetch(url, { signal: controller.signal, redirect: 'manual', headers })
    return idsIn(await response.json().catch(() => undefined))
  } catch {
    return 'silence'
  } finally {
    cancel()
  }
}

function idsIn(listing: unknown): readonly string[] {
  const data = typeof listing === 'object' && listing !== null && 'data' in listing ? listing.data : undefined
  if (!Array.isArray(data)) return []
  return data.map((each: { readonly id?: unknown } | null) => each?.id).filter((id) => typeof id === 'string')
}
