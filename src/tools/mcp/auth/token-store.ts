import { createHash } from 'node:crypto'
import type { ResolvedHttp } from '../resolve-server.ts'

/** Keeps the tokens of MCP servers. The default of programs is memory; the command line has a file for each key. */
export interface McpTokenStore {
  read(key: string): Promise<McpTokenRecord | undefined>
  /**
   * Replaces a record by what `change` resolves with; `undefined` removes it. Nobody else changes the record meanwhile, also
   * in no other process that uses the store. If `change` rejects, the record stays.
   */
  change(
    key: string,
    change: (record: McpTokenRecord | undefined) => Promise<McpTokenRecord | undefined>,
  ): Promise<McpTokenRecord | undefined>
}

/** What is known about the authorization for one server. Secret. */
export interface McpTokenRecord {
  /** For people who read the file. */
  readonly server: string
  readonly url: string
  readonly grant?: TokenGrant
  /** What the server asked for when it refused a request. */
  readonly challenge?: Challenge
}

export interface TokenGrant {
  /** The authorization server: its tokens and credentials are never sent to another one. */
  readonly issuer: string
  readonly client: GrantedClient
  readonly accessToken: string
  readonly refreshToken?: string
  readonly scope?: string
  /** Milliseconds since 1970. */
  readonly expiresAt?: number
}

/** In the names of the protocol. */
export interface GrantedClient {
  readonly client_id: string
  readonly client_secret?: string
  readonly token_endpoint_auth_method?: string
}

export interface Challenge {
  readonly scope?: string
  readonly resourceMetadataUrl?: string
}

type KeyedServer = Pick<ResolvedHttp, 'name' | 'type' | 'fallsBack' | 'url' | 'auth'>

/** Another definition under the same name has another key, so that it does not get the tokens. */
export function tokenKey({ name, type, fallsBack, url, auth = { type: 'oauth' } }: KeyedServer): string {
  const client = auth.type === 'oauth' ? [auth.clientId ?? '', auth.clientMetadataUrl ?? ''] : [auth.clientId]
  return createHash('sha256')
    .update(JSON.stringify([name, fallsBack ? 'http' : type, url.href, auth.type, auth.issuer ?? '', ...client]))
    .digest('hex')
}

export function memoryTokenStore(): McpTokenStore {
  const records = new Map<string, McpTokenRecord>()
  const changes = new Map<string, Promise<unknown>>()
  return {
    read: async (key) => records.get(key),
    change: (key, change) => {
      const run = async (): Promise<McpTokenRecord | undefined> => {
        const next = await change(records.get(key))
        if (next) records.set(key, next)
        else records.delete(key)
        return next
      }
      const done = (changes.get(key) ?? Promise.resolve()).then(run, run)
      changes.set(key, done)
      return done
    },
  }
}
