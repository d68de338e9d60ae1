import type {
  ChildControl,
  InputMode,
  JsonObject,
  MaybePromise,
  SchemaValidator,
  Tool,
  ToolContext,
  ToolOutput,
  WaitedAgent,
} from '../../contracts/index.ts'
import { taskFor, taskTraits } from './agent-directory.ts'
import { childOutput, childTraits } from './agent-tool.ts'

// Tools of agents with `childControl`: they spawn children, and talk to them while they work.

export const childControlNames = ['spawn_agent', 'send_agent_input', 'wait_for_agent', 'close_agent', 'list_agents'] as const

export const childControlTools = (validator: SchemaValidator): readonly Tool[] => [
  spawnAgent(validator),
  sendAgentInput,
  waitForAgent,
  closeAgent,
  listAgents,
]

// After a crash the same call finds the same child, and sends the same input once.
const traits = { effect: 'idempotent', concurrency: 'shared', namespace: 'agent' } as const
const id = { type: 'string', description: 'The id that spawn_agent returned, such as researcher#1.' } as const

const spawnAgent = (validator: SchemaValidator): Tool => ({
  name: 'spawn_agent',
  description:
    'Start an agent and continue while it works. Returns its id. Its report arrives as a message when it is done; wait_for_agent waits for it. Your turn does not end while it works.',
  ...taskTraits('Name of one of your agents.'),
  async execute(input, context) {
    const task = await taskFor(input, context.agents, { validator })
    if ('class' in task) return { ok: false, error: task }
    return withControl(context, async (children) => {
      const spawned = await children.spawn(task)
      if ('kind' in spawned) return { ok: false, error: spawned.failure }
      return done(`Started ${spawned.id}.`, { id: spawned.id })
    })
  },
})

const sendAgentInput: Tool = {
  name: 'send_agent_input',
  description: 'Send text to a spawned agent. An idle agent starts to work on it. A working agent reads it at its next step.',
  inputSchema: {
    type: 'object',
    properties: {
      id,
      text: { type: 'string', minLength: 1 },
      mode: { enum: ['steer', 'queue'], description: 'queue: a working agent reads it when its current work is done. Default steer.' },
    },
    required: ['id', 'text'],
    additionalProperties: false,
  },
  ...traits,
  execute: (input, context) =>
    withControl(context, async (children) => {
      const { mode = 'steer' } = input
      const sent = await children.send(String(input.id), [{ type: 'text', text: String(input.text) }], mode as InputMode)
      return 'kind' in sent ? { ok: false, error: sent.failure } : done(`Sent. ${sent.id} is ${sent.status}.`, { id: sent.id })
    }),
}

const waitForAgent: Tool = {
  name: 'wait_for_agent',
  description: 'Wait for spawned agents. Returns the reports of those that are done, and the state of the others.',
  inputSchema: {
    type: 'object',
    properties: {
      ids: { type: 'array', items: id, minItems: 1 },
      mode: {
        enum: ['any', 'all'],
        description: 'any: until one of them has a new report, or none works. all: until none works. Default any.',
      },
      timeout: { type: 'number', minimum: 0, description: 'Seconds. Default: no timeout.' },
    },
    required: ['ids'],
    additionalProperties: false,
  },
  ...traits,
  repeatable: true,
  timeoutMs: Number.POSITIVE_INFINITY,
  execute: ({ ids, mode, timeout }, context) =>
    withControl(context, async (children) => {
      const waited = await children.wait({
        ids: [...new Set((ids as readonly string[]).map(String))],
        mode: mode === 'all' ? 'all' : 'any',
        ...(typeof timeout === 'number' && { timeoutMs: timeout * 1000 }),
      })
      return 'kind' in waited ? { ok: false, error: waited.failure } : done(waited.map(describe).join('\n\n'))
    }),
}

function describe({ id: name, status, result }: WaitedAgent): string {
  if (!result) return `[${name}: ${status}]`
  const output = childOutput(result)
  const text = output.ok ? output.content : [output.error.message, output.partial].filter(Boolean).join('\n')
  return `[${name}: ${result.status}]\n${text}`.trimEnd()
}

const closeAgent: Tool = {
  name: 'close_agent',
  description: 'End a spawned agent that you no longer need. Work in progress is interrupted.',
  inputSchema: { type: 'object', properties: { id }, required: ['id'], additionalProperties: false },
  ...traits,
  timeoutMs: Number.POSITIVE_INFINITY,
  graceMs: childTraits.graceMs,
  execute: (input, context) =>
    withControl(context, async (children) => {
      const closed = await children.close(String(input.id))
      return 'kind' in closed ? { ok: false, error: closed.failure } : done(`Closed ${closed.id}.`, { id: closed.id })
    }),
}

const listAgents: Tool = {
  name: 'list_agents',
  description: 'List the spawned agents that are not closed, and whether they work or are idle.',
  inputSchema: { type: 'object', properties: {}, additionalProperties: false },
  ...traits,
  effect: 'read',
  repeatable: true,
  execute: (_, context) =>
    withControl(context, (children) => {
      const live = children.list()
      if (live.length === 0) return done('No spawned agents.')
      return done(live.map(({ id: name, status, turn }) => `${name}: ${status}${turn > 1 ? `, turn ${turn}` : ''}`).join('\n'))
    }),
}

function withControl({ children }: ToolContext, use: (children: ChildControl) => MaybePromise<ToolOutput>): MaybePromise<ToolOutput> {
  if (children) return use(children)
  return { ok: false, error: { class: 'config', message: 'This agent cannot spawn agents.', remedy: 'Set childControl: true for it.' } }
}

const done = (content: string, value?: JsonObject): ToolOutput => ({ ok: true, content, ...(value && { value }) })
