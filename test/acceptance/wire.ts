/* Small servers that speak the wire formats of the providers, for the acceptance suite. Nothing of Troupe is used here. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  // biome-ignore lint/suspicious/noExplicitAny: bodies are asserted by the tests
  readonly body: any
}
export interface Answer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Destroys the connection behind the body. */
  readonly cut?: boolean
}
export type Reply = Answer | ((asked: Asked, response: ServerResponse) => Answer | undefined)

export interface Provider {
  readonly url: string
  readonly asked: Asked[]
  /** The connections that were closed by the client before an answer was whole. */
  readonly left: Promise<void>
}

/** Answers requests in order; the last reply is repeated. */
export async function provider(...replies: readonly Reply[]): Promise<Provider> {
  const asked: Asked[] = []
  const left = Promise.withResolvers<void>()
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const entry: Asked = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body: parsed(text) }
    const reply = replies[Math.min(asked.push(entry), replies.length) - 1]
    response.on('close', () => response.writableFinished || left.resolve())
    const answer = typeof reply === 'function' ? reply(entry, response) : (reply ?? { status: 500, body: '{}' })
    if (answer) send(response, answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, left: left.promise }
}
function send(response: ServerResponse, { status = 200, headers = {}, body = '', cut }: Answer): void {
  response.writeHead(status, { 'content-type': 'text/event-stream', ...headers })
  if (!cut) {
    response.end(body)
    return
  }
  response.write(body === '' ? ':' : body, () => setImmediate(() => response.socket?.destroy()))
}
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export interface Said {
  readonly text?: string
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly input: object }[]
  readonly usage?: { readonly input: number; readonly output: number }
}
export interface Wire {
  readonly name: string
  /** As an agent names it. */
  readonly model: string
  readonly keyVariable: string
  readonly urlVariable: string
  /** `providers` of the adapter's options where a wire is no provider's default. */
  readonly config?: (url: string, key: string | undefined) => object
  /** What stands behind the address in variables and configurations. */
  readonly base: string
  readonly path: string
  /** The events of a reply, each as it goes over the wire. The one with this index says that the reply has ended. */
  events(said: Said): { readonly list: readonly string[]; readonly end: number }
  key(asked: Asked): string | undefined
  /** Names, inputs and results of the calls as they stand in the history of a request. */
  history(body: unknown): { readonly calls: readonly unknown[]; readonly results: readonly string[] }
  error(status: number, message: string, kind?: string): string
}
export const reply = (wire: Wire, said: Said): Answer => ({ body: wire.events(said).list.join('') })

const data = (value: unknown): string => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`
const event = (value: { readonly type: string }): string => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`
const halves = (text: string): string[] => [text.slice(0, Math.ceil(text.length / 2)), text.slice(Math.ceil(text.length / 2))]
const usageOf = (said: Said) => said.usage ?? { input: 10, output: 5 }
const bearer = (asked: Asked): string | undefined => asked.headers.authorization?.replace(/^Bearer /, '')
const openAiError = (status: number, message: string, kind?: string): string =>
  JSON.stringify({ error: { message, type: kind ?? `error_${status}`, param: null, code: kind ?? null } })

// biome-ignore lint/suspicious/noExplicitAny: wire formats
type Any = any

const chatEvents: Wire['events'] = (said) => {
  const chunk = (delta: object, finish: string | null = null, more: object = {}) =>
    data({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta, finish_reason: finish }],
      ...more,
    })
  const list = [chunk({ role: 'assistant', content: '' })]
  for (const piece of said.text ? halves(said.text) : []) list.push(chunk({ content: piece }))
  for (const [index, { id, name, input }] of (said.calls ?? []).entries()) {
    list.push(chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }))
    for (const piece of halves(JSON.stringify(input))) list.push(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }))
  }
  list.push(chunk({}, said.calls ? 'tool_calls' : 'stop'))
  const end = list.length - 1
  const { input, output } = usageOf(said)
  list.push(
    data({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [],
      usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
    }),
  )
  list.push(data('[DONE]'))
  return { list, end }
}
const chatHistory: Wire['history'] = (body) => {
  const messages = (body as Any).messages as Any[]
  return {
    calls: messages.flatMap((each) =>
      (each.tool_calls ?? []).map((call: Any) => ({
        id: call.id,
        name: call.function.name,
        input: JSON.parse(call.function.arguments),
      })),
    ),
    results: messages.filter((each) => each.role === 'tool').map((each) => `${each.tool_call_id}=${each.content}`),
  }
}

