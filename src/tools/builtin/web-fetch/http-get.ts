import { type IncomingMessage, request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import type { LookupFunction } from 'node:net'

const headers = {
  accept: 'text/markdown, text/html;q=0.9, text/plain;q=0.9, application/json;q=0.9, */*;q=0.1',
  'accept-encoding': 'gzip, br, zstd',
  'user-agent': 'Troupe (web_fetch)',
}

export interface HttpGetOptions {
  readonly lookup: LookupFunction
  readonly signal: AbortSignal
}

/** Asks once, and answers as soon as the head of the answer is there. No cookies, no keys, no connection that is kept. */
export function httpGet(url: URL, { lookup, signal }: HttpGetOptions): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? secureRequest : plainRequest)(url, {
      method: 'GET',
      headers,
      agent: false,
      lookup,
      signal,
    })
    request.on('response', resolve)
    request.on('upgrade', (_message, socket) => {
      socket.destroy()
      reject(new Error('the server wants another protocol'))
    })
    request.on('error', reject)
    request.end()
  })
}
