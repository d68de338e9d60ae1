import type { IncomingHttpHeaders } from 'node:http'

// What passes the door of a message's head. Whatever speaks about one connection only stays on its side of it.

/** `expect` is answered at the door. */
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

/** They say where a message goes and where it ends, whoever calls them his own. */
const ofTheMessage = new Set(['host', 'content-length'])

/** Without those of one connection, which may name more of its kind. */
export function passedOn(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = new Set((headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase()))
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !ofOneConnection.has(name) && (!named.has(name) || ofTheMessage.has(name))),
  )
}

/** A body of unknown length is passed on in pieces; one that was wrapped up for the way can not be. */
export function framing({ 'transfer-encoding': encoding }: IncomingHttpHeaders): { readonly [name: string]: string } | undefined {
  if (encoding === undefined) return {}
  return encoding.trim().toLowerCase() === 'chunked' ? { 'transfer-encoding': 'chunked' } : undefined
}

/** Answers that end a request; everything else is no answer. */
export const isFinalStatus = (status: number | undefined): status is number => status !== undefined && status >= 200 && status <= 599
