import { type IncomingMessage, request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import type { LookupFunction } from 'node:net'

interface OutgoingRequest {
  readonly method: string
  readonly headers: { readonly [name: string]: string }
  readonly body?: string
}

/** Sends one request and resolves with the response headers. No cookies, no connection reuse. */
export function sendRequest(
  url: URL,
  { method, headers, body }: OutgoingRequest,
  { lookup, signal }: { readonly lookup: LookupFunction; readonly signal: AbortSignal },
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? secureRequest : plainRequest)(url, { method, headers, agent: false, lookup, signal })
    request.on('response', resolve)
    request.on('upgrade', (_message, socket) => {
      socket.destroy()
      reject(new Error('the server wants another protocol'))
    })
    request.on('error', reject)
    request.end(body)
  })
}
