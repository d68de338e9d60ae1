import type { AgentCard, AgentSpec, JsonObject, JsonSchema, Tool } from '../../contracts/index.ts'
import { childOutput } from './agent-output.ts'

/** The name under which parents call an agent; models see it with the separators that they accept. */
export const agentToolName = ({ toolName }: Pick<AgentSpec, 'toolName'>): string => `agent__${toolName}`

/** The child ends itself, and what it waits for with it: that takes longer than a plain tool takes to say where it stands. */
export const childGraceMs = 10_000

/** An agent as a tool like any other. Its own time budget ends it, not the time limit of a call. */
export function agentTool(agent: AgentSpec): Tool {
  const { name, description, usage } = agent
  return {
    name: agentToolName(agent),
    description: usage === undefined ? description : `${description}\nInput: ${usage}`,
    inputSchema: inputSchema(agent),
    // Called again under the same call id, it goes on with the child that it has.
    effect: 'idempotent',
    concurrency: 'shared',
    timeoutMs: Number.POSITIVE_INFINITY,
    graceMs: childGraceMs,
    namespace: 'agent',
    view: () => ({ type: 'subagent_call', details: { agent: name } }),
    execute: (input, context) =>
      context.startChild({ agent: name, input: [{ type: 'text', text: taskOf(agent, input) }] }).then(childOutput),
  }
}

/** What others may know of an agent before they call it. */
export function agentCard(agent: AgentSpec): AgentCard {
  const { name, description, usage, input } = agent
  return { name, description, ...(usage !== undefined && { usage }), takes: input.format, inputSchema: inputSchema(agent) }
}

function inputSchema({ input, usage }: AgentSpec): JsonSchema {
  if (input.format === 'json') return input.schema
  const prompt = {
    type: 'string',
    minLength: 1,
    description: usage ?? 'The task, with all the context the agent needs: it sees nothing else.',
  }
  return { type: 'object', properties: { prompt }, required: ['prompt'], additionalProperties: false }
}

const taskOf = ({ input }: AgentSpec, given: JsonObject): string => (input.format === 'json' ? JSON.stringify(given) : String(given.prompt))
