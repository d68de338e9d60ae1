import type { Clock } from '../../contracts/index.ts'
import { bodyText, FailureError, failing, isWebPage, pageText, type Remedies, shorten } from '../failures/index.ts'
import { type BodyReader, boundedEvents, cancelReader, readBeginning } from './bounded-body.ts'
import type { EndMark } from './end-mark.ts'

interface FetchRules {
  readonly remedies: Remedies
  readonly clock: Clock
  readonly endMark?: EndMark | undefined
}

/**
 * The `fetch` that provider packages get.
 *
 * 1. It does not follow redirects: the key would be sent to another server.
 * 2. It buffers a limited amount: neither endless events nor endless error pages.
 * 3. A response that is not an event stream fails here, with its beginning in the message.
 * 4. The status alone decides, even if the body of an error never arrives.
 */
export function guardedFetch(send: typeof fetch, rules: FetchRules): typeof fetch {
  return async (input, init) => {
    const response = await send(input, { ...init, redirect: 'manual' })
    if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
      response.body?.cancel().catch(() => {})
      throw redirectFailure(response, rules.remedies)
    }
    if (!response.body) return response
    const reader = response.body.getReader()
    if (!response.ok) return failed(response, await readBeginning(reader, { clock: rules.clock, ...errorLimits }))
    return new Response(await eventsIn(reader, response.headers.get('content-type'), rules), response)
  }
}

/** Limits for reading the body of an error. */
const errorLimits = { maxBytes: 64 * 1024, timeoutMs: 2000 }

/** `Response` refuses a status above 599, but servers send such. */
function failed({ status, statusText, headers }: Response, beginning: Uint8Array<ArrayBuffer>): Response {
  const response = new Response(beginning, { status: Math.min(status, 599), statusText, headers })
  return status === response.status ? response : Object.defineProperty(response, 'status', { value: status })
}

function redirectFailure({ headers, status }: Response, { baseUrl }: Remedies): FailureError {
  const target = URL.parse(headers.get('location') ?? '')
  const where = target ? ` to ${target.origin}${target.pathname}` : ''
  const message = `The server redirects (HTTP ${status})${where}. Troupe does not follow it: the key would be sent there, too.`
  return new FailureError(failing('config', message, baseUrl))
}

const sniffLength = 2000

/** Some servers send a page with the content type of events. */
async function eventsIn(reader: BodyReader, type: string | null, rules: FetchRules): Promise<ReadableStream<Uint8Array>> {
  if (type !== null && !/event-stream/i.test(type)) return misnamedEvents(reader, type, rules)
  const { value } = await reader.read()
  const first = value ? [value] : []
  const beginning = new TextDecoder().decode(value?.subarray(0, sniffLength))
  if (!beginning.trimStart().startsWith('<')) return boundedEvents(reader, { ...rules, first })
  const rest = await readBeginning(reader, { clock: rules.clock, maxBytes: sniffLength, timeoutMs: errorLimits.timeoutMs })
  throw notEvents(beginning + new TextDecoder().decode(rest), type ?? 'something else', rules.remedies)
}

/** Some servers send events with a wrong content type. They are accepted. */
async function misnamedEvents(reader: BodyReader, type: string, rules: FetchRules): Promise<ReadableStream<Uint8Array>> {
  const chunks: Uint8Array[] = []
  const decoder = new TextDecoder()
  let beginning = ''
  while (beginning.length < sniffLength) {
    const { done, value } = await reader.read()
    if (done) break
    chunks.push(value)
    beginning += decoder.decode(value, { stream: true })
    if (looksLikeEvents.test(beginning)) return boundedEvents(reader, { ...rules, first: chunks })
  }
  cancelReader(reader)
  throw notEvents(beginning, type, rules.remedies)
}

const looksLikeEvents = /^\s*(?:data|event|id|retry)?:/

function notEvents(beginning: string, type: string, { baseUrl }: Remedies): FailureError {
  const isPage = isWebPage(beginning)
  const said = isPage ? pageText(beginning) : shorten(bodyText(beginning) ?? beginning, 120)
  const kind = isPage ? 'a web page' : type.split(';')[0]
  const shown = said === '' ? '' : `: ${JSON.stringify(said)}`
  const message = `The server answered with ${kind} instead of a stream of events${shown}`
  return new FailureError(failing('invalid_response', message, baseUrl))
}
