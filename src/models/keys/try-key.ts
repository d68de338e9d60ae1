import type { Clock } from '../../contracts/index.ts'
import { endpointOf, type ProviderSources } from '../by-name/index.ts'
import { knownProvider } from '../known-providers.ts'
import type { Endpoint } from '../provider-settings.ts'

/** What a provider says about a key. Never what it sends: its texts may repeat the key. */
export type KeyAnswer =
  | { readonly kind: 'valid'; readonly note?: string }
  | { readonly kind: 'rejected'; readonly at: string }
  /** It does not answer, or not as a provider does. */
  | { readonly kind: 'unclear'; readonly at: string; readonly why: string }

interface TryOptions extends ProviderSources {
  readonly clock: Pick<Clock, 'after'>
}

const timeoutMs = 10_000

/** Sends the smallest request that needs a key: to the configured address, or to that of the provider. It costs nothing. */
export async function tryKey(provider: string, { clock, ...sources }: TryOptions): Promise<KeyAnswer> {
  const endpoint = endpointOf(provider, sources)
  if (!endpoint) throw new Error(`There is no provider ${provider}.`)
  const { baseURL = '', headers = {} } = endpoint.settings
  const at = new URL(baseURL).host
  const controller = new AbortController()
  const cancel = clock.after(timeoutMs, () => controller.abort())
  try {
    const response = await fetch(`${baseURL}${knownProvider(provider)?.keyCheck ?? '/models'}`, {
      headers: { accept: 'application/json', ...credentials(endpoint), ...headers },
      // A key reaches its own server only.
      redirect: 'manual',
      signal: controller.signal,
    })
    await response.body?.cancel()
    return answerOf(response.status, at)
  } catch {
    const why = controller.signal.aborted ? `does not answer within ${timeoutMs / 1_000} seconds` : 'cannot be reached'
    return { kind: 'unclear', at, why }
  } finally {
    cancel()
  }
}

function credentials({ kind, settings: { apiKey = '' } }: Endpoint): { readonly [header: string]: string } {
  switch (kind) {
    case 'anthropic':
      return { 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }
    case 'google':
      return { 'x-goog-api-key': apiKey }
    case 'openai':
    case 'openai-compatible':
      return { authorization: `Bearer ${apiKey}` }
    default:
      return kind satisfies never
  }
}

function answerOf(status: number, at: string): KeyAnswer {
  if (status >= 200 && status < 300) return { kind: 'valid' }
  if (status === 402 || status === 429) return { kind: 'valid', note: `Its quota at ${at} is used up, or too many requests were sent.` }
  // Google answers 400 for a wrong key.
  if ([400, 401, 403].includes(status)) return { kind: 'rejected', at }
  return { kind: 'unclear', at, why: `answers with status ${status}` }
}
