import type { ModelFailure, ModelFailureClass } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { countOf, type Fields, fieldsOf, isFields, textOf } from './records.ts'
import { retryAfter } from './retry-after.ts'

/**
 * What an error that a framework has thrown says about the provider. Frameworks hand on the errors of many clients, so
 * it goes by what they have in common: a status, a code, a name. A cause is asked where the error itself does not tell.
 */
export function failureOf(thrown: unknown): ModelFailure {
  const chain = causes(thrown)
  const kind = chain.map(classOf).find((each) => each !== undefined) ?? 'model'
  const told = chain.map((error) => retryAfter(headersOf(error))).find((ms) => ms !== undefined)
  const remedy = remedies[kind]
  return {
    class: kind,
    message: shown(messageOf(thrown)),
    ...(remedy !== undefined && { remedy }),
    ...(told !== undefined && { retryAfterMs: told }),
  }
}

/** Clients put whole answers and hints for their own users into their messages. */
function shown(message: string): string {
  const line = message
    .replace(/\s*Troubleshooting URL:[\s\S]*$/, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
  if (line === '') return 'The model failed without saying why.'
  return line.length > 300 ? `${line.slice(0, 300)}…` : line
}

const remedies: { readonly [Class in ModelFailureClass]?: string } = {
  auth: 'Check the key that the model was built with, and what it may do.',
  quota: "Check the provider's plan and billing.",
  network: 'Check the network and the base URL that the model was built with.',
  config: 'Check the name and the settings that the model was built with.',
}

const byCode: { readonly [code: string]: ModelFailureClass } = {
  MODEL_AUTHENTICATION: 'auth',
  MODEL_RATE_LIMIT: 'rate_limit',
  MODEL_NOT_FOUND: 'config',
  CONTEXT_OVERFLOW: 'config',
  INVALID_PROMPT_INPUT: 'config',
  INVALID_TOOL_RESULTS: 'config',
  MESSAGE_COERCION_FAILURE: 'config',
  OUTPUT_PARSING_FAILURE: 'invalid_response',
  insufficient_quota: 'quota',
  billing_hard_limit_reached: 'quota',
  invalid_api_key: 'auth',
  rate_limit_exceeded: 'rate_limit',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
}
const byName: { readonly [name: string]: ModelFailureClass } = {
  TimeoutError: 'timeout',
  APIConnectionTimeoutError: 'timeout',
  APIConnectionError: 'network',
  FetchError: 'network',
  SyntaxError: 'invalid_response',
  ContextOverflowError: 'config',
}
const networkCode =
  /^(?:ECONN\w+|ENOTFOUND|EAI_\w+|EPIPE|EHOST\w+|ENET\w+|UND_ERR_\w+|CERT_\w+|ERR_TLS\w*|DEPTH_ZERO_\w+|SELF_SIGNED_\w+|UNABLE_TO_\w+)$/

function classOf(error: Fields): ModelFailureClass | undefined {
  const codes = [error.lc_error_code, error.code, error.type, fieldsOf(error.error).code, fieldsOf(error.error).type]
  // The provider's own word goes first: a spent quota and a full minute have the same status.
  for (const code of codes) if (typeof code === 'string' && Object.hasOwn(byCode, code)) return byCode[code]
  const status = statusOf(error)
  if (status !== undefined) return classOfWords(textOf(error.message) ?? '') ?? classOfStatus(status)
  if (codes.some((code) => typeof code === 'string' && networkCode.test(code))) return 'network'
  const name = textOf(error.name)
  if (name !== undefined && Object.hasOwn(byName, name)) return byName[name]
  // How fetch says that it did not get through, or that the connection broke in the middle.
  if (name === 'TypeError' && /^(?:fetch failed|terminated|network error)/i.test(messageOf(error))) return 'network'
  return undefined
}

/** Some providers use one status for everything that is wrong with a request. */
function classOfWords(words: string): ModelFailureClass | undefined {
  if (/credit balance is too low|insufficient (?:credits|balance|funds)/i.test(words)) return 'quota'
  return /api[_ ]key (?:not valid|expired|is invalid)|incorrect api key/i.test(words) ? 'auth' : undefined
}

function classOfStatus(status: number): ModelFailureClass | undefined {
  if (status === 401 || status === 403) return 'auth'
  if (status === 402) return 'quota'
  if (status === 429 || status === 503 || status === 529) return 'rate_limit'
  if (status === 408 || status === 504) return 'timeout'
  if (status >= 500 || status === 409 || status === 425) return 'model'
  return status >= 400 ? 'config' : undefined
}

function statusOf(error: Fields): number | undefined {
  const given = [
    error.status,
    error.statusCode,
    error.status_code,
    fieldsOf(error.response).status,
    fieldsOf(error.$metadata).httpStatusCode,
  ]
  return given.map(countOf).find((status) => status !== undefined && status >= 100 && status < 600)
}

const headersOf = (error: Fields): unknown => error.headers ?? error.responseHeaders ?? fieldsOf(error.response).headers

function causes(thrown: unknown): readonly Fields[] {
  const found: Fields[] = []
  for (let error = thrown; isFields(error) && found.length < 5; error = error.cause) found.push(error)
  return found
}
