import type { ModelFailure } from '../../contracts/index.ts'
import type { ErrorFacts } from './error-facts.ts'
import { shorten } from './error-text.ts'
import { type Remedies, waitOrFallBack } from './remedies.ts'

/** Why no answer came, or none to the end. Nothing where the error is of another kind. */
export function networkFailure(facts: ErrorFacts, remedies: Remedies): ModelFailure | undefined {
  const { networkCode: code = '' } = facts
  const message = facts.message.replace(/^cannot connect to api: /i, '')
  const where = facts.origin ?? 'the provider'
  if (code === 'ECONNREFUSED') return network(`Nothing answers at ${where} (ECONNREFUSED).`, remedies.network)
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'EAI_FAIL')
    return network(`The name of ${where} cannot be resolved (${code}).`, `Check the network. ${remedies.baseUrl}`)
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH' || code === 'EADDRNOTAVAIL')
    return network(`There is no way to ${where} (${code}).`, 'Check the network.')
  if (code === 'ETIMEDOUT' || code === 'UND_ERR_CONNECT_TIMEOUT')
    return network(`${where} cannot be reached in time (${code}).`, remedies.network)
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT')
    return { class: 'timeout', message: `${where} has fallen silent (${code}).`, remedy: waitOrFallBack }
  if (
    /wrong.version.number|packet length too long|http request/i.test(`${code} ${message}`) &&
    /SSL|TLS|EPROTO/i.test(`${code} ${message}`)
  )
    return network(`${where} does not speak TLS.`, `If it has none, its address begins with http:. ${remedies.baseUrl}`)
  if (/CERT|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH/.test(code))
    return network(
      `The certificate of ${where} is not trusted (${code}).`,
      'Check the base URL and the clock; name the certificate of your own authority in NODE_EXTRA_CA_CERTS.',
    )
  if (/SSL|TLS|EPROTO/.test(code)) return network(`No secure connection to ${where} (${code}): ${shorten(message)}`, remedies.baseUrl)
  if (/^(?:ECONNRESET|EPIPE|ECONNABORTED|UND_ERR_SOCKET|UND_ERR_ABORTED|ERR_STREAM_PREMATURE_CLOSE)$/.test(code) || isBroken(message))
    return network(`The connection to ${where} was closed before the answer was whole${code === '' ? '' : ` (${code})`}.`, tryAgain)
  if (code.startsWith('HPE_') || /does not match the HTTP/i.test(message))
    return network(`What answers at ${where} does not speak HTTP.`, remedies.baseUrl)
  if (code === 'ERR_INVALID_URL' || /invalid url|failed to parse url|bad port|unknown scheme/i.test(message))
    return { class: 'config', message: `The base URL cannot be used: ${shorten(message)}`, remedy: remedies.baseUrl }
  if (code.startsWith('UND_ERR') || /fetch failed|cannot connect to api/i.test(facts.message))
    return network(shorten(message), remedies.network)
  return undefined
}

const isBroken = (message: string): boolean => /^terminated$|other side closed|socket hang up|premature close/i.test(message)

const tryAgain = 'Try again; if it happens again, check the network and what stands between here and there.'

/** The stream has ended, and nothing says that the reply has. */
export const cutOff: ModelFailure = { class: 'network', message: 'The stream ended before the reply was whole.', remedy: tryAgain }

const network = (message: string, remedy: string): ModelFailure => ({ class: 'network', message, remedy })
