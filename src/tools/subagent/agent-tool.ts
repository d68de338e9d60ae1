import type {
  AgentCallTool,
  AgentCard,
  AgentSpec,
  ChildResult,
  JsonObject,
  JsonSchema,
  Tool,
  ToolExtras,
  ToolOutput,
} from '../../contracts/index.ts'

/** The name under which parents call an agent; models see it with the separators that they accept. */
export const agentToolName = ({ toolName }: Pick<AgentSpec, 'toolName'>): string => `agent__${toolName}`

/** Traits of tools that start a child. */
export const childTraits = {
  // A repeated call with the same call id continues with its child.
  effect: 'idempotent',
  concurrency: 'shared',
  // The time budget of the agent bounds it.
  timeoutMs: Number.POSITIVE_INFINITY,
  // A child also ends the calls that it waits for, so it needs longer than other tools.
  graceMs: 10_000,
  namespace: 'agent',
} as const

/** A tool of the configuration that replaces the generated tool of an agent: it has the same name. */
export const replacementOf = (agent: Pick<AgentSpec, 'toolName'>, tools: readonly Tool[]): Tool | undefined =>
  tools.find(({ name }) => name === agentToolName(agent))

/** An agent as a tool. */
export function agentTool(agent: AgentSpec): AgentCallTool {
  const { name, description, usage } = agent
  return {
    name: agentToolName(agent),
    description: usage === undefined ? description : `${description}\nInput: ${usage}`,
    inputSchema: inputSchema(agent),
    ...childTraits,
    onlyCallsAgent: true,
    view: () => ({ type: 'subagent_call', details: { agent: name } }),
    execute: (input, context) =>
      context.startChild({ agent: name, input: [{ type: 'text', text: taskOf(agent, input) }] }).then(childOutput),
  }
}

export function agentCard(agent: AgentSpec, replacement?: Tool): AgentCard {
  const { name, description, usage, input } = agent
  const tool = replacement && { name: replacement.name, description: replacement.description, inputSchema: replacement.inputSchema }
  return {
    name,
    description,
    ...(usage !== undefined && { usage }),
    takes: input.format,
    inputSchema: inputSchema(agent),
    ...(tool && { tool }),
  }
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

/** The result of a child as the output of the parent's call. */
export function childOutput(result: ChildResult): ToolOutput {
  if (result.kind === 'refused') return { ok: false, error: result.failure }
  const { status, report, failure } = result
  const extras = new ChildExtras(result)
  if (status === 'failed' || status === 'interrupted') {
    const error = failure ?? { class: 'failed', message: `The agent ended with status ${status}.` }
    return { ok: false, error, ...(report && { partial: report.text }), extras }
  }
  const text = report?.text ?? ''
  const content = failure ? `${text}\n\n(Partial: ${failure.message})` : text
  return { ok: true, content, ...(report?.value !== undefined && { value: report.value }), extras }
}

/** Rarely used and possibly large, so they are created on access. A class: getters of a literal are slow to create. */
class ChildExtras implements ToolExtras {
  readonly [name: string]: unknown
  readonly #result: Extract<ChildResult, { kind: 'ended' }>

  constructor(result: Extract<ChildResult, { kind: 'ended' }>) {
    this.#result = result
  }

  get childAccounting(): unknown {
    return this.#result.accounting
  }

  get childOpTree(): unknown {
    return this.#result.operations
  }

  get childConversation(): unknown {
    return this.#result.conversation
  }

  toJSON(): object {
    const { childAccounting, childOpTree, childConversation } = this
    return { childAccounting, childOpTree, childConversation }
  }
}
