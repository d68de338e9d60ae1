import { bodyText, FailureError, isWebPage, pageText, type Remedies, shorten } from '../ai-sdk/index.ts'
import { beginningOf, boundedEvents } from './bounded-body.ts'

/**
 * `fetch` between a provider's package and the world.
 *
 * 1. It keeps to its address: a redirect would carry the key to wherever it points.
 * 2. Nothing without an end is gathered: neither an event nor the page of an error.
 * 3. An answer that is no stream of events is told apart here, where its beginning can still be seen.
 */
export function guardedFetch(send: typeof fetch, remedies: Remedies): typeof fetch {
  return async (input, init) => {
    const response = await send(input, { ...init, redirect: 'manual' })
    if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
      response.body?.cancel().catch(() => {})
      throw redirected(response, remedies)
    }
    if (!response.body) return response
    const reader = response.body.getReader()
    if (!response.ok) return new Response(await beginningOf(reader, longestError), headOf(response))
    return new Response(await eventsIn(reader, response.headers.get('content-type'), remedies), headOf(response))
  }
}

const longestError = 64 * 1024

/** `Response` itself refuses a status beyond 599, which a server may well send. */
const headOf = ({ status, statusText, headers }: Response): ResponseInit => ({ status: Math.min(status, 599), statusText, headers })

function redirected({ headers, status }: Response, { baseUrl }: Remedies): FailureError {
  const target = URL.parse(headers.get('location') ?? '')
  const where = target ? ` to ${target.origin}${target.pathname}` : ''
  return new FailureError({
    class: 'config',
    message: `The server redirects (HTTP ${status})${where}. That is not followed: the key would go there too.`,
    remedy: baseUrl,
  })
}

const sniffed = 2000

/** Some servers send events under a wrong name; they are taken as they are. */
async function eventsIn(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  type: string | null,
  remedies: Remedies,
): Promise<ReadableStream<Uint8Array>> {
  if (type === null || /event-stream/i.test(type)) return boundedEvents(reader)
  const chunks: Uint8Array[] = []
  const decoder = new TextDecoder()
  let beginning = ''
  while (beginning.length < sniffed) {
    const { done, value } = await reader.read()
    if (done) break
    chunks.push(value)
    beginning += decoder.decode(value, { stream: true })
    if (looksLikeEvents.test(beginning)) return boundedEvents(reader, chunks)
  }
  reader.cancel().catch(() => {})
  throw notEvents(beginning, type, remedies)
}

const looksLikeEvents = /^\s*(?:data|event|id|retry)?:/

function notEvents(beginning: string, type: string, { baseUrl }: Remedies): FailureError {
  const isPage = isWebPage(beginning)
  const said = isPage ? pageText(beginning) : shorten(bodyText(beginning) ?? beginning, 120)
  const kind = isPage ? 'a web page' : type.split(';')[0]
  const shown = said === '' ? '' : `: ${JSON.stringify(said)}`
  const message = `The server answered with ${kind} instead of a stream of events${shown}`
  return new FailureError({ class: 'invalid_response', message, remedy: baseUrl })
}
