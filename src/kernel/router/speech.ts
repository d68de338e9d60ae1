import type { InteractionEvent, ItemDelta, MessagePiece, OutgoingMessage } from '../../contracts/index.ts'
import { handoffEndNotice, turnEndTexts } from '../../policy/limit-texts.ts'
import { lastMessageId } from '../../policy/message-ids.ts'
import { asSentence } from '../../util/as-sentence.ts'
import { shortHash } from '../../util/hash.ts'
import { speakerAfter } from '../../view/index.ts'
import { agentAt, type Changes, type Conversation } from './conversation.ts'
import { system } from './router-core.ts'

/**
 * What a person gets to read of the events of a session.
 *
 * 1. Only the agent that has the conversation speaks: the root, or the child of a handoff. Its texts are messages, also between calls.
 * 2. The report of a turn is a message only if its text was not one already.
 * 3. A handoff that ends by a limit, a failure or a timeout is reported. Of the other reasons the person knows.
 * 4. A further attempt of a reply has another id: channels can tell its pieces from those of the attempt before.
 */
export class Speech {
  readonly #agent: string | undefined
  /** The path of the agent that has the conversation. */
  #speaker: string
  #said: string | undefined
  #heard: string | undefined
  #attempt = 1
  #compacts = false
  /** Why the last turn of the agent has failed. */
  #failure: string | undefined
  /** The item whose pieces are sent. */
  #open: { readonly id: string; length: number; isWhole: boolean } | undefined

  constructor({ agent, speaker = 'root', said, heard }: Pick<Conversation, 'agent' | 'speaker' | 'said' | 'heard'>) {
    this.#agent = agent
    this.#speaker = speaker
    this.#said = said
    this.#heard = heard
  }

  /** The path of the agent that has the conversation. */
  get speaker(): string {
    return this.#speaker
  }

  /** The last message that the agent has read: its answers follow from it. */
  get heard(): string | undefined {
    return this.#heard
  }

  /** To continue after a restart. */
  get state(): Changes {
    return { speaker: this.#speaker === 'root' ? undefined : this.#speaker, said: this.#said, heard: this.#heard }
  }

  /** The next piece of the message that is being written. */
  piece({ sessionId, turnId, agentPath, itemId, attempt, kind, text, offset }: ItemDelta): MessagePiece | undefined {
    if (kind !== 'text' || agentPath !== this.#speaker || this.#compacts) return undefined
    const id = idOf(sessionId, itemId, attempt)
    if (this.#open?.id !== id) this.#open = { id, length: 0, isWhole: true }
    if (offset > this.#open.length) this.#open.isWhole = false
    const added = text.slice(Math.max(0, this.#open.length - offset))
    if (!this.#open.isWhole || added === '') return undefined
    this.#open.length += added.length
    return { id, turnId: turnOf({ sessionId, turnId }), speaker: agentAt(this.#speaker, this.#agent), text: added }
  }

  /** The channel did not take a piece: the message is sent as a whole. */
  breakStream(): void {
    if (this.#open) this.#open.isWhole = false
  }

  messages(event: InteractionEvent): readonly OutgoingMessage[] {
    if (event.agentPath === this.#speaker && event.type === 'interaction.turn.failed') this.#failure = event.ending.message
    this.#speaker = speakerAfter(event, this.#speaker)
    if (event.type === 'interaction.handoff.completed') return this.#handoffEnd(event)
    if (event.type === 'interaction.input.accepted' && event.endsHandoff) this.#heard = event.clientId
    if (event.agentPath === this.#speaker) {
      if (event.type === 'interaction.turn.started') this.#hear(event.treeId, event.inputs)
      if (event.type === 'interaction.step.started') {
        this.#hear(event.treeId, event.absorbs)
        this.#attempt = event.attempt
        this.#compacts = event.compacts ?? false
      }
      if (event.type === 'interaction.item.completed') return this.#item(event)
    }
    return event.agentPath === 'root' ? this.#ending(event) : []
  }

  #handoffEnd({ reason, agent, agentPath, childId }: InteractionEvent<'interaction.handoff.completed'>): readonly OutgoingMessage[] {
    const text = handoffEndNotice({ reason, agent, failure: this.#failure })
    this.#failure = undefined
    if (text === undefined) return []
    return [
      {
        id: `${childId}:end`,
        kind: 'notice',
        text: `${text} You are talking to ${agentAt(agentPath, this.#agent)} again.`,
        speaker: system,
      },
    ]
  }

  #hear(...read: Parameters<typeof lastMessageId>): void {
    this.#heard = lastMessageId(...read) ?? this.#heard
  }

  #item({ sessionId, turnId, item }: InteractionEvent<'interaction.item.completed'>): readonly OutgoingMessage[] {
    if (item.kind !== 'text' || item.type !== 'agent_message' || item.status !== 'completed' || this.#compacts) return []
    const id = idOf(sessionId, item.id, this.#attempt)
    const open = this.#open?.id === id ? this.#open : undefined
    this.#open = undefined
    const streamed = open?.isWhole === true && open.length === item.text.length
    return this.#answer({ id, turnId: turnOf({ sessionId, turnId }) }, item.text, streamed)
  }

  #ending(event: InteractionEvent): readonly OutgoingMessage[] {
    const id = turnOf(event)
    switch (event.type) {
      case 'interaction.turn.started':
        this.#said = undefined
        return []
      case 'interaction.turn.completed': {
        const { ending, report } = event
        const early = ending.status === 'partial' ? [this.#message(`${id}:end`, 'notice', turnEndTexts[ending.reason].message)] : []
        return [...this.#report(id, report.text), ...early]
      }
      case 'interaction.turn.failed': {
        const { message, remedy } = event.ending
        const text = [message, remedy ?? '']
          .filter((each) => each !== '')
          .map(asSentence)
          .join(' ')
        return [...this.#report(id, event.report?.text), this.#message(`${id}:end`, 'error', text)]
      }
      case 'interaction.turn.interrupted':
        return [...this.#report(id, event.report?.text), this.#message(`${id}:end`, 'notice', 'Stopped.')]
      default:
        return []
    }
  }

  #report(id: string, text = ''): readonly OutgoingMessage[] {
    return shortHash(text.trim()) === this.#said ? [] : this.#answer({ id, turnId: id }, text, false)
  }

  #answer({ id, turnId }: { readonly id: string; readonly turnId: string }, text: string, streamed: boolean): readonly OutgoingMessage[] {
    if (text.trim() === '') return []
    this.#said = shortHash(text.trim())
    return [{ ...this.#message(id, 'answer', text), turnId, ...(streamed && { streamed }) }]
  }

  #message(id: string, kind: OutgoingMessage['kind'], text: string): OutgoingMessage {
    return { id, kind, text, speaker: agentAt(this.#speaker, this.#agent) }
  }
}

const turnOf = ({ sessionId, turnId }: { readonly sessionId: string; readonly turnId?: string | undefined }): string =>
  `${sessionId}:${turnId}`
const idOf = (sessionId: string, itemId: string, attempt: number): string => `${sessionId}:${itemId}${attempt > 1 ? `:${attempt}` : ''}`
