import type { Readable, Writable } from 'node:stream'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { localPrincipal, type SessionService } from '../../contracts/index.ts'
import { type Caller, type Peer, scopedSessions, scopes } from '../http/index.ts'
import { agentServer } from './agent-server.ts'
import { defaultMaxBodyBytes, type McpDependencies } from './dependencies.ts'
import { serveConnection } from './serve-connection.ts'

interface StdioServed {
  /** The client has left. */
  readonly closed: Promise<void>
  close(): Promise<void>
}

/** One client over standard input and output: the user of this machine. */
export function serveStdio(
  { service, ...dependencies }: McpDependencies & { readonly service: SessionService },
  stdin: Readable,
  stdout: Writable,
): StdioServed {
  const caller: Caller = { principal: localPrincipal, scopes }
  const peer: Peer = {
    caller,
    sessions: scopedSessions(service, caller),
    shown: (document) => document,
    concerns() {},
    admit: async () => ({ release() {} }),
    openStream: () => ({ holds() {}, close() {} }),
  }
  const ended = Promise.withResolvers<void>()
  const { close } = serveConnection(dependencies, (connection) => agentServer(dependencies, connection), {
    transport: new StdioServerTransport(stdin, stdout, { maxBufferSize: dependencies.maxBodyBytes ?? defaultMaxBodyBytes }),
    caller,
    peer: () => peer,
    closed: ended.resolve,
  })
  return { closed: ended.promise, close }
}
