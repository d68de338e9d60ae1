import type { IncomingHttpHeaders } from 'node:http'

// Which headers the proxy forwards: not those that concern one connection only.

/** The proxy itself answers `expect`. */
const ofOneConnection = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-authentication-info',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** They belong to the message, even where a `connection` header names them. */
const ofTheMessage = new Set(['host', 'content-length'])

/** Without those of one connection; its `connection` header may name more of them. */
export function passedOn(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = new Set((headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase()))
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !ofOneConnection.has(name) && (!named.has(name) || ofTheMessage.has(name))),
  )
}

/** How a body is forwarded; nothing for an encoding that the proxy does not know. */
export function framing({ 'transfer-encoding': encoding }: IncomingHttpHeaders): { readonly [name: string]: string } | undefined {
  if (encoding === undefined) return {}
  return encoding.trim().toLowerCase() === 'chunked' ? { 'transfer-encoding': 'chunked' } : undefined
}

/** Statuses that end a request. */
export const isFinalStatus = (status: number | undefined): status is number => status !== undefined && status >= 200 && status <= 599
