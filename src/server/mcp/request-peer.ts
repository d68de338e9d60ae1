import type { AuthInfo } from '@modelcontextprotocol/server'
import type { Peer } from '../http/index.ts'

// The library passes `AuthInfo` from the HTTP request to the handlers of its messages. It carries the peer, never the token.

export const authInfoOf = (peer: Peer): AuthInfo => ({ token: '', clientId: peer.caller.principal.id, scopes: [], extra: { peer } })

export function peerOf(info: AuthInfo | undefined): Peer {
  const peer = info?.extra?.peer as Peer | undefined
  if (!peer) throw new Error('a message without a request')
  return peer
}
