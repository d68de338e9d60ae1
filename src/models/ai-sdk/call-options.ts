import type {
  JSONObject,
  JSONSchema7,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4ToolChoice,
} from '@ai-sdk/provider'
import { appendInstruction, type ModelRequest, type ToolSpec } from '../../contracts/index.ts'
import { cacheNotice, type Dialect, namespaceOf, takesResultParts } from './dialect.ts'
import { type OutputRules, outputOptions, outputRequest } from './output-format.ts'
import { type SupportedUrls, toPrompt } from './prompt.ts'
import { reasoningRequest } from './reasoning.ts'

/** A request for the AI SDK, and notices about parts that are dropped. */
interface PreparedCall {
  readonly options: LanguageModelV4CallOptions
  readonly notices: readonly string[]
}

/** Throws if the provider does not support a part of the request. */
export async function prepareCall(request: ModelRequest, rules: OutputRules): Promise<PreparedCall> {
  const { model, dialect } = rules
  const { cache, reasoning: _effort, ...settings } = request.parameters
  const wish = outputRequest(request, rules)
  const reasoning = reasoningRequest(request.parameters, model, dialect)
  const supportedUrls: SupportedUrls = (await model.supportedUrls) ?? {}
  const system = appendInstruction(request.system, wish.words)
  const prompt = toPrompt(system, request.messages, { dialect, supportedUrls, takesResultParts: takesResultParts(model, dialect) })
  const tools = request.tools.map(toTool)
  const marks = dialect === 'anthropic' && cache !== false
  const options: LanguageModelV4CallOptions = {
    prompt: marks ? withCacheMarks(prompt) : prompt,
    ...settings,
    ...(reasoning.maxOutputTokens !== undefined && { maxOutputTokens: reasoning.maxOutputTokens }),
    ...(tools.length > 0 && { tools: marks && system === '' ? withCacheMark(tools) : tools, toolChoice: choiceOf(request) }),
    ...(wish.schema && { responseFormat: { type: 'json' as const, schema: wish.schema as JSONSchema7, name: 'answer' } }),
    ...(reasoning.effort !== undefined && { reasoning: reasoning.effort }),
    ...ownOptions(dialect, { ...outputOptions(wish, rules), ...reasoning.options, ...pingOptions(rules) }),
  }
  return {
    options: model.specificationVersion === 'v4' ? options : { ...options, prompt: olderPrompt(options.prompt) },
    notices: [reasoning.notice, cache === false ? cacheNotice(dialect) : undefined].filter((notice) => notice !== undefined),
  }
}

const choiceOf = ({ toolChoice }: ModelRequest): LanguageModelV4ToolChoice =>
  typeof toolChoice === 'string' ? { type: toolChoice } : { type: 'tool', toolName: toolChoice.tool }

// The schema is sent unchanged: the provider's package adapts it.
const toTool = ({ name, description, inputSchema }: ToolSpec): LanguageModelV4FunctionTool => ({
  type: 'function',
  name,
  description,
  inputSchema: inputSchema as JSONSchema7,
})

/** Pings while the provider has nothing to send. */
const pingOptions = ({ model, dialect }: OutputRules): { readonly [name: string]: unknown } =>
  dialect === 'anthropic' && model.specificationVersion === 'v4' ? { includePings: true } : {}

function ownOptions(dialect: Dialect, options: { readonly [name: string]: unknown }) {
  if (dialect === 'plain' || Object.keys(options).length === 0) return {}
  return { providerOptions: { [namespaceOf[dialect]]: options as JSONObject } }
}

/** In the third specification files are plain data. */
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
 * Cache marks for Anthropic. A request may have four; these are three:
 *
 * 1. the system text with the tools before it: all sessions of an agent share it;
 * 2. the last message of the previous request: the cache hits there;
 * 3. the last message: the next request looks there.
 */
function withCacheMarks(prompt: readonly LanguageModelV4Message[]): LanguageModelV4Message[] {
  const ours = prompt.flatMap(({ role }, index) => (role === 'user' || role === 'tool' ? [index] : []))
  const marked = new Set([...ours.slice(-2), prompt.findIndex(({ role }) => role === 'system')])
  return prompt.map((message, index) => (marked.has(index) ? { ...message, ...mark } : message))
}

/** Without a system text the last tool is the end of the common prefix. */
function withCacheMark(tools: readonly LanguageModelV4FunctionTool[]): LanguageModelV4FunctionTool[] {
  return tools.map((tool, index) => (index === tools.length - 1 ? { ...tool, ...mark } : tool))
}
