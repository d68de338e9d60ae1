// Why a server refuses a request (HTTP 403). Its texts are untrusted: one short line of them is shown, without tokens and markup.
import type { FetchLike, Transport } from '@modelcontextprotocol/client'
import { isRecord } from '../../util/is-record.ts'
import { oneLine } from '../../util/one-line.ts'
import { cutText, wellFormed } from '../../util/well-formed.ts'

const maxCharacters = 300
const maxRead = 20_000

/** The explanation in the body of a response, or in a text. Empty if there is none. */
export function explanationIn(body: string): string {
  const text = oneLine(wellFormed(messageIn(body))).replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '')
  return text.length > maxCharacters ? `${cutText(text, maxCharacters).trimEnd()}…` : text
}

function messageIn(body: string): string {
  const json = parsed(body)
  if (json === undefined) return withoutMarkup(body.slice(0, maxRead))
  if (typeof json === 'string') return json
  const { error_description: description, error, message, detail, title } = (isRecord(json) ? json : {}) as Fields
  const nested = (isRecord(error) ? error : {}) as Fields
  const texts = [description, nested.message, message, detail, error, title]
  return (texts.find((text) => typeof text === 'string' && text.trim() !== '') as string | undefined) ?? ''
}

type Fields = { readonly [name: string]: unknown }

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

const withoutMarkup = (text: string): string =>
  /^\s*</.test(text) ? text.replaceAll(/<(script|style)\b[\s\S]*?(?:<\/\1>|$)/gi, ' ').replaceAll(/<[^>]*>?/g, ' ') : text

interface RefusalOptions {
  redact(text: string): string
  onRefused(explanation: string): void
}

/** Refusals have the explanation alone as their body. */
export function explainRefusals(fetch: FetchLike, { redact, onRefused }: RefusalOptions): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init)
    if (response.status !== 403) return response
    const headers = new Headers(response.headers)
    const challenge = headers.get('www-authenticate')
    if (challenge !== null) headers.set('www-authenticate', redact(challenge))
    const said = /error_description="([^"]*)"/.exec(challenge ?? '')?.[1] ?? ''
    // Redacted before it is cut.
    const explanation = explanationIn(redact(await response.text())) || explanationIn(redact(said))
    onRefused(explanation)
    const explained = new Response(explanation, { status: 403, statusText: response.statusText, headers })
    return Object.defineProperty(explained, 'url', { value: response.url })
  }
}

/** The library does not read the body of a stream that is refused. */
export function explainStart(transport: Transport, explanation: () => string): void {
  const start = transport.start.bind(transport)
  transport.start = () =>
    start().catch((error: unknown) => {
      throw isRecord(error) || error instanceof Error ? Object.assign(error, { data: { text: explanation() } }) : error
    })
}
