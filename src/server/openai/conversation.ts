import type { BlobId, CallResult, InputPart, Message, ReplyPart } from '../../contracts/index.ts'
import { CallPairs } from '../../policy/call-pairs.ts'
import { textOfParts } from '../../util/text-of-parts.ts'
import { continueWithResults, parseCallId, type Returned, type WireResult } from '../http/index.ts'
import { type Content, inputParts, invalid } from './content.ts'

/** The messages of a client as a session takes them. */
export interface Conversation {
  readonly history: readonly Message[]
  readonly input: readonly InputPart[]
  /** Texts of system messages. */
  readonly instructions: readonly string[]
  /** Present if the conversation ends in results of calls. */
  readonly returned?: Returned
}

interface ClientCall {
  readonly id: string
  readonly name: string
  readonly input: string
}

interface ClientResult {
  readonly id: string
  readonly content: Content
  readonly ok?: boolean
}

interface ReaderOptions {
  /** The session has earlier messages: results belong to calls there. */
  readonly hasEarlier?: boolean
}

/** Collects messages. The last one is the input: from the user, or results of calls. `place` is the name of the list, for errors. */
export class ConversationReader {
  #history: Message[] = []
  readonly #instructions: string[] = []
  /** How many there were before the first call of a session of this server. */
  readonly #instructionsBefore = new Map<string, number>()
  /** Since the last message of the assistant. */
  #results: WireResult[] = []
  #after: InputPart[] = []
  /** Before the text of an answer that broke off. */
  #before: { readonly returned: Returned; readonly messages: number } | undefined
  readonly #place: string
  readonly #hasEarlier: boolean
  readonly #pairs: CallPairs

  constructor(place: string, { hasEarlier = false }: ReaderOptions = {}) {
    this.#place = place
    this.#hasEarlier = hasEarlier
    this.#pairs = new CallPairs((problem) => {
      if (!hasEarlier) throw invalid(problem.place, problem.message, problem.remedy)
    })
  }

  instruct(text: string): void {
    if (text.trim() === '') return
    this.#instructions.push(text)
    if (this.#results.length > 0 || this.#hasEarlier) this.#after.push({ type: 'text', text })
  }

  user(content: Content, place: string): void {
    this.#pairs.close()
    this.#before = undefined
    const parts = inputParts(content, place)
    this.#history.push({ role: 'user', parts })
    if (this.#results.length > 0 || this.#hasEarlier) this.#after.push(...parts)
  }

  assistant({ text, calls = [] }: { readonly text: string; readonly calls?: readonly ClientCall[] }, place: string): void {
    this.#pairs.close()
    const parts: ReplyPart[] = [
      ...(text === '' ? [] : [{ type: 'text', text } as const]),
      ...calls.map((call) => ({ type: 'call', ...call }) as const),
    ]
    if (parts.length === 0) return
    if (this.#results.length > 0) this.#before = { returned: this.#returned(), messages: this.#history.length }
    if (calls.length > 0) this.#before = undefined
    this.#results = []
    this.#after = []
    this.#history.push({ role: 'assistant', parts })
    for (const call of calls) this.#called(call, place)
  }

  /** A call of the message before it, together with others that have no result yet. */
  call(call: ClientCall, place: string): void {
    const last = this.#history.at(-1)
    if (last?.role !== 'assistant') {
      this.assistant({ text: '', calls: [call] }, place)
      return
    }
    this.#before = undefined
    this.#history.splice(-1, 1, { role: 'assistant', parts: [...last.parts, { type: 'call', ...call }] })
    this.#called(call, place)
  }

  #called(call: ClientCall, place: string): void {
    const { sessionId } = parseCallId(call.id) ?? {}
    if (sessionId !== undefined && !this.#instructionsBefore.has(sessionId))
      this.#instructionsBefore.set(sessionId, this.#instructions.length)
    this.#pairs.call(call, place)
  }

  /** The last one with an id applies: a client may answer a call of a broken stream with an error first. */
  result({ id, content, ok = true }: ClientResult, place: string, contentPlace = place): void {
    const parts = typeof content !== 'string' && content.length === 0 ? [] : inputParts(content, contentPlace).map(withoutAddress)
    const text = textOfParts(parts)
    const media = parts.filter((part) => part.type !== 'text')
    const earlier = this.#results.some((result) => result.id === id)
      ? this.#history.findLast((message) => isResultOf(message, id))
      : undefined
    const name = earlier?.results[0]?.name ?? this.#pairs.result(id, place)
    this.#history = this.#history.filter((message) => message !== earlier)
    this.#results = this.#results.filter((result) => result.id !== id)
    this.#history.push({ role: 'tool', results: [{ id, name, ok, content: text, ...recordedParts(parts) }] })
    this.#results.push({ id, ok, content: text, parts: media })
  }

  end(): Conversation {
    this.#pairs.close()
    const instructions = this.#instructions
    const given = this.#returned()
    const returned = given.results.length > 0 && { returned: given }
    const last = this.#history.at(-1)
    if (last?.role === 'user') return { history: this.#history.slice(0, -1), input: last.parts, instructions, ...returned }
    if (last?.role === 'tool') return { history: this.#history, input: [continueWithResults], instructions, ...returned }
    // Clients add the text of an answer that broke off before they ask for it again.
    const before = this.#before
    if (before?.returned.results.some(({ id }) => parseCallId(id)))
      return { history: this.#history.slice(0, before.messages), input: [continueWithResults], instructions, returned: before.returned }
    throw invalid(this.#place, 'the last message must be from the user, or results of calls', 'Send what the agent is to answer.')
  }

  #returned(): Returned {
    const sessionId = this.#results.map(({ id }) => parseCallId(id)?.sessionId).find((id) => id !== undefined)
    const count = this.#instructionsBefore.get(sessionId ?? '')
    const instructions = count !== undefined && { instructions: this.#instructions.slice(0, count).join('\n\n') }
    return { results: this.#results, parts: this.#after, ...instructions }
  }
}

const isResultOf = (message: Message, id: string): message is Message & { readonly role: 'tool' } =>
  message.role === 'tool' && message.results.some((result) => result.id === id)

/** The bytes of a result are stored; an address is for the model to see. */
const withoutAddress = (part: InputPart): InputPart =>
  part.type !== 'text' && /^\w+:/.test(part.data) ? { type: 'text', text: `[${part.type}: ${part.data}]` } : part

/** Only if it has other parts than texts. The bytes are in `data`, until the session stores them. */
function recordedParts(parts: readonly InputPart[]): Pick<CallResult, 'parts'> {
  if (parts.every(({ type }) => type === 'text')) return {}
  return { parts: parts.map((part) => (part.type === 'text' ? part : { ...part, blob: '' as BlobId, bytes: 0 })) }
}
