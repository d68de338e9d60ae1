// Checked by `npm run typecheck`, never run: what AgentLoopConfig takes and what it refuses.
import type { Tool, ToolSource } from '../../contracts/index.ts'
import type { AgentDefinition, AgentLoopConfig } from './agent-config.ts'

const writer = { name: 'writer', description: 'Writes.', prompt: 'Write.' }
const clock: Tool = { name: 'clock', description: 'Tells the time.', inputSchema: { type: 'object' }, execute: () => 'noon' }
const source: ToolSource = { list: async () => [clock] }

export const accepted: readonly AgentLoopConfig[] = [
  { agents: [] },
  { agents: [writer] },
  { agents: [{ ...writer, model: 'script/demo.yaml' }] },
  { agents: [{ ...writer, models: ['openai/a', 'anthropic/b'], tools: ['clock', 'file_*'], displayName: 'The writer' }] },
  { agents: [{ ...writer, limits: { maxToolTurns: 3, timeBudget: 5000 }, parameters: { temperature: 0, seed: 1 } }] },
  { agents: [{ ...writer, reasoningEffort: 'high' }] },
  { agents: [writer, { ...writer, name: 'editor' }], agentSelection: { agent: 'editor' } },
  { agents: [writer], tools: [clock, source], features: { web: true }, overlay: { LANG: 'en' }, limits: { maxRetries: 0 } },
  { agents: [{ ...writer, input: { schema: { type: 'object' } }, output: { schema: { type: 'object' } } }] },
  // What is read-only stays assignable from what is not, and from constants.
  { agents: [writer] as const, tools: [clock] as const },
]

export const refused: readonly AgentLoopConfig[] = [
  // @ts-expect-error: agents are required
  {},
  // @ts-expect-error: an unknown key
  { agents: [writer], agnets: [] },
  // @ts-expect-error: an agent has a description
  { agents: [{ name: 'writer', prompt: 'Write.' }] },
  // @ts-expect-error: an agent has a prompt
  { agents: [{ name: 'writer', description: 'Writes.' }] },
  // @ts-expect-error: an unknown key of an agent
  { agents: [{ ...writer, instructions: 'Write.' }] },
  // @ts-expect-error: an agent's tools are names, not one string
  { agents: [{ ...writer, tools: 'clock' }] },
  // @ts-expect-error: an agent's tools are names, not tools
  { agents: [{ ...writer, tools: [clock] }] },
  // @ts-expect-error: the registry holds tools, not names
  { agents: [writer], tools: ['clock'] },
  // @ts-expect-error: a tool can be executed
  { agents: [writer], tools: [{ name: 'clock', description: '', inputSchema: {} }] },
  // @ts-expect-error: an effect is one of three words
  { agents: [writer], tools: [{ ...clock, effect: 'delete' }] },
  // @ts-expect-error: models are an order, not one name
  { agents: [{ ...writer, models: 'openai/a' }] },
  // @ts-expect-error: an unknown limit
  { agents: [{ ...writer, limits: { maxSteps: 3 } }] },
  // @ts-expect-error: limits are numbers
  { agents: [writer], limits: { toolTimeout: '60s' } },
  // @ts-expect-error: an option is left out, not undefined
  { agents: [{ ...writer, model: undefined }] },
  // @ts-expect-error: the agent is chosen by name
  { agents: [writer], agentSelection: 'writer' },
  // @ts-expect-error: a flag is on or off
  { agents: [writer], features: { web: 'yes' } },
  // @ts-expect-error: variables are text
  { agents: [writer], overlay: { PORT: 80 } },
]

export function isFixed(config: AgentLoopConfig, agent: AgentDefinition): void {
  // @ts-expect-error: a config does not change under a runtime
  config.agents = []
  // @ts-expect-error: nor does a list in it
  config.agents.push(agent)
  // @ts-expect-error: nor does an agent
  agent.prompt = ''
}
