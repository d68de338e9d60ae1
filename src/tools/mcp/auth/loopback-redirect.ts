import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { configFailure } from '../mcp-failure.ts'

/** Waits on a loopback address for the browser of a person who logs in. */
interface LoopbackRedirect {
  readonly url: string
  readonly returned: Promise<ReturnedBrowser>
  close(): void
}

interface ReturnedBrowser {
  readonly url: URL
  /** Shows a page. */
  answer(isDone: boolean): void
}

const host = '127.0.0.1'
const path = '/callback'

/** Takes the first request that has `state`, and no other: any program on this machine can send requests. */
export async function listenForRedirect(state: string, port = 0): Promise<LoopbackRedirect> {
  let resolveReturned: (browser: ReturnedBrowser) => void = () => {}
  const returned = new Promise<ReturnedBrowser>((resolve) => {
    resolveReturned = resolve
  })
  let isTaken = false
  const server = createServer({ maxHeaderSize: 32 * 1024, requestTimeout: 10_000 }, (request, response) => {
    const url = URL.parse(request.url ?? '', redirectUrl)
    // Another name for this address is a page of a website that had it resolved to this machine.
    const isOurs = request.headers.host === new URL(redirectUrl).host && request.method === 'GET' && url?.pathname === path
    if (!url || !isOurs || isTaken || url.searchParams.get('state') !== state) return showPage(response, 404, 'Not found')
    isTaken = true
    resolveReturned({
      url,
      answer: (isDone) =>
        showPage(
          response,
          isDone ? 200 : 400,
          isDone ? 'You are logged in. You can close this window.' : 'The login failed. The reason is shown in the terminal.',
        ),
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(configFailure(`Port ${port} of ${host} cannot be used for the login (${error.code})`, 'Set another `auth.redirectPort`.')),
    )
    server.listen(port, host, resolve)
  })
  const redirectUrl = `http://${host}:${(server.address() as AddressInfo).port}${path}`
  return {
    url: redirectUrl,
    returned,
    // A page that is being sent still arrives.
    close: () => {
      server.close()
      server.closeIdleConnections()
    },
  }
}

/** Nothing of the request is repeated. */
function showPage(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    connection: 'close',
  })
  response.end(`<!doctype html><title>Troupe</title><p>${text}</p>`)
}
