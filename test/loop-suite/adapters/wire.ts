import { expect } from 'vitest'
import { noUsage } from '../../../src/contracts/index.ts'
import { providerModel } from '../../../src/models/providers/index.ts'
import { FakeClock, type GatedReply, gatedServer, type PlainChunk } from '../../../src/testing/index.ts'
import { formats, type WireFormat } from '../../wire/formats.ts'
import { finishOf, type LoopAdapter, type PlayedReply } from '../conversation.ts'
import { refusal } from '../script.ts'

type Particulars = Pick<LoopAdapter, 'messagesIn' | 'toolsAreOff' | 'seal' | 'uncounted' | 'cannot'>

interface Body {
  readonly messages?: readonly { readonly role: string }[]
  readonly input?: readonly { readonly role?: string }[]
  readonly contents?: readonly unknown[]
  readonly tools?: readonly unknown[]
  readonly tool_choice?: unknown
  readonly toolConfig?: { readonly functionCallingConfig?: { readonly mode?: string } }
}
const spoken = (messages: readonly { readonly role?: string }[] = []) =>
  messages.filter(({ role }) => role !== 'system' && role !== 'developer')
const chat: Particulars = {
  messagesIn: (request) => spoken((request as Body).messages),
  toolsAreOff: (request) => (request as Body).tool_choice === 'none',
}
const withoutReasoning = {
  reasoning: 'OpenAI does not show reasoning over its chat API.',
  'sealed reasoning': 'OpenAI does not show reasoning over its chat API.',
}

const particulars: { readonly [format: string]: Particulars } = {
  'OpenAI chat': { ...chat, cannot: withoutReasoning },
  'OpenAI responses': {
    messagesIn: (request) => spoken((request as Body).input),
    toolsAreOff: (request) => (request as Body).tool_choice === 'none',
    seal: 'gAAAA-sealed',
  },
  'Anthropic messages': {
    messagesIn: (request) => (request as Body).messages ?? [],
    // Either way of it: without tools there is nothing to choose.
    toolsAreOff: (request) => {
      const { tools, tool_choice } = request as Body
      return tools === undefined || JSON.stringify(tool_choice) === '{"type":"none"}'
    },
    seal: 'EqQBCg-sealed',
  },
  Gemini: {
    messagesIn: (request) => (request as Body).contents ?? [],
    toolsAreOff: (request) => (request as Body).toolConfig?.functionCallingConfig?.mode === 'NONE',
    seal: 'CiQB-sealed',
    cannot: { 'broken arguments': 'Gemini sends arguments as a JSON object: they arrive whole or not at all.' },
  },
  Ollama: {
    ...chat,
    uncounted: ['cacheRead', 'reasoning'],
    cannot: { 'sealed reasoning': 'Ollama has no seal on its reasoning.' },
  },
  OpenRouter: {
    ...chat,
    cannot: { 'sealed reasoning': 'OpenRouter seals in reasoning_details, which the OpenAI-compatible package does not read.' },
  },
}

export const wires: readonly LoopAdapter[] = formats.map((format) => ({
  name: `${format.name} over HTTP`,
  ...(particulars[format.name] ?? expect.unreachable(`nothing is said about ${format.name}`)),
  async play(replies, { costOf } = {}) {
    const server = await gatedServer()
    const exchanges = replies.map((reply) => server.reply(gatedReply(format, reply)))
    const silent = exchanges[replies.findIndex(({ fault }) => fault === 'silence')]
    const clock = new FakeClock()
    const { kind, provider, model, api, base, keyVariable } = format
    return {
      model: await providerModel({
        kind,
        provider,
        model,
        keyVariable,
        settings: { baseURL: `${server.url}${base}`, apiKey: 'played', ...(api !== undefined && { api }) },
        ...(costOf && { facts: { costOf } }),
        clock,
      }),
      get requests() {
        return server.requests.map(({ body }) => body)
      },
      abandoned: async () => expect(await silent?.over).toBe('left'),
      close: () => server.close(),
    }
  },
}))

function gatedReply(format: WireFormat, reply: PlayedReply): GatedReply {
  const found = refusal(reply)
  if (found)
    return {
      status: found.status,
      headers: { 'content-type': 'application/json', ...found.headers },
      chunks: [JSON.stringify(format.errorBody(found.status, 'refused'))],
    }
  const chunks = encoded(format, reply)
  const last = chunks.findIndex((chunk) => format.terminal.test(textOf(chunk)))
  if (reply.fault === 'cut') return { chunks: chunks.slice(0, Math.ceil(last / 2)), ending: 'cut' }
  return reply.fault === 'silence' ? { chunks: chunks.slice(0, last), ending: 'silence' } : { chunks }
}

/** Arguments that come as a text are encoded as a value that fits in one piece, and loses its quotes on the wire. */
const quoted = { q: 'QQ' }
export const broken = '{"q":QQ}'

function encoded(format: WireFormat, reply: PlayedReply): readonly PlainChunk[] {
  const { calls = [], usage = noUsage, reasoning, text } = reply
  const isBroken = calls.some(({ input }) => typeof input === 'string')
  const chunks = format.encode({
    ...(reasoning !== undefined && { reasoning }),
    ...(text !== undefined && { text }),
    calls: calls.map(({ id, name, input }) => ({ id, name, input: typeof input === 'string' ? quoted : input })),
    finish: finishOf(reply),
    usage,
  })
  if (!isBroken) return chunks
  expect(calls.filter(({ input }) => typeof input === 'string').every(({ input }) => input === broken)).toBe(true)
  const unquoted = chunks.map((chunk) => (typeof chunk === 'object' && 'data' in chunk ? { ...chunk, data: unquote(chunk.data) } : chunk))
  expect(JSON.stringify(unquoted)).not.toBe(JSON.stringify(chunks))
  return unquoted
}

const unquote = (data: unknown): string => (typeof data === 'string' ? data : JSON.stringify(data)).replaceAll('\\"QQ\\"', 'QQ')
const textOf = (chunk: PlainChunk): string => (typeof chunk === 'string' ? chunk : JSON.stringify(chunk))
