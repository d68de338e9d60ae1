import type {
  JSONObject,
  JSONSchema7,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
} from '@ai-sdk/provider'
import { appendInstruction, type ModelRequest, type ToolSpec } from '../../contracts/index.ts'
import { cacheNotice, type Dialect, namespaceOf } from './dialect.ts'
import { type OutputRules, outputOptions, outputWish } from './output-format.ts'
import type { SupportedUrls } from './prompt.ts'
import { toPrompt } from './prompt.ts'
import { reasoningWish } from './reasoning.ts'

/** A request in the words of the AI SDK, and what of it will not be done as asked. */
interface PreparedCall {
  readonly options: LanguageModelV4CallOptions
  readonly notices: readonly string[]
}

/** Throws where a part of the request cannot be said to this provider. */
export async function prepareCall(request: ModelRequest, rules: OutputRules): Promise<PreparedCall> {
  const { model, dialect } = rules
  const { cache, reasoning: _effort, ...settings } = request.parameters
  const wish = outputWish(request, rules)
  const reasoning = reasoningWish(request.parameters, model, dialect)
  const supportedUrls: SupportedUrls = (await model.supportedUrls) ?? {}
  const system = appendInstruction(request.system, wish.words)
  const prompt = toPrompt(system, request.messages, { dialect, supportedUrls })
  const tools = request.tools.map(toTool)
  const marks = dialect === 'anthropic' && cache !== false
  const options: LanguageModelV4CallOptions = {
    prompt: marks ? withCacheMarks(prompt) : prompt,
    ...settings,
    ...(reasoning.maxOutputTokens !== undefined && { maxOutputTokens: reasoning.maxOutputTokens }),
    ...(tools.length > 0 && { tools: marks && system === '' ? withCacheMark(tools) : tools, toolChoice: { type: request.toolChoice } }),
    ...(wish.schema && { responseFormat: { type: 'json' as const, schema: wish.schema as JSONSchema7, name: 'answer' } }),
    ...(reasoning.effort !== undefined && { reasoning: reasoning.effort }),
    ...ownOptions(dialect, { ...outputOptions(wish, rules), ...reasoning.options, ...signsOfLife(rules) }),
  }
  return {
    options: model.specificationVersion === 'v4' ? options : { ...options, prompt: olderPrompt(options.prompt) },
    notices: [reasoning.notice, cache === false ? cacheNotice(dialect) : undefined].filter((notice) => notice !== undefined),
  }
}

// The schema goes as it is: the provider's package knows best what its provider does not take.
const toTool = ({ name, description, inputSchema }: ToolSpec): LanguageModelV4FunctionTool => ({
  type: 'function',
  name,
  description,
  inputSchema: inputSchema as JSONSchema7,
})

/** Signs of life, where the provider sends them while it has nothing to say. */
const signsOfLife = ({ model, dialect }: OutputRules): { readonly [name: string]: unknown } =>
  dialect === 'anthropic' && model.specificationVersion === 'v4' ? { includePings: true } : {}

function ownOptions(dialect: Dialect, options: { readonly [name: string]: unknown }) {
  if (dialect === 'plain' || Object.keys(options).length === 0) return {}
  return { providerOptions: { [namespaceOf[dialect]]: options as JSONObject } }
}

/** The third specification has files as bare data. */
function olderPrompt(prompt: readonly LanguageModelV4Message[]): LanguageModelV4Message[] {
  return prompt.map((message) => {
    if (message.role !== 'user') return message
    return { ...message, content: message.content.map((part) => (part.type === 'file' ? { ...part, data: bare(part.data) } : part)) }
  }) as LanguageModelV4Message[]
}

const bare = (data: { readonly type: string; readonly data?: unknown; readonly url?: unknown }): unknown =>
  data.type === 'url' ? data.url : data.data

const mark = { providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } } as const

/**
 * Asks Anthropic to keep the beginning of the request. Of the four marks that a request may bear it takes three:
 *
 * 1. the system text, which the tools go before: other sessions of the same agent share it;
 * 2. the last message that we sent before this one: there the request before this one ended, so there the cache hits;
 * 3. the last message: there the next request will look.
 */
function withCacheMarks(prompt: readonly LanguageModelV4Message[]): LanguageModelV4Message[] {
  const ours = prompt.flatMap(({ role }, index) => (role === 'user' || role === 'tool' ? [index] : []))
  const marked = new Set([...ours.slice(-2), prompt.findIndex(({ role }) => role === 'system')])
  return prompt.map((message, index) => (marked.has(index) ? { ...message, ...mark } : message))
}

/** Without a system text the last tool ends what sessions have in common. */
function withCacheMark(tools: readonly LanguageModelV4FunctionTool[]): LanguageModelV4FunctionTool[] {
  return tools.map((tool, index) => (index === tools.length - 1 ? { ...tool, ...mark } : tool))
}
