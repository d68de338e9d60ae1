import type { ModelFailure } from '../../contracts/index.ts'
import { type ErrorFacts, shorten } from './error-facts.ts'
import { failing, type Remedies } from './failure.ts'

/** Why there was no response, or no complete one; `undefined` for other errors. */
export function networkFailure(facts: ErrorFacts, remedies: Remedies): ModelFailure | undefined {
  const { networkCode: code = '' } = facts
  const message = facts.message.replace(/^cannot connect to api: /i, '')
  const where = facts.origin ?? 'the provider'
  const subject = facts.origin ?? 'The provider'
  if (code === 'ECONNREFUSED') return unsent(`Nothing answers at ${where} (ECONNREFUSED).`, remedies.network)
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'EAI_FAIL')
    return unsent(`The name of ${where} cannot be resolved (${code}).`, withBaseUrl('Check the network.', remedies))
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH' || code === 'EADDRNOTAVAIL')
    return unsent(`No route to ${where} (${code}).`, 'Check the network.')
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return unsent(`${subject} cannot be reached in time (${code}).`, remedies.network)
  if (code === 'ETIMEDOUT') return network(`${subject} cannot be reached in time (${code}).`, remedies.network)
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT')
    return failing('timeout', `${subject} stopped responding (${code}).`)
  if (
    /wrong.version.number|packet length too long|http request/i.test(`${code} ${message}`) &&
    /SSL|TLS|EPROTO/i.test(`${code} ${message}`)
  )
    return unsent(`${subject} does not speak TLS.`, withBaseUrl('If it has none, its address begins with http:.', remedies))
  if (/CERT|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH/.test(code))
    return unsent(
      `The certificate of ${where} is not trusted (${code}).`,
      'Check the base URL and the clock; name the certificate of your own authority in NODE_EXTRA_CA_CERTS.',
    )
  if (/SSL|TLS|EPROTO/.test(code)) return network(`No secure connection to ${where} (${code}): ${shorten(message)}`, remedies.baseUrl)
  if (/^(?:ECONNRESET|EPIPE|ECONNABORTED|UND_ERR_SOCKET|UND_ERR_ABORTED|ERR_STREAM_PREMATURE_CLOSE)$/.test(code) || isBroken(message))
    return network(`The connection to ${where} was closed before the answer was complete${code === '' ? '' : ` (${code})`}.`, tryAgain)
  if (code.startsWith('HPE_') || /does not match the HTTP/i.test(message))
    return network(`The server at ${where} does not speak HTTP.`, remedies.baseUrl)
  if (code === 'ERR_INVALID_URL' || /invalid url|failed to parse url|bad port|unknown scheme/i.test(message))
    return failing('config', `The base URL cannot be used: ${shorten(message)}`, remedies.baseUrl)
  if (code !== '' || /fetch failed|^network error|cannot connect to api/i.test(facts.message))
    return network(message === '' ? `There is no connection to ${where} (${code}).` : shorten(message), remedies.network)
  return undefined
}

const isBroken = (message: string): boolean => /^terminated$|other side closed|socket hang up|premature close/i.test(message)

const tryAgain = 'Try again. If it fails again, check the network and any proxy.'

/** The stream ended without a finish reason. */
export const cutOff: ModelFailure = failing('network', 'The stream ended before the reply was complete.', tryAgain)

const network = (message: string, remedy?: string): ModelFailure => failing('network', message, remedy)

/** There was no connection, so the request was not sent. */
const unsent = (message: string, remedy?: string): ModelFailure => ({ ...network(message, remedy), unsent: true })

const withBaseUrl = (advice: string, { baseUrl }: Remedies): string => (baseUrl === undefined ? advice : `${advice} ${baseUrl}`)
