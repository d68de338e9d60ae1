// The connections of a program.
//
// 1. A connection belongs to one session with its children, or with `share: process` to all sessions with the same key.
// 2. It is closed when its last user releases it.
// 3. At most one connection for each key is started ahead. It has never been used, and is closed if nobody takes it.
import type { SessionId } from '../../contracts/index.ts'
import { RecentSet } from '../../util/recent-set.ts'
import { McpConnection } from './mcp-connection.ts'
import type { McpHost } from './mcp-host.ts'
import { spareIdleMs } from './mcp-limits.ts'
import type { ResolvedServer } from './resolve-server.ts'

export interface HeldConnection {
  readonly connection: McpConnection
  release(): Promise<void>
}

interface Shared {
  readonly connection: McpConnection
  users: number
}

interface Spare {
  readonly connection: McpConnection
  readonly cancelExpiry: () => void
}

class ConnectionPool {
  readonly #host: McpHost
  readonly #held = new Map<string, Shared>()
  readonly #spares = new Map<string, Spare>()
  /** Keys that a session has used: the next session is likely to use them, too. */
  readonly #seen = new RecentSet<string>(1_000)

  constructor(host: McpHost) {
    this.#host = host
  }

  take(server: ResolvedServer, sessionId: SessionId, { keepsSpare }: { readonly keepsSpare: boolean }): HeldConnection {
    const id = server.share === 'process' ? server.key : `${server.key} ${sessionId}`
    const held = this.#held.get(id) ?? { connection: this.#takeSpare(server.key) ?? new McpConnection(server, this.#host), users: 0 }
    held.users++
    this.#held.set(id, held)
    if (held.users === 1 && server.share === 'session' && (keepsSpare || this.#seen.has(server.key))) this.startAhead(server)
    this.#seen.add(server.key)
    let isReleased = false
    return {
      connection: held.connection,
      release: async () => {
        if (isReleased) return
        isReleased = true
        if (--held.users > 0) return
        this.#held.delete(id)
        await held.connection.close()
      },
    }
  }

  /** A process takes time to start; a connection over HTTP hardly does. */
  startAhead(server: ResolvedServer): void {
    if (server.type !== 'stdio' || this.#spares.has(server.key)) return
    const connection = new McpConnection(server, this.#host)
    const cancelExpiry = this.#host.clock.after(spareIdleMs, () => {
      this.dropSpare(server.key).catch(() => {})
    })
    this.#spares.set(server.key, { connection, cancelExpiry })
    connection.prepare()
  }

  async dropSpare(key: string): Promise<void> {
    const spare = this.#takeSpare(key)
    this.#seen.delete(key)
    await spare?.close()
  }

  #takeSpare(key: string): McpConnection | undefined {
    const spare = this.#spares.get(key)
    spare?.cancelExpiry()
    this.#spares.delete(key)
    return spare?.connection
  }
}

const pools = new WeakMap<McpHost, ConnectionPool>()

export function poolOf(host: McpHost): ConnectionPool {
  const pool = pools.get(host) ?? new ConnectionPool(host)
  pools.set(host, pool)
  return pool
}
