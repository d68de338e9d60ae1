import type { ModelFailure } from '../../contracts/index.ts'
import { retryAfterMs } from '../../util/retry-after.ts'
import { bodyText, type ErrorFacts, isWebPage, pageText, shorten } from './error-facts.ts'
import { failing, type Remedies } from './failure.ts'

interface Reading {
  readonly facts: ErrorFacts & { readonly status: number }
  readonly said: string
  readonly remedies: Remedies
}

/** Classifies an HTTP status together with the provider's message. */
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
  // Without a known URL the status is only derived from the provider's message.
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

/** For a request that is itself invalid. */
export const changeRequest = 'Change what the provider objects to: a parameter, a tool, a message, or the model.'

const isKeyRefused = (words: string): boolean =>
  /api[_ ]key (?:not valid|expired|is invalid)|API_KEY_INVALID|invalid_api_key|incorrect api key/i.test(words)

/**
 * A 429 means either "wait" or "the account is empty". Gemini uses the same message for both, and differs in the quota's name
 * and in a time to wait.
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
  // Gateways send a page while their backend is down.
  return status >= 500 ? failing('model', message) : failing('config', message, baseUrl)
}

/**
 * Messages for a request that is too long. There is no common status; OpenAI and compatible servers use a code, the others
 * only text, some with a status of 500.
 */
const sayings: readonly RegExp[] = [
  /context_length_exceeded|string_above_max_length|request_too_large|exceed_context_size|CONTEXT_OVERFLOW/i,
  /context[_ ](?:length|window|size|limit)/i,
  /(?:prompt|input|request|length of all messages) (?:is )?too (?:long|large)/i,
  /(?:token count|input length|prompt length|input tokens?|prompt|decoder prompt)\b.{0,80}\b(?:exceeds?|longer than|must be <=?) /i,
  /maximum prompt length|too large for model|reduce the length of the (?:messages|input|prompt)/i,
  /tokens\W.{0,40}must be <=|too many (?:input |prompt )?tokens|exceeds? the (?:maximum|available) number of tokens/i,
]

/** A message about waiting is about the rate, not the length. */
const waiting = /throttl|please (?:wait|retry|try again (?:in|after))|rate.?limit/i

/** A single request above the limit for a minute: waiting does not help. */
const overItsLimit = /request too large for|tokens must be reduced in order to run/i

export function isTooLong(words: string): boolean {
  if (overItsLimit.test(words)) return true
  return sayings.some((saying) => saying.test(words)) && !waiting.test(words)
}
