import type { ModelFailure } from '../../contracts/index.ts'
import type { ErrorFacts } from './error-facts.ts'
import { bodyText, isWebPage, pageText, shorten } from './error-text.ts'
import { failing } from './failure-error.ts'
import type { Remedies } from './remedies.ts'
import { retryAfterMs } from './retry-after.ts'
import { isTooLong } from './too-long.ts'

interface Reading {
  readonly facts: ErrorFacts & { readonly status: number }
  readonly said: string
  readonly remedies: Remedies
}

/** What a status means, together with what the provider says about it. */
export function httpFailure(facts: ErrorFacts & { readonly status: number }, remedies: Remedies, now: () => number): ModelFailure {
  const said = bodyText(facts.body) ?? facts.message
  const failure = isWebPage(facts.body) ? page(facts, remedies) : meaning({ facts, said, remedies })
  const wait = retryAfterMs(facts.headers, now) ?? retryDelay(facts.body)
  return wait !== undefined && waits.includes(failure.class) ? { ...failure, retryAfterMs: wait } : failure
}

const waits: readonly ModelFailure['class'][] = ['rate_limit', 'timeout', 'model', 'network', 'invalid_response']

function meaning({ facts, said, remedies }: Reading): ModelFailure {
  const { status } = facts
  const words = `${facts.kinds.join(' ')} ${said}`
  const reason = said === '' ? 'The provider gave no reason' : shorten(said, 260)
  // Where the request did not go by a URL that is known, the status may be only what the provider's words amount to.
  const message = facts.origin === undefined ? reason : `${reason} (HTTP ${status})`
  if (status === 401 || status === 403 || isKeyRefused(words)) return failing('auth', message, remedies.auth)
  if (status === 402 || isOutOfMoney(status, words, facts.body)) return failing('quota', message)
  if (status === 413 || isTooLong(words)) return tooLong(message)
  if (status === 429) return failing('rate_limit', message)
  if (status === 408 || status === 504) return failing('timeout', message)
  if (status === 529 || status === 503) return failing('rate_limit', `The provider is overloaded: ${message}`)
  if (status >= 500 || status === 409 || status === 425) return failing('model', message)
  if (status < 400) return failing('config', `The server redirects (HTTP ${status}).`, remedies.baseUrl)
  if (status === 404) return failing('config', message, 'Check the name of the model, and the base URL if you have set one.')
  return failing('config', message, changeRequest)
}

/** Where the request itself is at fault. */
export const changeRequest = 'Change what the provider objects to: a parameter, a tool, a message, or the model.'

const isKeyRefused = (words: string): boolean =>
  /api[_ ]key (?:not valid|expired|is invalid)|API_KEY_INVALID|invalid_api_key|incorrect api key/i.test(words)

/**
 * Providers say by a 429 both that one should wait and that the account is empty. Gemini uses the same words for both,
 * and tells them apart by the quota's name and by a time to wait.
 */
function isOutOfMoney(status: number, words: string, body: string): boolean {
  if (/insufficient_quota|billing_error|billing_hard_limit|credit balance is too low|insufficient (?:credits|balance|funds)/i.test(words))
    return true
  if (status !== 429) return false
  if (/PerDay/.test(body)) return true
  return /exceeded your (?:current|monthly) quota|\bbilling\b/i.test(words) && retryDelay(body) === undefined
}

export const tooLong = (message: string): ModelFailure => failing('context', `The request is too long for this model: ${message}`)

/** Gemini puts the time to wait into the body: `"retryDelay": "12s"`. */
function retryDelay(body: string): number | undefined {
  const seconds = /"retryDelay"\s*:\s*"(\d{1,6}(?:\.\d+)?)s"/.exec(body)?.[1]
  return seconds === undefined ? undefined : Math.round(Number(seconds) * 1000)
}

function page({ status, body }: ErrorFacts & { readonly status: number }, { baseUrl, auth }: Remedies): ModelFailure {
  const message = `The server answered with a web page (HTTP ${status}): ${JSON.stringify(pageText(body))}`
  if (status === 401 || status === 403) return failing('auth', message, auth)
  if (status === 429) return failing('rate_limit', message)
  if (status === 413) return tooLong(message)
  // Gateways put up a page while what is behind them is down; a wrong address stays wrong.
  return status >= 500 ? failing('model', message) : failing('config', message, baseUrl)
}