export const openAiChat: Wire = {
  name: 'OpenAI chat',
  model: 'openai/gpt-4o-mini',
  keyVariable: 'OPENAI_API_KEY',
  urlVariable: 'OPENAI_BASE_URL',
  config: (url) => ({ openai: { kind: 'openai', api: 'chat', baseURL: `${url}/v1` } }),
  base: '/v1',
  path: '/v1/chat/completions',
  events: chatEvents,
  key: bearer,
  history: chatHistory,
  error: openAiError,
}

export const openAiResponses: Wire = {
  name: 'OpenAI responses',
  model: 'openai/gpt-4o-mini',
  keyVariable: 'OPENAI_API_KEY',
  urlVariable: 'OPENAI_BASE_URL',
  base: '/v1',
  path: '/v1/responses',
  events(said) {
    let serial = 0
    const list: string[] = []
    const push = (type: string, more: object) => list.push(event({ type, sequence_number: serial++, ...more } as Any))
    const shell = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'in_progress', output: [] as Any[] }
    push('response.created', { response: shell })
    push('response.in_progress', { response: shell })
    const output: Any[] = []
    if (said.text) {
      const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] as Any[] }
      push('response.output_item.added', { output_index: 0, item })
      push('response.content_part.added', {
        item_id: 'msg_1',
        output_index: 0,
        content_index: 0,
        part: { type: 'output_text', text: '', annotations: [] },
      })
      for (const delta of halves(said.text))
        push('response.output_text.delta', { item_id: 'msg_1', output_index: 0, content_index: 0, delta, logprobs: [] })
      push('response.output_text.done', { item_id: 'msg_1', output_index: 0, content_index: 0, text: said.text, logprobs: [] })
      const done = { ...item, status: 'completed', content: [{ type: 'output_text', text: said.text, annotations: [] }] }
      push('response.output_item.done', { output_index: 0, item: done })
      output.push(done)
    }
    for (const { id, name, input } of said.calls ?? []) {
      const output_index = output.length
      const item = { id: `fc_${id}`, type: 'function_call', call_id: id, name, arguments: '', status: 'in_progress' }
      push('response.output_item.added', { output_index, item })
      for (const delta of halves(JSON.stringify(input)))
        push('response.function_call_arguments.delta', { item_id: item.id, output_index, delta })
      push('response.function_call_arguments.done', { item_id: item.id, output_index, arguments: JSON.stringify(input) })
      const done = { ...item, status: 'completed', arguments: JSON.stringify(input) }
      push('response.output_item.done', { output_index, item: done })
      output.push(done)
    }
    const { input, output: out } = usageOf(said)
    const usage = {
      input_tokens: input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: out,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + out,
    }
    push('response.completed', { response: { ...shell, status: 'completed', output, usage } })
    return { list, end: list.length - 1 }
  },
  key: bearer,
  history(body) {
    const items = (body as Any).input as Any[]
    return {
      calls: items
        .filter((each) => each.type === 'function_call')
        .map((each) => ({ id: each.call_id, name: each.name, input: JSON.parse(each.arguments) })),
      results: items.filter((each) => each.type === 'function_call_output').map((each) => `${each.call_id}=${each.output}`),
    }
  },
  error: openAiError,
}

