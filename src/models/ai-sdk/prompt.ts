import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4ReasoningPart,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import type { CallPart, CallResult, FilePart, ImagePart, InputPart, JsonObject, Message, ReplyPart } from '../../contracts/index.ts'
import { parseDataUrl } from '../../util/data-url.ts'
import { shortHash } from '../../util/hash.ts'
import { parseJsonObject } from '../../util/json-values.ts'
import { isTextType } from '../../util/media-type.ts'
import { FailureError, failing } from '../failures/index.ts'
import { argumentsOf, resultParts } from '../shared/index.ts'
import { type Dialect, namespaceOf } from './dialect.ts'

export type SupportedUrls = { readonly [mediaType: string]: readonly RegExp[] }

/** Which inputs a provider accepts. */
interface InputRules {
  readonly dialect: Dialect
  /** Addresses that the provider fetches. Troupe never fetches any. */
  readonly supportedUrls: SupportedUrls
}

interface PromptRules extends InputRules {
  /** Whether a result can have images and files. Otherwise they are in a user message after it. */
  readonly takesResultParts: boolean
}

type UserPart = LanguageModelV4TextPart | LanguageModelV4FilePart

/** A part of a user message. Throws if the provider cannot read it. */
export function toUserPart(part: InputPart, rules: InputRules): UserPart {
  if (part.type === 'text') return { type: 'text', text: part.text }
  const content = readData(part)
  if (part.type === 'file' && content.kind === 'bytes' && isTextType(content.mediaType)) {
    return { type: 'text', text: asText(part, content) }
  }
  return {
    type: 'file',
    mediaType: content.mediaType,
    data: content.kind === 'bytes' ? { type: 'data', data: content.base64 } : { type: 'url', url: readable(content, rules) },
    ...(part.type === 'file' && part.name !== undefined && { filename: part.name }),
  }
}

type Content =
  | { readonly kind: 'bytes'; readonly mediaType: string; readonly base64: string }
  | { readonly kind: 'url'; readonly mediaType: string; readonly url: URL }

function readData({ mediaType, data }: ImagePart | FilePart): Content {
  if (/^data:/i.test(data)) return readDataUrl(data, mediaType)
  if (!/^[a-z][a-z0-9+.-]*:/i.test(data)) return { kind: 'bytes', mediaType, base64: data }
  const url = URL.parse(data)
  if (url?.protocol === 'https:') return { kind: 'url', mediaType, url }
  throw unreadable(`The address ${brief(data)} cannot be read by a model.`, 'Give an https: address, a data: address or base64.')
}

function readDataUrl(data: string, mediaType: string): Content {
  const parsed = parseDataUrl(data)
  if (!parsed) throw unreadable(`The address ${brief(data)} has no data.`, 'A data: address is data:<media type>;base64,<data>.')
  const base64 = parsed.isBase64 ? parsed.body : Buffer.from(decoded(parsed.body), 'utf8').toString('base64')
  // The media type in the address wins.
  return { kind: 'bytes', mediaType: parsed.mediaType === '' ? mediaType : parsed.mediaType, base64 }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw unreadable(`The address data:${brief(text)} is not encoded well.`, 'Give base64 instead.')
  }
}

function readable({ url, mediaType }: Extract<Content, { kind: 'url' }>, { dialect, supportedUrls }: InputRules): URL {
  // OpenAI-compatible servers accept any address or refuse it themselves.
  if (dialect === 'openai-compatible' || isSupported(url, mediaType, supportedUrls)) return url
  throw unreadable(`The provider does not read ${mediaType} from ${url.origin}.`, 'Give the data itself, as base64 or as a data: address.')
}

function isSupported(url: URL, mediaType: string, supported: SupportedUrls): boolean {
  return Object.entries(supported).some(
    ([type, patterns]) => covers(type.toLowerCase(), mediaType.toLowerCase()) && patterns.some((pattern) => pattern.test(url.href)),
  )
}

const covers = (pattern: string, mediaType: string): boolean =>
  pattern === '*' || pattern === '*/*' || pattern === mediaType || (pattern.endsWith('/*') && mediaType.startsWith(pattern.slice(0, -1)))

/** Text files are sent as text: providers differ in which ones they accept as files. So the model needs no ability for them. */
export const isSentAsText = (part: InputPart): boolean =>
  part.type === 'text' || (part.type === 'file' && isTextType(part.mediaType) && !/^https:/i.test(part.data))

function asText({ name }: FilePart, { mediaType, base64 }: Extract<Content, { kind: 'bytes' }>): string {
  return `File ${name === undefined ? '' : `${JSON.stringify(name)} `}(${mediaType}):\n\n${Buffer.from(base64, 'base64').toString('utf8')}`
}

const brief = (text: string): string => JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)

const unreadable = (message: string, remedy: string): FailureError => new FailureError(failing('config', message, remedy))

/** The conversation for a provider. Throws if the provider does not support a part of it. */
export function toPrompt(system: string, messages: readonly Message[], rules: PromptRules): LanguageModelV4Message[] {
  const prompt: LanguageModelV4Message[] = system === '' ? [] : [{ role: 'system', content: system }]
  const add = (said: Said): void => {
    if (said.content.length === 0) return
    const last = prompt.at(-1)
    // The chat templates of many local models require alternating roles.
    if (rules.dialect === 'openai-compatible' && last?.role === 'user' && said.role === 'user')
      prompt[prompt.length - 1] = joined(last, said)
    else prompt.push(said)
  }
  for (const message of messages) {
    add(toMessage(message, rules))
    if (message.role !== 'tool') continue
    const beside = resultParts(message.results.filter((result) => !isWhole(result, rules)))
    if (beside.length > 0) add(toMessage({ role: 'user', parts: beside }, rules))
  }
  return prompt
}

