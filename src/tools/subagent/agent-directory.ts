import type { AgentCard, ChildTask, JsonObject, SchemaValidator, Tool, ToolFailure } from '../../contracts/index.ts'
import { delegateTaskName } from '../../policy/tool-search.ts'
import { rankByWords } from '../../util/common-words.ts'
import { knownNames } from '../../util/nearest-names.ts'
import { childOutput, childTraits } from './agent-tool.ts'

// Many agents would fill the list of tools, so these two tools find and call them instead.

export const directoryNames = ['find_agents', delegateTaskName] as const

export function agentDirectory(validator: SchemaValidator): readonly Tool[] {
  return [findAgents, delegateTask(validator)]
}

const mostDescribed = 10

const findAgents: Tool = {
  name: 'find_agents',
  description: 'Find agents for a task. Shows the purpose and input of each.',
  inputSchema: {
    type: 'object',
    properties: { query: { type: 'string', description: 'The task, or the name of an agent. Omit it to list all agents.' } },
    additionalProperties: false,
  },
  effect: 'read',
  concurrency: 'shared',
  namespace: 'agent',
  execute({ query }, { agents }) {
    const found = typeof query === 'string' && query.trim() !== '' ? matching(agents, query) : agents
    return found.length === 0 ? `No agent matches. Available: ${namesOf(agents)}.` : described(found)
  },
}

/** The best matches with their input, and the names of the others. */
function described(found: readonly AgentCard[]): string {
  const lines = found.slice(0, mostDescribed).map(describe)
  if (found.length <= mostDescribed) return lines.join('\n')
  return `${lines.join('\n')}\n… and ${namesOf(found.slice(mostDescribed))}. Search for a name to see its input.`
}

const namesOf = (agents: readonly AgentCard[]): string => agents.map(({ name }) => name).join(', ')

function delegateTask(validator: SchemaValidator): Tool {
  return {
    name: delegateTaskName,
    description: 'Give a task to an agent and return its report. Use find_agents to see agents and their input.',
    ...taskTraits('Name of the agent.'),
    async execute(input, { agents, startChild }) {
      const task = await taskFor(input, agents, { validator, hint: ' find_agents describes them.' })
      return 'class' in task ? { ok: false, error: task } : childOutput(await startChild(task))
    },
  }
}

/** Traits of tools that give a task to an agent. `agent` describes the parameter. */
export const taskTraits = (agent: string) =>
  ({
    inputSchema: {
      type: 'object',
      properties: {
        agent: { type: 'string', description: agent },
        prompt: { type: 'string', description: 'The task, with all the context the agent needs: it sees nothing else.' },
        input: { type: 'object', description: 'For an agent that takes JSON, instead of prompt.' },
      },
      required: ['agent'],
      additionalProperties: false,
    },
    ...childTraits,
    view: (given: JsonObject) => ({ type: 'subagent_call', details: { agent: String(given.agent) } }),
  }) satisfies Partial<Tool>

/** The task for one of the agents, from the arguments of a call. The name may be that of its tool. */
export async function taskFor(
  { agent, prompt, input }: JsonObject,
  agents: readonly AgentCard[],
  { validator, hint = '' }: { readonly validator: SchemaValidator; readonly hint?: string },
): Promise<ChildTask | ToolFailure> {
  const wanted = String(agent)
  const card = agents.find(({ name }) => name === wanted || wanted === `agent__${name}`)
  if (!card) return unknownAgent(wanted, agents, hint)
  const task = card.takes === 'json' ? await jsonTask(card, input, validator) : textTask(card, prompt)
  return 'class' in task ? task : { agent: card.name, input: [{ type: 'text', text: task.text }] }
}

function textTask({ name }: AgentCard, prompt: unknown): { readonly text: string } | ToolFailure {
  if (typeof prompt === 'string' && prompt.trim() !== '') return { text: prompt }
  return { class: 'invalid_input', message: `${name} takes text.`, remedy: 'Set `prompt`.' }
}

async function jsonTask(
  { name, inputSchema }: AgentCard,
  input: unknown,
  validator: SchemaValidator,
): Promise<{ readonly text: string } | ToolFailure> {
  const validate = await validator.compile(inputSchema)
  const found = await validate(input ?? {})
  if (found.ok) return { text: JSON.stringify(found.value) }
  return {
    class: 'invalid_input',
    message: `The input of ${name} is invalid: ${found.problems.join('; ')}.`,
    remedy: 'Set `input`.',
  }
}

function unknownAgent(wanted: string, agents: readonly AgentCard[], hint: string): ToolFailure {
  const remedy = knownNames(
    wanted,
    agents.map(({ name }) => name),
    'agent',
  )
  return { class: 'unknown_tool', message: `There is no agent "${wanted}".`, remedy: `${remedy}${hint}` }
}

const matching = (agents: readonly AgentCard[], query: string): readonly AgentCard[] =>
  rankByWords(query, agents, ({ name, description, usage = '' }) => ({ name, text: `${description} ${usage}` }))

function describe({ name, description, usage, takes, inputSchema, tool }: AgentCard): string {
  if (tool) return `- ${name}: ${tool.description} (input: ${JSON.stringify(tool.inputSchema)})`
  const input = takes === 'json' ? `input: ${JSON.stringify(inputSchema)}` : `prompt: ${usage ?? 'text'}`
  return `- ${name}: ${description} (${input})`
}
