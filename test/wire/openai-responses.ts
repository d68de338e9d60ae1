import type {
  Response,
  ResponseFunctionToolCall,
  ResponseOutputItem,
  ResponseOutputMessage,
  ResponseOutputText,
  ResponseReasoningItem,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses'
import type { SseEvent } from '../../src/testing/index.ts'
import { createdAt, pieces, type WireCall, type WireReply } from './wire-reply.ts'

/** An event before it is numbered. */
type Draft = ResponseStreamEvent extends infer Event ? (Event extends unknown ? Omit<Event, 'sequence_number'> : never) : never
interface Part {
  readonly item: ResponseOutputItem
  readonly drafts: readonly Draft[]
}

export function encodeOpenAiResponses(reply: WireReply, model = 'gpt-5-mini'): readonly SseEvent[] {
  const makers = [
    ...(reply.reasoning === undefined ? [] : [(index: number) => reasoningPart(reply.reasoning ?? '', index)]),
    ...(reply.text === undefined ? [] : [(index: number) => messagePart(reply.text ?? '', index)]),
    ...(reply.calls ?? []).map((call) => (index: number) => callPart(call, index)),
  ]
  const parts = makers.map((make, index) => make(index))
  const begun = responseOf(model)
  const isWhole = reply.finish === 'stop' || reply.finish === 'tool-calls'
  const ended: Response = {
    ...begun,
    status: isWhole ? 'completed' : 'incomplete',
    incomplete_details: isWhole ? null : { reason: reply.finish === 'length' ? 'max_output_tokens' : 'content_filter' },
    output: parts.map(({ item }) => item),
    usage: usageOf(reply),
  }
  const drafts: readonly Draft[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...parts.flatMap((part) => part.drafts),
    { type: isWhole ? 'response.completed' : 'response.incomplete', response: ended },
  ]
  return drafts.map(({ type, ...rest }, sequence_number) => ({ event: type, data: { type, sequence_number, ...rest } }))
}

export function responseOf(model: string): Response {
  return {
    id: 'resp_01',
    object: 'response',
    created_at: createdAt,
    status: 'in_progress',
    access_programs: null,
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    model,
    output: [],
    // The wire has no such field: the client adds it.
    output_text: undefined as never,
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: 'medium', summary: 'auto' },
    service_tier: 'default',
    temperature: 1,
    text: { format: { type: 'text' }, verbosity: 'medium' },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
    metadata: {},
  }
}

function usageOf({ usage }: WireReply): NonNullable<Response['usage']> {
  return {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.input + usage.output,
  }
}

function reasoningPart(text: string, output_index: number): Part {
  const item_id = `rs_${output_index}`
  const at = { item_id, output_index, summary_index: 0 }
  const item: ResponseReasoningItem = {
    id: item_id,
    type: 'reasoning',
    encrypted_content: 'gAAAA-sealed',
    summary: [{ type: 'summary_text', text }],
  }
  return {
    item,
    drafts: [
      { type: 'response.output_item.added', output_index, item: { ...item, summary: [] } },
      { type: 'response.reasoning_summary_part.added', ...at, part: { type: 'summary_text', text: '' } },
      ...pieces(text).map((delta): Draft => ({ type: 'response.reasoning_summary_text.delta', ...at, delta })),
      { type: 'response.reasoning_summary_text.done', ...at, text },
      { type: 'response.reasoning_summary_part.done', ...at, part: { type: 'summary_text', text } },
      { type: 'response.output_item.done', output_index, item },
    ],
  }
}

function messagePart(text: string, output_index: number): Part {
  const item_id = `msg_${output_index}`
  const at = { item_id, output_index, content_index: 0 }
  const partOf = (whole: string): ResponseOutputText => ({ type: 'output_text', annotations: [], logprobs: [], text: whole })
  const item: ResponseOutputMessage = { id: item_id, type: 'message', status: 'completed', role: 'assistant', content: [partOf(text)] }
  return {
    item,
    drafts: [
      { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress', content: [] } },
      { type: 'response.content_part.added', ...at, part: partOf('') },
      ...pieces(text).map((delta): Draft => ({ type: 'response.output_text.delta', ...at, delta, logprobs: [] })),
      { type: 'response.output_text.done', ...at, text, logprobs: [] },
      { type: 'response.content_part.done', ...at, part: partOf(text) },
      { type: 'response.output_item.done', output_index, item },
    ],
  }
}

function callPart({ id, name, input }: WireCall, output_index: number): Part {
  const item_id = `fc_${output_index}`
  const at = { item_id, output_index }
  const whole = JSON.stringify(input)
  const item: ResponseFunctionToolCall = { id: item_id, type: 'function_call', status: 'completed', arguments: whole, call_id: id, name }
  return {
    item,
    drafts: [
      { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress', arguments: '' } },
      ...pieces(whole).map((delta): Draft => ({ type: 'response.function_call_arguments.delta', ...at, delta })),
      { type: 'response.function_call_arguments.done', ...at, arguments: whole },
      { type: 'response.output_item.done', output_index, item },
    ],
  }
}
