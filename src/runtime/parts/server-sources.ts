import { resolve } from 'node:path'
import type { McpServerDefinition, McpServerSettings, SessionToolSource } from '../../contracts/index.ts'
import { serverDefinition } from '../../policy/mcp-servers.ts'
import type { QueueLimits } from '../../steps/index.ts'
import type { McpHost, McpServerSource } from '../../tools/mcp/index.ts'
import type { AgentLoopConfig } from '../options/agent-config.ts'
import type { RuntimeOptions } from '../options/agent-runtime.ts'
import { LaterSource } from './later-source.ts'

const defaultPath = '/usr/local/bin:/usr/bin:/bin'

/** Without options, servers get no variables of the program but a standard `PATH`. */
export const mcpHostOf = ({ mcp, origin }: Pick<RuntimeOptions, 'mcp' | 'origin'>, clock: McpHost['clock']): McpHost => ({
  workspace: resolve(origin?.workspace ?? '.'),
  environment: { PATH: defaultPath },
  ...mcp,
  clock,
})

/**
 * The configured MCP servers as sources of tools. The same name with the same definition is the same source, also in a later
 * configuration of the same runtime, so that connections stay.
 */
export class ServerSources {
  readonly #host: McpHost
  readonly #known = new Map<string, LaterSource>()

  constructor(host: McpHost) {
    this.#host = host
  }

  /** Settings that have been checked. */
  all(servers: AgentLoopConfig['mcpServers'] = {}): readonly LaterSource[] {
    return Object.entries(servers).map(([name, settings]) => this.#source(name, serverDefinition(settings)))
  }

  /** Connects to the servers with `connect: eager`. */
  prepare(config: AgentLoopConfig): void {
    for (const [name, settings] of serversIn(config)) {
      if (settings.connect !== 'eager') continue
      // A failure is reported to the first session.
      const prepare = (source: SessionToolSource): void => (source as McpServerSource).prepare(config.overlay ?? {})
      this.#source(name, serverDefinition(settings))
        .load()
        .then(prepare, () => {})
    }
  }

  #source(name: string, given: McpServerDefinition): LaterSource {
    const key = JSON.stringify([name, given])
    const known = this.#known.get(key)
    if (known) return known
    // A copy, so that later changes by the caller have no effect.
    const definition = structuredClone(given)
    const source = new LaterSource({ name, required: definition.required }, async () => {
      const { mcpToolSource } = await import('../../tools/mcp/index.ts')
      return mcpToolSource(name, definition, this.#host)
    })
    this.#known.set(key, source)
    return source
  }
}

const serversIn = ({ mcpServers, agents }: AgentLoopConfig): readonly (readonly [string, McpServerSettings])[] =>
  [mcpServers, ...agents.map((agent) => agent.mcpServers)].flatMap((servers = {}) => Object.entries(servers))

/** The limits that servers set for their own queues. */
export const serverQueues = (config: AgentLoopConfig): { readonly [name: string]: QueueLimits } =>
  Object.fromEntries(
    serversIn(config).flatMap(([name, { queue }]) => (queue && Object.keys(queue).length > 0 ? [[name, { ...queue }]] : [])),
  )