export const anthropic: Wire = {
  name: 'Anthropic messages',
  model: 'anthropic/claude-sonnet-4-5',
  keyVariable: 'ANTHROPIC_API_KEY',
  urlVariable: 'ANTHROPIC_BASE_URL',
  base: '/v1',
  path: '/v1/messages',
  events(said) {
    const { input, output } = usageOf(said)
    const list = [
      event({
        type: 'message_start',
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: input, output_tokens: 1 },
        },
      } as Any),
    ]
    let index = 0
    const block = (content_block: object, deltas: readonly object[]) => {
      list.push(event({ type: 'content_block_start', index, content_block } as Any))
      for (const delta of deltas) list.push(event({ type: 'content_block_delta', index, delta } as Any))
      list.push(event({ type: 'content_block_stop', index } as Any))
      index += 1
    }
    if (said.text)
      block(
        { type: 'text', text: '' },
        halves(said.text).map((text) => ({ type: 'text_delta', text })),
      )
    for (const call of said.calls ?? [])
      block(
        { type: 'tool_use', id: call.id, name: call.name, input: {} },
        halves(JSON.stringify(call.input)).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
      )
    list.push(
      event({
        type: 'message_delta',
        delta: { stop_reason: said.calls ? 'tool_use' : 'end_turn', stop_sequence: null },
        usage: { output_tokens: output },
      } as Any),
    )
    const end = list.length - 1
    list.push(event({ type: 'message_stop' }))
    return { list, end }
  },
  key: (asked) => asked.headers['x-api-key'] as string | undefined,
  history(body) {
    const blocks = ((body as Any).messages as Any[]).flatMap((each) => (Array.isArray(each.content) ? each.content : []))
    return {
      calls: blocks.filter((each) => each.type === 'tool_use').map(({ id, name, input }) => ({ id, name, input })),
      results: blocks
        .filter((each) => each.type === 'tool_result')
        .map(
          (each) =>
            `${each.tool_use_id}=${typeof each.content === 'string' ? each.content : each.content.map((part: Any) => part.text).join('')}`,
        ),
    }
  },
  error: (status, message, kind) => JSON.stringify({ type: 'error', error: { type: kind ?? `error_${status}`, message } }),
}

export const gemini: Wire = {
  name: 'Gemini',
  model: 'google/gemini-2.5-flash',
  keyVariable: 'GEMINI_API_KEY',
  urlVariable: 'GOOGLE_BASE_URL',
  config: (url) => ({ google: { kind: 'google', baseURL: `${url}/v1beta` } }),
  base: '/v1beta',
  path: '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
  events(said) {
    const { input, output } = usageOf(said)
    const usageMetadata = { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output }
    const chunk = (parts: readonly object[], more: object = {}) =>
      data({ candidates: [{ content: { role: 'model', parts }, index: 0, ...more }], modelVersion: 'm', usageMetadata })
    const list = said.text ? halves(said.text).map((text) => chunk([{ text }])) : []
    for (const { id, name, input: args } of said.calls ?? []) list.push(chunk([{ functionCall: { id, name, args } }]))
    list.push(chunk([{ text: '' }], { finishReason: 'STOP' }))
    return { list, end: list.length - 1 }
  },
  key: (asked) => asked.headers['x-goog-api-key'] as string | undefined,
  history(body) {
    const blocks = ((body as Any).contents as Any[]).flatMap((each) => each.parts)
    return {
      calls: blocks.filter((each) => each.functionCall).map((each) => ({ name: each.functionCall.name, input: each.functionCall.args })),
      results: blocks.filter((each) => each.functionResponse).map((each) => JSON.stringify(each.functionResponse)),
    }
  },
  error: (status, message, kind) => JSON.stringify({ error: { code: status, message, status: kind ?? 'UNKNOWN' } }),
}

const compatible = (name: string, model: string, variable: string): Wire => ({
  ...openAiChat,
  name,
  model,
  keyVariable: `${variable}_API_KEY`,
  urlVariable: `${variable}_BASE_URL`,
  config: undefined as never,
})
export const openRouter = compatible('OpenRouter', 'openrouter/meta-llama/llama-3.3-70b-instruct', 'OPENROUTER')
export const ollama: Wire = {
  ...compatible('Ollama', 'ollama/qwen3', 'OLLAMA'),
  config: (url, apiKey) => ({ ollama: { baseURL: `${url}/v1`, ...(apiKey !== undefined && { apiKey }) } }),
}
export const lab = compatible('any OpenAI-compatible server', 'lab/tiny-1', 'LAB')

/** What `modelAdapter` needs to reach a server of ours: everything passed, nothing found. */
export function optionsFor(wire: Wire, url: string, key: string | undefined = 'sk-acceptance-key') {
  const variables: Record<string, string> = {}
  if (key !== undefined) variables[wire.keyVariable] = key
  if (!wire.config) variables[wire.urlVariable] = `${url}${wire.base}`
  return { variables, ...(wire.config && { providers: wire.config(url, key) as Any }) }
}
