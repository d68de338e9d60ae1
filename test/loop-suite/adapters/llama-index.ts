import { fromLlamaIndex } from '../../../src/models/llama-index/index.ts'
import { pieces } from '../../wire/wire-reply.ts'
import { finishOf, inputText, type LoopAdapter, type PlayedCall, type PlayedReply } from '../conversation.ts'
import { refused, Script } from '../script.ts'

const seal = 'sealed-by-stand-in'

interface ChatParams {
  readonly messages: readonly { readonly role: string }[]
  readonly tools?: readonly unknown[]
  readonly stream: true
}

/** Stands in for an LLM of `@llamaindex/core` 0.6, which is no longer maintained: OpenAI's chunks, Anthropic's thinking. */
class StandIn {
  readonly supportToolCall = true
  readonly metadata = { model: 'stand-in', contextWindow: 100_000 }
  readonly #script: Script

  constructor(script: Script) {
    this.#script = script
  }

  async chat(params: ChatParams): Promise<AsyncIterable<object>> {
    const reply = this.#script.take(params)
    const refusal = refused(reply)
    if (refusal) throw refusal
    return this.#chunks(reply)
  }

  async *#chunks(reply: PlayedReply): AsyncGenerator<object> {
    const all = [...wordChunks(reply), ...(reply.calls ?? []).flatMap(callChunks)]
    for (const chunk of reply.fault === 'cut' ? all.slice(0, -1) : all) yield chunk
    if (reply.fault === 'silence') await this.#script.silence(undefined)
    if (reply.fault === undefined) yield* ending(reply)
  }
}

const reasons = { stop: 'stop', 'tool-calls': 'tool_calls', length: 'length', 'content-filter': 'content_filter' }
const raw = { object: 'chat.completion.chunk', choices: [{ index: 0, finish_reason: null }] }

function wordChunks({ reasoning, text }: PlayedReply): readonly object[] {
  return [
    ...pieces(reasoning ?? '').map((thinking) => ({ raw, delta: '', options: { thinking } })),
    ...(reasoning === undefined ? [] : [{ raw, delta: '', options: { thinking_signature: seal } }]),
    ...pieces(text ?? '').map((delta) => ({ raw, delta, options: {} })),
  ]
}

/** Each chunk has the call so far; at the end its arguments are an object, where they can be read. */
function callChunks(call: PlayedCall): readonly object[] {
  const { id, name, input } = call
  const texts = pieces(inputText(call)).map((_, i, all) => all.slice(0, i + 1).join(''))
  return [...texts, input].map((sofar) => ({ raw, delta: '', options: { toolCall: [{ id, name, input: sofar }] } }))
}

function* ending(reply: PlayedReply): Generator<object> {
  const { usage } = reply
  yield { raw: { ...raw, choices: [{ index: 0, finish_reason: reasons[finishOf(reply)] }] }, delta: '', options: {} }
  if (!usage) return
  const counted = {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  }
  yield { raw: { ...raw, choices: [], usage: counted }, delta: '' }
}

export const llamaIndex: LoopAdapter = {
  name: 'LlamaIndex stand-in',
  seal,
  play(replies, { costOf } = {}) {
    const script = new Script(replies)
    const model = fromLlamaIndex(new StandIn(script), costOf && { costOf })
    return { model, requests: script.requests, abandoned: () => script.abandoned }
  },
  messagesIn: (request) => (request as ChatParams).messages.filter(({ role }) => role !== 'system'),
  toolsAreOff: (request) => (request as ChatParams).tools === undefined,
  cannot: { 'gives up its request': 'chat() of LlamaIndex takes no signal: the request goes on in the background.' },
}
