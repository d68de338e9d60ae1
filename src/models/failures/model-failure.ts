import type { ModelFailure, ModelFailureClass } from '../../contracts/index.ts'
import { type ErrorFacts, isWebPage, pageText, readError, shorten } from './error-facts.ts'
import { failing, type Remedies } from './failure.ts'
import { changeRequest, httpFailure, isTooLong, tooLong } from './http-failure.ts'
import { cutOff, networkFailure } from './network-failure.ts'

/** The errors of a framework by name or code, for errors without a status or network code. */
export type ErrorNames = { readonly [name: string]: ModelFailureClass }

export interface FailureRules {
  readonly remedies?: Remedies
  /** Removed from every message. */
  readonly secrets?: readonly string[]
  readonly names?: ErrorNames
  /** The wall time in milliseconds, for `Retry-After` dates. Default: the system clock. */
  readonly now?: () => number
}

/** Classifies an error, with a remedy if one is known. Never shows a key. */
export function modelFailure(error: unknown, rules: FailureRules = {}): ModelFailure {
  const { secrets = [] } = rules
  const { remedy, ...rest } = classify(error, rules)
  const failure = { ...rest, message: withoutSecrets(shorten(rest.message), secrets) }
  return remedy === undefined ? failure : { ...failure, remedy: withoutSecrets(remedy, secrets) }
}

function classify(error: unknown, rules: FailureRules): ModelFailure {
  try {
    return classifyFacts(error, rules)
  } catch {
    // Getters of foreign errors may throw.
    return failing('model', noMessage)
  }
}

const noMessage = 'The provider failed without an error message.'

function classifyFacts(error: unknown, rules: FailureRules): ModelFailure {
  const { remedies = {}, secrets = [], names = {}, now = Date.now } = rules
  const facts = withoutKeys(readError(error), secrets)
  if (facts.own) return facts.own.failure
  // The message contains the value of the header: the key.
  if (/invalid header value|invalid character in header|bytestring/i.test(facts.message)) {
    const remedy = ['Check it for line breaks and typographic characters.', remedies.auth].filter((text) => text !== undefined).join(' ')
    return failing('auth', 'The key or a header contains a character that is not valid in an HTTP header.', remedy)
  }
  if (facts.status !== undefined) return httpFailure({ ...facts, status: facts.status }, remedies, now)
  return networkFailure(facts, remedies) ?? byName(facts, remedies, { ...commonNames, ...names })
}

/** Before texts are shortened: half a key is a secret, too. */
const withoutKeys = (facts: ErrorFacts, secrets: readonly string[]): ErrorFacts => ({
  ...facts,
  message: withoutSecrets(facts.message, secrets),
  body: withoutSecrets(facts.body, secrets),
})

/** Errors of the platform and of common HTTP clients. */
const commonNames: ErrorNames = {
  TimeoutError: 'timeout',
  APIConnectionTimeoutError: 'timeout',
  APIConnectionError: 'network',
  FetchError: 'network',
  SyntaxError: 'invalid_response',
}

function byName({ names, kinds, message }: ErrorFacts, remedies: Remedies, known: ErrorNames): ModelFailure {
  const name = [...names, ...kinds].find((each) => Object.hasOwn(known, each))
  const kind = name === undefined ? undefined : known[name]
  const text = message === '' ? noMessage : message
  if (isTooLong([...names, ...kinds, message].join(' '))) return tooLong(text)
  if (kind === 'invalid_response' || /expected a normalized .* stream error/i.test(message)) return unreadable(name, text, remedies)
  const better: { readonly [Class in ModelFailureClass]?: string | undefined } = { ...remedies, config: changeRequest }
  return failing(kind ?? 'model', text, better[kind ?? 'model'])
}

function unreadable(name: string | undefined, message: string, { baseUrl }: Remedies): ModelFailure {
  if (/ended without a finish reason/i.test(message)) return cutOff
  if (name === 'AI_EmptyResponseBodyError') return failing('invalid_response', 'The response of the server is empty.', baseUrl)
  const value = /(?:Text|Value): ([\s\S]*?)\.?\s*(?:Error message:|$)/.exec(message)?.[1]
  if (value === undefined) return failing('invalid_response', `The response cannot be read: ${message}`)
  const beginning = isWebPage(value) ? pageText(value) : shorten(value, 120)
  return failing('invalid_response', `The response does not have the format of this provider: ${beginning}`, baseUrl)
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.filter((secret) => secret.length >= 6).reduce((shown, secret) => shown.replaceAll(secret, '[key]'), text)
}
