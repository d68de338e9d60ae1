import { BaseChatModel, type BaseChatModelCallOptions } from '@langchain/core/language_models/chat_models'
import { AIMessageChunk, type AIMessageChunkFields, type BaseMessage, mapChatMessagesToStoredMessages } from '@langchain/core/messages'
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs'
import { fromLangChain } from '../../../src/models/langchain/index.ts'
import { pieces } from '../../wire/wire-reply.ts'
import { finishOf, inputText, type LoopAdapter, type PlayedReply } from '../conversation.ts'
import { refused, Script } from '../script.ts'

/** How an integration speaks: OpenAI's in texts, Anthropic's in blocks with an index. */
interface Style {
  readonly provider: string
  chunks(reply: PlayedReply): readonly AIMessageChunk[]
}
interface CallOptions extends BaseChatModelCallOptions {
  readonly tools?: readonly unknown[]
}
interface Asked {
  readonly messages: readonly { readonly type: string }[]
  readonly tool_choice?: unknown
}

const seal = 'sealed-by-blocks'

/** A real chat model of `@langchain/core`, all but its provider. */
class PlayedChat extends BaseChatModel<CallOptions> {
  readonly model = 'played'
  readonly #script: Script
  readonly #style: Style

  constructor(script: Script, style: Style) {
    super({})
    this.#script = script
    this.#style = style
  }

  _llmType(): string {
    return 'played'
  }

  override bindTools(tools: unknown[], options: Partial<CallOptions> = {}) {
    return this.withConfig({ tools, ...options })
  }

  override _generate(): Promise<ChatResult> {
    return Promise.reject(new Error('asked without a stream'))
  }

  override async *_streamResponseChunks(messages: BaseMessage[], options: this['ParsedCallOptions']): AsyncGenerator<ChatGenerationChunk> {
    const { tools, tool_choice, signal } = options
    const reply = this.#script.take({ messages: mapChatMessagesToStoredMessages(messages), tools, tool_choice })
    const refusal = refused(reply)
    if (refusal) throw refusal
    try {
      yield* this.#chunks(reply)
      if (reply.fault === 'silence') await this.#script.silence(signal)
    } finally {
      // Whoever leaves while there is still something to be said does not wait for the silence.
      this.#script.giveUp()
    }
  }

  *#chunks(reply: PlayedReply): Generator<ChatGenerationChunk> {
    const chunks = this.#style.chunks(reply)
    for (const message of reply.fault === 'cut' ? chunks.slice(0, -2) : reply.fault === 'silence' ? chunks.slice(0, -1) : chunks)
      yield new ChatGenerationChunk({ message, text: message.text })
  }
}

const adapter = (name: string, style: Style, more: Partial<LoopAdapter> = {}): LoopAdapter => ({
  name,
  play(replies, { costOf } = {}) {
    const script = new Script(replies)
    const model = fromLangChain(new PlayedChat(script, style), costOf && { costOf })
    return { model, requests: script.requests, abandoned: () => script.abandoned }
  },
  messagesIn: (request) => (request as Asked).messages.filter(({ type }) => type !== 'system'),
  toolsAreOff: (request) => (request as Asked).tool_choice === 'none',
  ...more,
})

const usageOf = ({ usage }: PlayedReply): object =>
  usage === undefined
    ? {}
    : {
        usage_metadata: {
          input_tokens: usage.input,
          output_tokens: usage.output,
          total_tokens: usage.input + usage.output,
          input_token_details: { cache_read: usage.cacheRead, cache_creation: usage.cacheWrite },
          output_token_details: { reasoning: usage.reasoning },
        },
      }

const inTexts: Style = {
  provider: 'openai',
  chunks(reply) {
    const said = (fields: Partial<AIMessageChunkFields>) =>
      new AIMessageChunk({ content: '', response_metadata: { model_provider: 'openai' }, ...fields })
    const reasons = { stop: 'stop', 'tool-calls': 'tool_calls', length: 'length', 'content-filter': 'content_filter' }
    return [
      ...pieces(reply.reasoning ?? '').map((piece) => said({ additional_kwargs: { reasoning_content: piece } })),
      ...pieces(reply.text ?? '').map((content) => said({ content })),
      ...(reply.calls ?? []).flatMap((call, index) => [
        said({ tool_call_chunks: [{ id: call.id, name: call.name, args: '', index }] }),
        ...pieces(inputText(call)).map((args) => said({ tool_call_chunks: [{ args, index }] })),
      ]),
      said({ response_metadata: { model_provider: 'openai', finish_reason: reasons[finishOf(reply)] }, ...usageOf(reply) }),
    ]
  },
}

const inBlocks: Style = {
  provider: 'anthropic',
  chunks(reply) {
    const said = (block: object, more: object = {}) =>
      new AIMessageChunk({ content: [block as { type: string }], response_metadata: { model_provider: 'anthropic' }, ...more })
    const reasons = { stop: 'end_turn', 'tool-calls': 'tool_use', length: 'max_tokens', 'content-filter': 'refusal' }
    const { reasoning, text, calls = [] } = reply
    return [
      ...pieces(reasoning ?? '').map((thinking) => said({ type: 'thinking', thinking, index: 0 })),
      ...(reasoning === undefined ? [] : [said({ type: 'thinking', signature: seal, index: 0 })]),
      ...pieces(text ?? '').map((piece) => said({ type: 'text', text: piece, index: 1 })),
      ...calls.flatMap((call, place) => [
        said(
          { type: 'tool_use', id: call.id, name: call.name, input: '', index: place + 2 },
          { tool_call_chunks: [{ id: call.id, name: call.name, args: '', index: place + 2 }] },
        ),
        ...pieces(inputText(call)).map((args) =>
          said({ type: 'input_json_delta', input: args, index: place + 2 }, { tool_call_chunks: [{ args, index: place + 2 }] }),
        ),
      ]),
      new AIMessageChunk({ content: [], additional_kwargs: { stop_reason: reasons[finishOf(reply)] }, ...usageOf(reply) }),
    ]
  },
}

export const langChainInTexts = adapter('LangChain, content in texts', inTexts, {
  cannot: { 'sealed reasoning': 'Reasoning beside a text has no seal.' },
})
export const langChainInBlocks = adapter('LangChain, content in blocks', inBlocks, { seal })
