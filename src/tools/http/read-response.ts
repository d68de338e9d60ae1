import type { Json, ToolFailure, ToolOutput } from '../../contracts/index.ts'
import { parseExact } from '../../util/inexact-number.ts'
import { parseJsonPath, selectJson } from '../../util/json-path.ts'
import { decodeContent } from '../builtin/web-fetch/read-body.ts'
import { binaryNote, markUntrusted, showErrorPage, showPage } from '../builtin/web-fetch/show-page.ts'
import type { HttpResponse } from './send.ts'

/** A page of JSON. */
export type PageResult =
  | { readonly ok: true; readonly value: Json; readonly bytes: number; readonly headers: HttpResponse['headers'] }
  | { readonly ok: false; readonly failure: ToolFailure; readonly partial?: string; readonly isTooLong?: true }

const errorCharacters = 1_000

/** The response as JSON. Fails for an error status, for a body that is too long, and for anything else. */
export async function readJson(response: HttpResponse, maxBytes: number): Promise<PageResult> {
  const { status, url, body, contentType, headers } = response
  const beginning = await beginningOf(response)
  const failed = (failure: ToolFailure): PageResult => ({ ok: false, failure, ...(beginning !== undefined && { partial: beginning }) })
  if (status >= 400) return failed(statusFailure(response))
  if (body?.isCut) return { ...tooLong(url, maxBytes), ...(beginning !== undefined && { partial: beginning }) }
  try {
    const value = parseExact(body ? decodeContent(body.bytes, contentType).text : '') as Json
    return { ok: true, value, bytes: body?.bytes.length ?? 0, headers }
  } catch {
    const type = contentType.type === '' ? '' : ` but ${contentType.type}`
    return failed({ class: 'failed', message: `The response of ${url.host} is not JSON${type}.`, remedy: 'Check the arguments.' })
  }
}

const tooLong = (url: URL, maxBytes: number): Extract<PageResult, { ok: false }> => ({
  ok: false,
  isTooLong: true,
  failure: {
    class: 'failed',
    message: `The response of ${url.host} is longer than ${maxBytes} bytes.`,
    remedy: 'Ask for less, for example with a filter.',
  },
})

const beginningOf = async (response: HttpResponse): Promise<string | undefined> =>
  response.body && showErrorPage({ ...response, body: response.body }, errorCharacters)

/** The part of a response that `result` selects. */
export async function showSelected(response: HttpResponse, result: string, maxBytes: number): Promise<ToolOutput> {
  const page = await readJson(response, maxBytes)
  if (!page.ok) return { ok: false, error: page.failure, ...(page.partial !== undefined && { partial: page.partial }) }
  const value = selectJson(page.value, parseJsonPath(result) ?? [])
  if (value !== undefined) return { ok: true, content: showValue(value), value }
  const partial = await beginningOf(response)
  const error: ToolFailure = { class: 'failed', message: `The response has nothing at \`${result}\`.`, remedy: 'Check the arguments.' }
  return { ok: false, error, ...(partial !== undefined && { partial }) }
}

export const showValue = (value: Json): string => markUntrusted(JSON.stringify(value))

/** The whole response: JSON and text as sent, HTML as Markdown. */
export async function showResponse(response: HttpResponse): Promise<ToolOutput> {
  const { status, url, body, contentType, headers } = response
  if (status >= 400) {
    const partial = await beginningOf(response)
    return { ok: false, error: statusFailure(response), ...(partial !== undefined && { partial }) }
  }
  if (!body) return { ok: true, content: binaryNote(url, contentType, headers['content-length']) }
  if (body.bytes.length === 0) return { ok: true, content: `${url.href} (${status})\n${withoutBody(headers)}` }
  const value = body.isCut || !/[/+]json$/.test(contentType.type) ? undefined : parsed(decodeContent(body.bytes, contentType).text)
  const content = (await showPage({ ...response, body }, 'markdown')).replace('Set maxBytes to read more.', 'Ask for less.')
  return { ok: true, content, ...(value !== undefined && { value }) }
}

function parsed(text: string): Json | undefined {
  try {
    return parseExact(text) as Json
  } catch {
    return undefined
  }
}

const shownHeaders = ['content-type', 'content-length', 'last-modified', 'etag', 'location', 'x-total-count']

function withoutBody(headers: HttpResponse['headers']): string {
  const lines = shownHeaders.flatMap((name) => (headers[name] === undefined ? [] : [`${name}: ${String(headers[name]).slice(0, 500)}`]))
  return ['The response has no body.', ...lines].join('\n')
}

function statusFailure({ status, url: { host }, headers }: HttpResponse): ToolFailure {
  const message = `${host} answered with status ${status}.`
  if (status === 401 || status === 403)
    return { class: 'auth', message, remedy: 'The credentials of this tool are missing or not sufficient. Tell the user.' }
  const seconds = /^\d{1,6}$/.exec(headers['retry-after'] ?? '')?.[0]
  if (status === 429 || status >= 500)
    return { class: 'failed', message, remedy: seconds === undefined ? 'Try again later.' : `Try again after ${seconds} seconds.` }
  return { class: 'failed', message, remedy: 'Check the arguments.' }
}
