import type { Model, ModelRequest } from '../../contracts/index.ts'
import { countOf, fieldsOf, textOf } from '../../util/unknown-fields.ts'
import { frameworkModel, type ModelFacts, settledFacts } from '../shared/index.ts'
import {
  isFileElsewhere,
  type LlamaIndexLlm,
  type LlamaIndexMessage,
  type LlamaIndexTool,
  llamaIndexMessages,
} from './llama-index-messages.ts'
import { ReplyReader } from './llama-index-reply.ts'

/**
 * Adapts a LlamaIndex LLM. Nothing of LlamaIndex is loaded here. LlamaIndex for TypeScript is no longer maintained; the tests
 * use a stand-in with the shape of `@llamaindex/core` 0.6, not the library.
 *
 * - Build the LLM with `maxRetries: 0`: Troupe retries, and knows fallback models.
 * - Set temperature and the like where the LLM is built; a notice reports them here.
 * - A forced last answer gets no tools: there is no common way to offer tools and forbid their use.
 * - `chat` accepts no signal: a cancelled request continues in the background until the provider ends it.
 *
 * @example
 * const model = fromLlamaIndex(new OpenAI({ model: 'gpt-5-mini', maxRetries: 0 }), { id: 'openai/gpt-5-mini' })
 */
export function fromLlamaIndex(llm: LlamaIndexLlm, given: ModelFacts = {}): Model {
  const { model, contextWindow } = fieldsOf(llm.metadata)
  const tokens = countOf(contextWindow)
  const facts = settledFacts(given, {
    id: `llama-index/${(textOf(model) ?? 'model').replaceAll(/\s+/g, '-')}`,
    abilities: [...(llm.supportToolCall === true ? (['tools'] as const) : []), 'images', 'files', 'reasoning'],
    ...(tokens !== undefined && { contextTokens: tokens }),
  })
  return frameworkModel(facts, {
    reader: (messages) => new ReplyReader(facts.id, messages),
    prepare: (request) => ({ notices: noticesOf(request), open: () => chunksOf(llm, chatRequest(request, facts.id)) }),
  })
}

interface ChatRequest {
  readonly messages: readonly LlamaIndexMessage[]
  readonly tools?: readonly LlamaIndexTool[]
  readonly stream: true
}

function chatRequest({ system, messages, tools, toolChoice }: ModelRequest, id: string): ChatRequest {
  const offered = toolChoice === 'none' ? [] : tools
  return {
    messages: llamaIndexMessages(system, messages, id),
    ...(offered.length > 0 && {
      tools: offered.map(({ name, description, inputSchema }) => ({ metadata: { name, description, parameters: inputSchema } })),
    }),
    stream: true,
  }
}

const chunksOf = (llm: LlamaIndexLlm, request: ChatRequest): unknown => (llm as { chat(params: ChatRequest): unknown }).chat(request)

function noticesOf({ parameters, messages, toolChoice }: ModelRequest): readonly string[] {
  // Without a request for a cache there is none anyway.
  const settings = Object.entries(parameters).filter(([name, value]) => value !== undefined && !(name === 'cache' && value === false))
  const isForced = toolChoice === 'required' || typeof toolChoice === 'object'
  const hasFileElsewhere = messages.some((message) => message.role === 'user' && message.parts.some(isFileElsewhere))
  return [
    ...settings.map(([name]) => `A LlamaIndex LLM takes no "${name}" with a call. Set it where the LLM is built.`),
    ...(isForced ? ['A LlamaIndex LLM takes no choice of a tool with a call: it decides itself.'] : []),
    ...(hasFileElsewhere ? ['A LlamaIndex LLM takes no files by URL: it gets the address only.'] : []),
  ]
}
