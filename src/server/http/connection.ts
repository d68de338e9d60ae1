import type { Http2Bindings, HttpBindings } from '@hono/node-server'
import { localPrincipal } from '../../contracts/index.ts'
import { isLoopback } from '../../util/loopback.ts'
import type { Caller } from './caller.ts'

/** The connection that a request came through. */
export interface Connection {
  /** The address of the other end. */
  readonly address?: string | undefined
  /** Closes it. */
  cut(): void
}

export const connectionOf = ({ incoming, outgoing }: HttpBindings | Http2Bindings): Connection => ({
  address: incoming.socket.remoteAddress,
  cut: () => void outgoing.destroy(),
})

/** Headers that proxies add. */
const forwarding =
  /^(?:forwarded|via|x-forwarded.*|x-(?:real|client)-ip|client-ip|true-client-ip|cf-connecting-ip|x-original-(?:host|url))$/

/**
 * Whether the user of this machine sends the request from this machine: with the local token, over loopback, to a loopback address, and
 * not through a proxy. Unknown connections are not local.
 */
export function isLocalRequest({ headers }: Request, { principal }: Caller, connection: Pick<Connection, 'address'> | undefined): boolean {
  const address = connection?.address?.replace(/^::ffff:/i, '') ?? ''
  const host = (headers.get('host') ?? '').replace(/:\d+$/, '')
  return (
    principal.id === localPrincipal.id &&
    isLoopback(address) &&
    isLoopback(host) &&
    ![...headers.keys()].some((name) => forwarding.test(name))
  )
}
