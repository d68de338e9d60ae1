import type { Model, Tool } from '../../src/contracts/index.ts'
import { type AgentLoopConfig, createAgentRuntime, type RuntimeOptions } from '../../src/runtime/index.ts'

const schema = { type: 'object', properties: { q: { type: 'string' } } }

export const tool = (name: string, more: Partial<Tool> = {}): Tool => ({
  name,
  description: `does ${name}`,
  inputSchema: schema,
  execute: ({ q }) => `${name} ${q ?? ''}`.trim(),
  ...more,
})

type Setup = Partial<Omit<RuntimeOptions, 'config' | 'adapter'>> & {
  readonly tools?: AgentLoopConfig['tools']
  readonly config?: Partial<AgentLoopConfig>
  readonly limits?: AgentLoopConfig['limits']
}

/** A runtime with one agent, `clerk`, that may use every tool. */
export function runtimeWith(model: Model, { tools = [], config, limits, ...options }: Setup = {}) {
  const agents = [{ name: 'clerk', description: 'Looks things up', prompt: 'You are a clerk.', model: 'any' }]
  return createAgentRuntime({ config: { agents, tools, ...(limits && { limits }), ...config }, adapter: model, ...options })
}