type Said = Exclude<LanguageModelV4Message, { role: 'system' }>

function toMessage(message: Message, rules: PromptRules): Said {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: message.parts.map((part) => toUserPart(part, rules)).filter(isNotEmpty) }
    case 'assistant':
      return { role: 'assistant', content: message.parts.flatMap((part) => toReplyPart(part, rules.dialect)) }
    case 'tool':
      return { role: 'tool', content: message.results.map((result) => toResult(result, rules)) }
    default:
      return message satisfies never
  }
}

// Some providers refuse empty texts.
const isNotEmpty = (part: UserPart): boolean => part.type !== 'text' || part.text !== ''

type UserMessage = Extract<LanguageModelV4Message, { role: 'user' }>

function joined(first: UserMessage, second: UserMessage): UserMessage {
  const parts = [...first.content, ...second.content]
  if (!parts.every((part) => part.type === 'text')) return { role: 'user', content: parts }
  return { role: 'user', content: [{ type: 'text', text: parts.map(({ text }) => text).join('\n\n') }] }
}

type SaidPart = LanguageModelV4TextPart | LanguageModelV4ReasoningPart | LanguageModelV4ToolCallPart

function toReplyPart(part: ReplyPart, dialect: Dialect): readonly SaidPart[] {
  const options = optionsFrom(part.metadata)
  switch (part.type) {
    case 'text':
      // Gemini signs even empty texts, and needs the signature back.
      return part.text === '' && !(dialect === 'google' && options) ? [] : [{ type: 'text', text: part.text, ...options }]
    case 'reasoning':
      return canRead(part.metadata, dialect) ? [{ type: 'reasoning', text: part.text, ...options }] : []
    case 'call':
      return [{ type: 'tool-call', toolCallId: callId(part.id, dialect), toolName: part.name, input: callInput(part, dialect), ...options }]
    default:
      return part satisfies never
  }
}

/** Reasoning is signed by its provider: another one cannot use it. */
function canRead(metadata: JsonObject | undefined, dialect: Dialect): boolean {
  const owners = Object.keys(metadata ?? {})
  if (dialect === 'openai-compatible' || dialect === 'plain') return owners.every((owner) => !signing.includes(owner))
  return owners.includes(namespaceOf[dialect]) || owners.some((owner) => resellers[dialect].includes(owner))
}

const signing: readonly string[] = [namespaceOf.openai, namespaceOf.anthropic, namespaceOf.google]

/** Other names under which models of the same provider sign. */
const resellers: { readonly [D in 'openai' | 'anthropic' | 'google']: readonly string[] } = {
  openai: ['azure'],
  anthropic: ['bedrock', 'vertex', 'googleVertex'],
  google: ['vertex', 'googleVertex'],
}

const optionsFrom = (metadata: JsonObject | undefined): { providerOptions: SharedV4ProviderOptions } | undefined =>
  // It came from the provider under these names, and is returned unchanged.
  metadata && Object.keys(metadata).length > 0 ? { providerOptions: metadata as unknown as SharedV4ProviderOptions } : undefined

/** Unchanged where the provider accepts text: its prompt cache needs identical text. */
function callInput({ input }: CallPart, dialect: Dialect): unknown {
  const takesText = dialect === 'openai' || dialect === 'openai-compatible'
  return takesText && parseJsonObject(input) ? input : argumentsOf(input)
}

function toResult(result: CallResult, rules: PromptRules): LanguageModelV4ToolResultPart {
  const { id, name, ok, content } = result
  const files = isWhole(result, rules) ? resultFiles(result) : []
  return {
    type: 'tool-result',
    toolCallId: callId(id, rules.dialect),
    toolName: name,
    output:
      files.length > 0
        ? { type: 'content', value: [{ type: 'text', text: content }, ...files] }
        : { type: ok ? 'text' : 'error-text', value: content },
  }
}

/** Whether images and files are sent with the result. The form for failures has text only. */
const isWhole = ({ ok }: CallResult, { takesResultParts }: PromptRules): boolean => ok && takesResultParts

function resultFiles({ parts = [] }: CallResult): readonly LanguageModelV4FilePart[] {
  return parts.flatMap((part) =>
    'blob' in part && part.data !== undefined
      ? [
          {
            type: 'file',
            mediaType: part.mediaType,
            data: { type: 'data', data: part.data },
            ...(part.name !== undefined && { filename: part.name }),
          } as const,
        ]
      : [],
  )
}

/** A call of another provider's model may have an id that this provider refuses. */
function callId(id: string, dialect: Dialect): string {
  if (dialect === 'anthropic' && !/^[\w-]+$/.test(id)) return `${id.replaceAll(/[^\w-]/g, '_')}_${shortHash(id)}`
  if (dialect === 'openai' && id.length > maxOpenAiIdLength) return `${id.slice(0, 40)}_${shortHash(id)}`
  return id
}

const maxOpenAiIdLength = 64
