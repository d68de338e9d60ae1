import type {
  CallIntent,
  CallPart,
  CallRecord,
  CallResult,
  Effect,
  FilePart,
  ImagePart,
  Message,
  ReasoningPart,
  TextPart,
  TextRecord,
} from '../../contracts/index.ts'
import { lane } from './policies.ts'
import {
  amount,
  anyJson,
  anyObject,
  anyOf,
  closed,
  constant,
  count,
  listOf,
  name,
  oneOf,
  optional,
  reference,
  text,
  truth,
} from './shapes.ts'
import { callType, itemStatus, textType } from './words.ts'

// Items with their intents and records, and messages.

type Is<Union, Key extends keyof Union, Value> = Extract<Union, { readonly [K in Key]: Value }>

export const callIntent = closed<CallIntent>({
  kind: constant('call'),
  id: name,
  type: callType,
  tool: text,
  namespace: text,
  title: text,
  providerCallId: text,
  input: anyObject,
  effect: oneOf<Effect>({ read: true, idempotent: true, write: true }),
  lane,
  details: optional(anyObject),
  approved: optional(closed<NonNullable<CallIntent['approved']>>({ by: text })),
  answer: optional(text),
})
export const callRecord = closed<CallRecord>({
  kind: constant('call'),
  id: name,
  type: callType,
  status: itemStatus,
  content: text,
  value: optional(anyJson),
  error: optional(reference('ToolFailure')),
  output: optional(closed<NonNullable<CallRecord['output']>>({ handle: name, bytes: count })),
  latencyMs: amount,
  bytesIn: count,
  bytesOut: count,
})
export const textRecord = closed<TextRecord>({
  kind: constant('text'),
  id: name,
  type: textType,
  status: itemStatus,
  text,
  metadata: optional(anyObject),
})

const textPart = closed<TextPart>({ type: constant('text'), text, metadata: optional(anyObject) })
const reasoningPart = closed<ReasoningPart>({ type: constant('reasoning'), text, metadata: optional(anyObject) })
export const callPart = closed<CallPart>({ type: constant('call'), id: text, name: text, input: text, metadata: optional(anyObject) })
export const inputPart = anyOf(
  textPart,
  closed<ImagePart>({ type: constant('image'), mediaType: text, data: text }),
  closed<FilePart>({ type: constant('file'), mediaType: text, data: text, name: optional(text) }),
)
export const message = anyOf(
  closed<Is<Message, 'role', 'user'>>({ role: constant('user'), parts: listOf(reference('InputPart')) }),
  closed<Is<Message, 'role', 'assistant'>>({
    role: constant('assistant'),
    parts: listOf(anyOf(textPart, reasoningPart, reference('CallPart'))),
  }),
  closed<Is<Message, 'role', 'tool'>>({
    role: constant('tool'),
    results: listOf(closed<CallResult>({ id: text, name: text, ok: truth, content: text })),
  }),
)
