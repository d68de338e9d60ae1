import type {
  InteractionEvent,
  MaybePromise,
  Model,
  ModelFailure,
  ModelRequest,
  Outcome,
  StreamEvent,
  Tool,
} from '../../src/contracts/index.ts'
import {
  type AgentDefinition,
  type AgentLoopConfig,
  type AgentRuntime,
  createAgentRuntime,
  type RuntimeOptions,
} from '../../src/runtime/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { sequentialIds } from '../../src/testing/index.ts'

/** What an agent of a test says at a step, told by its request. */
export type Script = (request: ModelRequest, step: number) => Said | Promise<Said>
export interface Said {
  readonly text?: string
  readonly calls?: readonly { readonly tool: string; readonly input?: object }[]
  readonly usage?: { readonly input: number; readonly output: number }
  readonly fails?: ModelFailure['class']
}

/** A model for each agent, under the agent's own name. */
export function scripted(
  name: string,
  script: Script,
  { isFree = true, ...more }: Partial<Model> & { readonly isFree?: boolean } = {},
): Model {
  return {
    id: `team/${name}`,
    abilities: ['tools'],
    async *stream(request, { signal }) {
      const step = request.messages.filter(({ role }) => role === 'assistant').length + 1
      const aborted = new Promise<'aborted'>((resolve) => signal.addEventListener('abort', () => resolve('aborted')))
      const said = await Promise.race([Promise.resolve(script(request, step)), aborted])
      if (said === 'aborted') return
      if (said.fails) return yield { type: 'error', failure: { class: said.fails, message: `scripted ${said.fails}` } }
      if (said.text !== undefined) yield { type: 'text', text: said.text }
      for (const [i, { tool, input = {} }] of (said.calls ?? []).entries())
        yield { type: 'call', id: `c${step}.${i}`, name: tool, input: JSON.stringify({ reason: 'because', ...input }) }
      const usage = said.usage && { ...said.usage, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
      yield { type: 'finish', reason: said.calls ? 'tool-calls' : 'stop', ...(usage && { usage }), ...(isFree && { costUsd: 0 }) }
    },
    ...more,
  }
}

/** Needs a yes. */
export const send: Tool = {
  name: 'send',
  description: 'Sends.',
  inputSchema: { type: 'object' },
  approval: () => ({ keys: [{ key: 'send', label: 'send' }], summary: 'Send it' }),
  execute: () => 'sent',
}

export const ask = (agent: string, prompt: string) => ({ tool: `agent__${agent}`, input: { prompt } })
export const textOf = (request: ModelRequest): string => {
  const last = request.messages.findLast(({ role }) => role === 'user')
  return last?.role === 'user' ? last.parts.map((part) => (part.type === 'text' ? part.text : '')).join('') : ''
}
export const resultsOf = (request: ModelRequest): readonly string[] =>
  request.messages.flatMap((message) => (message.role === 'tool' ? message.results.map(({ content }) => content) : []))

export type Member = Partial<AgentDefinition> & {
  readonly script: Script
  readonly model?: never
  readonly price?: Model['costOf']
  readonly free?: boolean
  /** The context window of its model, in tokens. */
  readonly window?: number
}

export interface Team {
  readonly runtime: AgentRuntime
  run(
    input?: string,
  ): Promise<{ readonly outcome: Outcome; readonly events: readonly InteractionEvent[]; readonly all: readonly StreamEvent[] }>
}

export type TeamOptions = Partial<Omit<RuntimeOptions, 'config' | 'adapter'>> & {
  readonly tools?: readonly Tool[]
  readonly config?: Partial<AgentLoopConfig>
  /** What is done before a model is found, by its name; throws where there is none. */
  readonly beforeModel?: (name: string) => MaybePromise<void>
  /** Changes every model. */
  readonly wrap?: (model: Model) => Model
}

/** Agents by name; the first one speaks. */
export function team(
  members: { readonly [name: string]: Member },
  { tools = [], config, beforeModel, wrap = (model) => model, ...options }: TeamOptions = {},
): Team {
  const [first = ''] = Object.keys(members)
  const models = new Map(
    Object.entries(members).map(([name, { script, price, free = true, window }]) => [
      name,
      wrap(
        scripted(name, script, { isFree: free, ...(price && { costOf: price }), ...(window !== undefined && { contextTokens: window }) }),
      ),
    ]),
  )
  const agents = Object.entries(members).map(([name, { script: _, price: __, free: ___, window: ____, ...more }]) => ({
    name,
    description: `${name} of the team`,
    prompt: `You are ${name}.`,
    models: [name],
    tools: [],
    ...more,
  }))
  const runtime = createAgentRuntime({
    config: { agents, agentSelection: { agent: first }, tools, ...config },
    adapter: {
      resolve(name) {
        const model = models.get(name)
        if (!model) throw new Error(`no model ${name}`)
        const waiting = beforeModel?.(name)
        return waiting instanceof Promise ? waiting.then(() => model) : model
      },
    },
    store: memoryStore(),
    ids: sequentialIds(),
    ...options,
  })
  return {
    runtime,
    async run(input = 'Go') {
      const all: StreamEvent[] = []
      const handle = runtime.stream(input)
      for await (const event of handle) all.push(event)
      return { outcome: await handle.outcome, events: all.filter((event): event is InteractionEvent => 'seq' in event), all }
    },
  }
}
