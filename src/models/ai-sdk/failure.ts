import type { ModelFailure, ModelFailureClass } from '../../contracts/index.ts'
import { type ErrorFacts, factsOf, hiddenCause } from './error-facts.ts'
import { isWebPage, pageText, shorten } from './error-text.ts'
import { FailureError } from './failure-error.ts'
import { httpFailure } from './http-failure.ts'
import { cutOff, networkFailure } from './network-failure.ts'
import { changeRequest, type Remedies, waitOrFallBack } from './remedies.ts'

export interface FailureRules {
  readonly remedies: Remedies
  /** Taken out of every message. */
  readonly secrets: readonly string[]
  now(): number
}

/** Which class of failure an error is, and what to do about it. Never shows a key. */
export function failureOf(error: unknown, rules: FailureRules): ModelFailure {
  const failure = classify(error, rules)
  const { remedy, ...rest } = failure
  const told = { ...rest, message: withoutSecrets(shorten(failure.message), rules.secrets) }
  return remedy === undefined ? told : { ...told, remedy: withoutSecrets(remedy, rules.secrets) }
}

function classify(error: unknown, rules: FailureRules): ModelFailure {
  if (error instanceof FailureError) return error.failure
  const facts = withoutKeys(factsOf(error), rules.secrets)
  // Says the header's value, that is, the key.
  if (/invalid header value|invalid character in header|bytestring/i.test(facts.message)) {
    return {
      class: 'auth',
      message: 'The key or a header has a character that no HTTP header can carry.',
      remedy: `Look for line breaks and typographic characters. ${rules.remedies.auth}`,
    }
  }
  const hidden = hiddenCause(error)
  const network = networkFailure(facts, rules.remedies)
  if (network && (facts.status === undefined || facts.status < 300)) return network
  if (hidden !== undefined) return classify(hidden, rules)
  if (facts.status !== undefined) return httpFailure({ ...facts, status: facts.status }, rules.remedies, rules.now)
  return byName(facts, rules.remedies)
}

/** Before anything is cut short: half a key is a secret too. */
const withoutKeys = (facts: ErrorFacts, secrets: readonly string[]): ErrorFacts => ({
  ...facts,
  message: withoutSecrets(facts.message, secrets),
  body: withoutSecrets(facts.body, secrets),
})

function byName({ name, message }: ErrorFacts, remedies: Remedies): ModelFailure {
  const kind = classByName.get(name)
  if (kind === 'auth') return { class: 'auth', message, remedy: remedies.auth }
  if (kind === 'invalid_response' || /expected a normalized .* stream error/i.test(message)) return unreadable(name, message, remedies)
  const told = message === '' ? 'The provider failed without saying why.' : message
  return kind === 'config'
    ? { class: kind, message: told, remedy: changeRequest }
    : { class: kind ?? 'model', message: told, remedy: waitOrFallBack }
}

const classByName = new Map<string, ModelFailureClass>([
  ['AI_LoadAPIKeyError', 'auth'],
  ['AI_LoadSettingError', 'config'],
  ['AI_InvalidArgumentError', 'config'],
  ['AI_InvalidPromptError', 'config'],
  ['AI_NoSuchModelError', 'config'],
  ['AI_NoSuchProviderReferenceError', 'config'],
  ['AI_UnsupportedFunctionalityError', 'config'],
  ['AI_UnsupportedModelVersionError', 'config'],
  ['AI_EmptyResponseBodyError', 'invalid_response'],
  ['AI_InvalidResponseDataError', 'invalid_response'],
  ['AI_JSONParseError', 'invalid_response'],
  ['AI_NoContentGeneratedError', 'invalid_response'],
  ['AI_TypeValidationError', 'invalid_response'],
  ['TimeoutError', 'timeout'],
])

function unreadable(name: string, message: string, { baseUrl }: Remedies): ModelFailure {
  if (/ended without a finish reason/i.test(message)) return cutOff
  if (name === 'AI_EmptyResponseBodyError')
    return { class: 'invalid_response', message: 'The server answered with nothing at all.', remedy: baseUrl }
  const value = /(?:Text|Value): ([\s\S]*?)\.?\s*(?:Error message:|$)/.exec(message)?.[1]
  if (value === undefined) return { class: 'invalid_response', message: `The answer cannot be read: ${message}`, remedy: waitOrFallBack }
  const beginning = isWebPage(value) ? pageText(value) : shorten(value, 120)
  return { class: 'invalid_response', message: `The answer is not what this provider's answers look like: ${beginning}`, remedy: baseUrl }
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.filter((secret) => secret.length >= 6).reduce((told, secret) => told.replaceAll(secret, '[key]'), text)
}
