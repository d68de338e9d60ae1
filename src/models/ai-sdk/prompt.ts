import type {
  LanguageModelV4Message,
  LanguageModelV4ReasoningPart,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import type { CallPart, CallResult, JsonObject, Message, ReplyPart } from '../../contracts/index.ts'
import { shortHash } from '../../util/hash.ts'
import { parseJsonObject } from '../../util/json-object.ts'
import { argumentsOf } from '../shared/index.ts'
import { type Dialect, namespaceOf } from './dialect.ts'
import { type InputRules, toUserPart, type UserPart } from './input-parts.ts'

/** The conversation as a provider wants to see it. Throws where a part of it cannot be said to this provider. */
export function toPrompt(system: string, messages: readonly Message[], rules: InputRules): LanguageModelV4Message[] {
  const prompt: LanguageModelV4Message[] = system === '' ? [] : [{ role: 'system', content: system }]
  for (const message of messages) {
    const said = toMessage(message, rules)
    if (said.content.length === 0) continue
    const last = prompt.at(-1)
    // The templates of many local models insist on turns that alternate.
    if (rules.dialect === 'openai-compatible' && last?.role === 'user' && said.role === 'user')
      prompt[prompt.length - 1] = joined(last, said)
    else prompt.push(said)
  }
  return prompt
}

function toMessage(message: Message, rules: InputRules): Exclude<LanguageModelV4Message, { role: 'system' }> {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: message.parts.map((part) => toUserPart(part, rules)).filter(isSaying) }
    case 'assistant':
      return { role: 'assistant', content: message.parts.flatMap((part) => toReplyPart(part, rules.dialect)) }
    case 'tool':
      return { role: 'tool', content: message.results.map((result) => toResult(result, rules.dialect)) }
    default:
      return message satisfies never
  }
}

// Empty texts say nothing, and some providers refuse them.
const isSaying = (part: UserPart): boolean => part.type !== 'text' || part.text !== ''

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
      // Gemini signs texts, even empty ones, and wants the signature back.
      return part.text === '' && !(dialect === 'google' && options) ? [] : [{ type: 'text', text: part.text, ...options }]
    case 'reasoning':
      return canRead(part.metadata, dialect) ? [{ type: 'reasoning', text: part.text, ...options }] : []
    case 'call':
      return [{ type: 'tool-call', toolCallId: callId(part.id, dialect), toolName: part.name, input: callInput(part, dialect), ...options }]
    default:
      return part satisfies never
  }
}

/** Thoughts are signed by whoever had them: another provider cannot use them. */
function canRead(metadata: JsonObject | undefined, dialect: Dialect): boolean {
  const owners = Object.keys(metadata ?? {})
  if (dialect === 'openai-compatible' || dialect === 'plain') return owners.every((owner) => !signing.includes(owner))
  return owners.includes(namespaceOf[dialect]) || owners.some((owner) => resellers[dialect].includes(owner))
}

const signing: readonly string[] = [namespaceOf.openai, namespaceOf.anthropic, namespaceOf.google]

/** Under which other names models of the same provider sign. */
const resellers: { readonly [D in 'openai' | 'anthropic' | 'google']: readonly string[] } = {
  openai: ['azure'],
  anthropic: ['bedrock', 'vertex', 'googleVertex'],
  google: ['vertex', 'googleVertex'],
}

const optionsFrom = (metadata: JsonObject | undefined): { providerOptions: SharedV4ProviderOptions } | undefined =>
  // It came from the provider under these very names, and goes back as it came.
  metadata && Object.keys(metadata).length > 0 ? { providerOptions: metadata as unknown as SharedV4ProviderOptions } : undefined

/** To the letter, where the provider takes text: its cache knows the request by its letters. */
function callInput({ input }: CallPart, dialect: Dialect): unknown {
  const takesText = dialect === 'openai' || dialect === 'openai-compatible'
  return takesText && parseJsonObject(input) ? input : argumentsOf(input)
}

function toResult({ id, name, ok, content }: CallResult, dialect: Dialect): LanguageModelV4ToolResultPart {
  return {
    type: 'tool-result',
    toolCallId: callId(id, dialect),
    toolName: name,
    output: { type: ok ? 'text' : 'error-text', value: content },
  }
}

/** A call may have been made by another provider's model, under an id that this provider would refuse. */
function callId(id: string, dialect: Dialect): string {
  if (dialect === 'anthropic' && !/^[\w-]+$/.test(id)) return `${id.replaceAll(/[^\w-]/g, '_')}_${shortHash(id)}`
  if (dialect === 'openai' && id.length > longestOpenAiId) return `${id.slice(0, 40)}_${shortHash(id)}`
  return id
}

const longestOpenAiId = 64
