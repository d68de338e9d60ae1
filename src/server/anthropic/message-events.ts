import { noUsage, type Outcome, type Report, type Usage } from '../../contracts/index.ts'
import { textWeight } from '../../util/text-weight.ts'
import type { TurnPart, WireCall } from '../http/index.ts'
import { charsPerToken } from './count-tokens.ts'
import { messageId, type StopReason, type WireBlock, type WireEvent, wireUsage } from './wire-format.ts'

// The parts of a turn as the events of one message.
//
// 1. Blocks do not overlap: a block ends when it is complete, or when another one begins.
// 2. `max_tokens` limits the last text only, which nobody knows before the turn ends. So text beyond the limit is held back: it is
//    sent if the agent goes on, and dropped if the text was the last one.
// 3. Calls of the client are blocks, after everything else. Calls of the agent are none, since a client would try to run them: they are
//    shown as pings.

/** Clients send it back with the thinking. Troupe does not use the thinking of clients, so there is nothing to sign. */
const signature = 'unsigned'

interface MessageEventsOptions {
  readonly answerId: string
  readonly model: string
  readonly maxTokens: number
  readonly showsThinking: boolean
  /** Only the first call of the client is sent. The others follow its result. */
  readonly oneCall: boolean
}

interface OpenBlock {
  readonly itemId: string
  readonly kind: 'text' | 'reasoning'
  readonly index: number
  /** Room for text, in characters of Latin text. */
  room: number
  held: string
}

export class MessageEvents {
  readonly #options: MessageEventsOptions
  #open: OpenBlock | undefined
  #blocks = 0
  #hasText = false
  #hasCalls = false
  #lastStep: Extract<TurnPart, { type: 'step.done' }> | undefined

  constructor(options: MessageEventsOptions) {
    this.#options = options
  }

  begin(): readonly WireEvent[] {
    const { answerId, model } = this.#options
    const usage = { ...wireUsage(noUsage), cache_creation: null, inference_geo: null, service_tier: null, speed: null }
    const ending = { stop_reason: null, stop_sequence: null, stop_details: null, container: null, diagnostics: null }
    return [
      {
        type: 'message_start',
        message: { id: messageId(answerId), type: 'message', role: 'assistant', model, content: [], ...ending, usage },
      },
      { type: 'ping' },
    ]
  }

  read(part: TurnPart): readonly WireEvent[] {
    switch (part.type) {
      case 'reasoning':
        return this.#options.showsThinking ? this.#piece(part) : []
      case 'text':
        return this.#piece(part)
      case 'text.done':
      case 'reasoning.done':
        return this.#open?.itemId === part.itemId && this.#open.held === '' ? this.#close() : []
      case 'call':
        return part.call.agentPath === 'root' ? [...this.#close(), { type: 'ping' }] : [{ type: 'ping' }]
      case 'step.done':
        this.#lastStep = part
        return []
      case 'client.call':
        return this.#hasCalls && this.#options.oneCall ? [] : this.#call(part.call)
      case 'call.done':
      case 'progress':
      case 'broken':
      case 'end':
        return []
      default:
        return part satisfies never
    }
  }

  /** The client has to run calls: the answer ends with `endWithCalls`. */
  get hasCalls(): boolean {
    return this.#hasCalls
  }

  endWithCalls(usage: Usage): readonly WireEvent[] {
    return ending('tool_use', usage)
  }

  /** An answer without live texts, such as JSON, is sent here. */
  end({
    report,
    usage,
    reason,
    speaker,
  }: Pick<Outcome, 'usage' | 'reason' | 'speaker'> & { readonly report: Report }): readonly WireEvent[] {
    const whole = { type: 'text', itemId: 'report', text: report.text, ...(speaker && { speaker: speaker.agent }) } as const
    const late = this.#hasText || report.text === '' ? [] : this.#piece(whole)
    const isCut = this.#isCut()
    const closing = this.#close(isCut ? 'drop' : 'send')
    return [...late, ...closing, ...ending(isCut ? 'max_tokens' : this.#stopReason(reason), usage)]
  }

  #piece({ type: kind, itemId, text, speaker }: Omit<Extract<TurnPart, { type: 'text' | 'reasoning' }>, 'begins'>) {
    const events: WireEvent[] = []
    if (this.#open?.itemId !== itemId) {
      events.push(...this.#close())
      this.#open = { itemId, kind, index: this.#blocks++, room: this.#options.maxTokens * charsPerToken, held: '' }
      events.push({ type: 'content_block_start', index: this.#open.index, content_block: emptyBlock(kind, speaker) })
    }
    const sent = kind === 'text' ? fitting(this.#open, text) : text
    if (kind === 'text') this.#hasText = true
    if (sent !== '') events.push(delta(this.#open, sent))
    return events
  }

  #call({ id, name, input }: WireCall): readonly WireEvent[] {
    const before = this.#close()
    const index = this.#blocks++
    this.#hasCalls = true
    return [
      ...before,
      { type: 'content_block_start', index, content_block: { type: 'tool_use', id, name, input: {}, caller: { type: 'direct' } } },
      { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) } },
      { type: 'content_block_stop', index },
    ]
  }

  #close(held: 'send' | 'drop' = 'send'): readonly WireEvent[] {
    const open = this.#open
    if (!open) return []
    this.#open = undefined
    return [
      ...(held === 'send' && open.held !== '' ? [delta(open, open.held)] : []),
      ...(open.kind === 'reasoning'
        ? [{ type: 'content_block_delta', index: open.index, delta: { type: 'signature_delta', signature } } as const]
        : []),
      { type: 'content_block_stop', index: open.index },
    ]
  }

  /** Lengths in tokens are estimates: a count of the provider decides. */
  #isCut(): boolean {
    if (!this.#open || this.#open.held === '') return false
    const usage = this.#lastStep?.usage
    return !usage || usage.estimated === true || usage.output - usage.reasoning > this.#options.maxTokens
  }

  #stopReason(reason: Outcome['reason']): StopReason {
    if (this.#lastStep?.finish === 'length' || reason === 'tokens') return 'max_tokens'
    return reason === 'context' ? 'model_context_window_exceeded' : 'end_turn'
  }
}

const emptyBlock = (kind: OpenBlock['kind'], speaker: string | undefined): WireBlock =>
  kind === 'text'
    ? { type: 'text', text: '', ...(speaker !== undefined && { speaker }) }
    : { type: 'thinking', thinking: '', signature: '' }

const delta = ({ kind, index }: OpenBlock, text: string): WireEvent => ({
  type: 'content_block_delta',
  index,
  delta: kind === 'text' ? { type: 'text_delta', text } : { type: 'thinking_delta', thinking: text },
})

/** The part of a text that fits; the rest is held. */
function fitting(open: OpenBlock, text: string): string {
  const weight = open.held === '' ? textWeight(text) : Number.POSITIVE_INFINITY
  if (weight <= open.room) {
    open.room -= weight
    return text
  }
  let end = 0
  if (open.held === '')
    for (const character of text) {
      open.room -= textWeight(character)
      if (open.room < 0) break
      end += character.length
    }
  open.held += text.slice(end)
  return text.slice(0, end)
}

const ending = (stop_reason: StopReason, usage: Usage): readonly WireEvent[] => [
  {
    type: 'message_delta',
    delta: { stop_reason, stop_sequence: null, stop_details: null, container: null },
    usage: wireUsage(usage),
  },
  { type: 'message_stop' },
]
