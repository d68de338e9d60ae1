// A server whose agents are tools of MCP clients.
import { onTestFinished } from 'vitest'
import { type McpDependencies, mcpRoutes, mcpUpgrade } from '../../src/server/mcp/index.ts'
import { agents, type SceneTools, sceneDependencies, sceneModels, sceneTools } from './mcp-agents.ts'
import { type Served, type ServedOptions, serve } from './support.ts'

export interface Scene extends Served {
  nextHeld: SceneTools['nextHeld']
  agentsChanged(): void
  /** What the server wrote to the audit log. */
  readonly audited: readonly object[]
}

export async function mcpScene({ mcp, ...served }: ServedOptions & { readonly mcp?: Partial<McpDependencies> } = {}): Promise<Scene> {
  const listeners = new Set<() => void>()
  const audited: object[] = []
  const { tools, nextHeld } = sceneTools()
  const dependencies: McpDependencies = {
    ...sceneDependencies(served.clock),
    audit: async (entry) => void audited.push(entry),
    onAgentsChange(changed) {
      listeners.add(changed)
      return () => listeners.delete(changed)
    },
    ...mcp,
  }
  const running = await serve({ agents, tools, model: sceneModels, routes: () => mcpRoutes(dependencies), ...served })
  mcpUpgrade(running.http, { ...dependencies, headends: running.headends })
  onTestFinished(() => running.close())
  const agentsChanged = (): void => {
    for (const changed of listeners) changed()
  }
  return { ...running, nextHeld, agentsChanged, audited }
}
