import { onTestFinished } from 'vitest'
import type {
  CallResult,
  InputPart,
  JsonObject,
  JsonSchema,
  Message,
  Model,
  ModelPart,
  ModelRequest,
  Tool,
} from '../../src/contracts/index.ts'
import { rehearsalModel } from '../../src/models/rehearsal/index.ts'
import { createAgentRuntime } from '../../src/runtime/index.ts'

export interface MadeCall {
  readonly tool: string
  readonly input: JsonObject
}

/** What one request led to: the calls of each step, and the answer. */
export interface Scene {
  readonly steps: readonly (readonly MadeCall[])[]
  readonly answer: string
  readonly status: string
}

interface Setting {
  readonly agent?: JsonObject
  readonly limits?: { readonly [name: string]: number }
}

/** One conversation through the real loop. Records which calls each reply asked for, and what the tools were given. */
export function conversation(tools: readonly Tool[], { agent, limits }: Setting = {}) {
  const requests: ModelRequest[] = []
  const model = recording(rehearsalModel(), requests)
  const runtime = createAgentRuntime({
    config: {
      agents: [{ name: 'clerk', description: 'Helps', prompt: 'You help.', model: 'rehearsal/rules', ...agent }],
      tools,
      ...(limits && { limits }),
    },
    adapter: model,
  })
  onTestFinished(() => runtime.close())
  let handle: ReturnType<typeof runtime.stream> | undefined
  return {
    requests,
    async say(input: string | readonly InputPart[]): Promise<Scene> {
      if (handle) {
        const open = await runtime.open(handle.sessionId)
        await open.send(input)
        handle = open
      } else handle = runtime.stream(input)
      const outcome = await handle.outcome
      const { messages } = requests.at(-1) ?? { messages: [] }
      return { steps: stepsSince(messages, input), answer: outcome.report?.text ?? '', status: outcome.status }
    },
  }
}

function recording(model: Model, requests: ModelRequest[]): Model {
  return {
    ...model,
    stream(request, context) {
      requests.push({ ...request, messages: [...request.messages] })
      return model.stream(request, context)
    },
  }
}

const textOf = (input: string | readonly InputPart[]): string =>
  JSON.stringify(typeof input === 'string' ? [{ type: 'text', text: input }] : input)

function stepsSince(messages: readonly Message[], input: string | readonly InputPart[]): readonly (readonly MadeCall[])[] {
  const start = messages.findLastIndex((message) => message.role === 'user' && JSON.stringify(message.parts) === textOf(input))
  return messages.slice(start).flatMap((message) => {
    const calls = message.role === 'assistant' ? message.parts.filter((part) => part.type === 'call') : []
    return calls.length === 0
      ? []
      : [calls.map(({ name, input: text }) => ({ tool: name, input: withoutReason(JSON.parse(text) as JsonObject) }))]
  })
}

function withoutReason({ reason: _, ...input }: JsonObject): JsonObject {
  return input
}

/** `look_up_weather(city: Oslo) + look_up_trains(…)`; steps are separated by an arrow. */
export function shown({ steps }: Pick<Scene, 'steps'>): string {
  const call = ({ tool, input }: MadeCall): string =>
    `${tool}(${Object.entries(input)
      .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .join(', ')})`
  return steps.map((calls) => calls.map(call).join(' + ')).join(' → ') || 'no call'
}

/** The parts of one reply, without a loop. */
export async function reply(request: Partial<ModelRequest>, signal = new AbortController().signal): Promise<readonly ModelPart[]> {
  const parts: ModelPart[] = []
  const whole: ModelRequest = { system: '', messages: [], tools: [], toolChoice: 'auto', parameters: {}, ...request }
  for await (const part of rehearsalModel().stream(whole, { signal })) parts.push(part)
  return parts
}

export const said = (parts: readonly ModelPart[]): string => parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
export const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] })
export const assistant = (text: string): Message => ({ role: 'assistant', parts: [{ type: 'text', text }] })
export const results = (...all: readonly CallResult[]): Message => ({ role: 'tool', results: all })

export const object = (
  properties: { readonly [name: string]: JsonSchema },
  required: readonly string[] = Object.keys(properties),
): JsonSchema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
export const text = { type: 'string' }
export const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items })
