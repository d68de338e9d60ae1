import type { ChannelProvider, InteractionEvent, OutgoingMessage, StreamEvent } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { pause, withinTime } from '../shared/background-work.ts'
import { endingOf } from './closed-request.ts'
import { agentAt, type Changes, type Conversation, keyOf } from './conversation.ts'
import { deadlineMs, deliverToChannel } from './deliver-to-channel.ts'
import { OutgoingFiles } from './outgoing-files.ts'
import { questionText, requestData } from './questions.ts'
import { endsTurn, isUnknownSession, type RouterCore, system } from './router-core.ts'
import { Speech } from './speech.ts'

/**
 * Delivers what the session of a conversation says, until the signal aborts or the session is deleted.
 *
 * 1. Messages are delivered one after the other. `delivered` moves when the channel has taken them, so a crash repeats at most those of
 *    one event, under the same ids.
 * 2. One request is asked at a time, the oldest first. The next one follows when it is answered.
 * 3. `shown` is stored before a request is sent, and cleared when the outbox has its end: the channel is told of each end, over crashes.
 */
interface FollowOptions extends RouterCore {
  readonly provider: ChannelProvider
  readonly signal: AbortSignal
  /** Aborted when nothing new may be delivered. What is being delivered may end. */
  readonly closing: AbortSignal
  report(message: string): void
}

const retryMs = 5_000

export async function followConversation(conversation: Conversation, options: FollowOptions): Promise<void> {
  const { clock, report } = options
  const signal = AbortSignal.any([options.signal, options.closing])
  while (!signal.aborted) {
    try {
      await new Follower(conversation, options).run()
      if (!signal.aborted) await closeIfDeleted(conversation, options)
      return
    } catch (error) {
      if (isUnknownSession(error)) return closeIfDeleted(conversation, options)
      report(`The answers of a conversation cannot be read, and are tried again: ${messageOf(error)}`)
      await pause({ clock, signal, ms: retryMs })
    }
  }
}

/** A request of a deleted session has ended. If the store fails, the next process finds it. */
async function closeIfDeleted({ sessionId = '', ...to }: Conversation, options: FollowOptions): Promise<void> {
  const { sessions, conversations, closeRequest } = options
  const current = conversations.get(keyOf(to))
  if (current?.shown === undefined || current.sessionId !== sessionId) return
  if (await sessions.get(sessionId).catch(() => true)) return
  await closeRequest(to, { id: current.shown, outcome: 'ended' })
  await conversations.update(to, (before) => (before.sessionId === sessionId ? { shown: undefined } : {}))
}

class Follower {
  readonly #options: FollowOptions
  readonly #key: string
  readonly #sessionId: string
  readonly #speech: Speech
  readonly #files: OutgoingFiles
  /** The `seq` before each turn whose end may not have been shown, the oldest first. */
  #turns: readonly number[]
  /** The last durable event that was handled. */
  #handled: number
  /** What had happened when it began. A request is asked after what was said before it. */
  #past = 0

  constructor(conversation: Conversation, options: FollowOptions) {
    this.#options = options
    this.#key = keyOf(conversation)
    this.#sessionId = conversation.sessionId ?? ''
    this.#speech = new Speech(this.#conversation ?? conversation)
    this.#files = new OutgoingFiles(options.sessions, this.#sessionId)
    const { turnFrom } = this.#conversation ?? {}
    this.#turns = turnFrom === undefined ? [] : [turnFrom]
    this.#handled = this.#conversation?.delivered ?? 0
  }

  async run(): Promise<void> {
    const { sessions, closing } = this.#options
    const signal = AbortSignal.any([this.#options.signal, closing])
    this.#past = (await sessions.get(this.#sessionId))?.seq ?? 0
    const events = sessions.events(this.#sessionId, { after: this.#handled, until: 'closed' })[Symbol.asyncIterator]()
    const leave = (): void => void events.return?.()
    signal.addEventListener('abort', leave)
    try {
      await this.#ask()
      for (let next = await events.next(); !next.done && !signal.aborted; next = await events.next()) await this.#handle(next.value)
    } finally {
      signal.removeEventListener('abort', leave)
      leave()
    }
  }

  /** Undefined after `/new`: then this session is of no interest any more. */
  get #conversation(): Conversation | undefined {
    const current = this.#options.conversations.get(this.#key)
    return current?.sessionId === this.#sessionId ? current : undefined
  }

  async #handle(event: StreamEvent): Promise<void> {
    if (!('seq' in event)) {
      if (event.type === 'interaction.item.delta' && this.#options.provider.streamToUser) await this.#stream(this.#speech.piece(event))
      return
    }
    if (event.sessionId === this.#sessionId && event.type === 'interaction.turn.started' && this.#options.provider.showProgress)
      this.#turns = [...this.#turns, event.seq - 1]
    if (event.type === 'interaction.item.completed' && event.agentPath === this.#speech.speaker) this.#files.add(event)
    const messages = this.#withFiles(event, [...this.#tasksOf(event), ...this.#speech.messages(event)])
    this.#handled = event.seq
    for (const message of messages) {
      const { id, text, speaker, kind } = message
      if ((await this.#send(message)) === undefined) return
      const conversation = this.#conversation
      if (conversation && kind === 'answer')
        await this.#options.publish('agent_response', conversation, { id, text, speaker, correlationId: this.#speech.heard })
    }
    if (messages.length > 0 || (isMilestone(event) && !this.#files.areWaiting)) await this.#update(this.#position)
    const { asked, shown } = this.#conversation ?? {}
    if (touchesRequests(event) || event.seq === this.#past || asked !== undefined || shown !== undefined) await this.#ask()
  }

  get #position(): Changes {
    const shown = this.#options.conversations.shownTurns.get(this.#sessionId) ?? -1
    this.#turns = this.#turns.filter((turn) => turn > shown)
    return { delivered: this.#handled, turnFrom: this.#turns[0], ...this.#speech.state }
  }

  /** At the end of a turn they need a message, even if everything was said. */
  #withFiles(event: InteractionEvent, messages: readonly OutgoingMessage[]): readonly OutgoingMessage[] {
    const { areWaiting } = this.#files
    if (!areWaiting || messages.length > 0 || !endsTurn(event) || event.sessionId !== this.#sessionId) return this.#files.addTo(messages)
    const { files = [] } = this.#files.take()
    const text = files.map(({ name }) => name).join(', ')
    return [
      {
        id: `${event.sessionId}:${event.turnId}:files`,
        kind: 'answer',
        text,
        speaker: agentAt(this.#speech.speaker, this.#conversation?.agent),
        files,
      },
    ]
  }

  /** Before the answer: nobody has written. */
  #tasksOf(event: InteractionEvent): readonly OutgoingMessage[] {
    if (event.type !== 'interaction.turn.started' || event.sessionId !== this.#sessionId) return []
    const begun = (this.#conversation?.tasks ?? []).filter(({ id }) => event.inputs.some((input) => input === id))
    return begun.map(({ id, text }) => ({ id: `${id}:task`, kind: 'notice', text, speaker: system }))
  }

  async #stream(piece: ReturnType<Speech['piece']>): Promise<void> {
    const { provider, clock, signal } = this.#options
    const conversation = this.#conversation
    if (!piece || !conversation) return
    try {
      const send = () => provider.streamToUser?.(conversation.userId, { ...piece, ...threadOf(conversation) })
      await withinTime(send, { clock, signal, ms: deadlineMs })
    } catch {
      this.#speech.breakStream()
    }
  }

  async #ask(): Promise<void> {
    const { sessions, conversations, provider, isTrusted } = this.#options
    const { asked, shown, agent, channel = '' } = this.#conversation ?? {}
    const open = await sessions.requests(this.#sessionId)
    if (shown !== undefined && !open.some(({ id }) => id === shown)) await this.#close(shown)
    if (this.#handled < this.#past) return
    const request = open.find(({ id }) => id === (asked ?? shown)) ?? open[0]
    if (request?.id === asked) return
    if (!request) {
      conversations.asking.delete(this.#key)
      return this.#update({ asked: undefined })
    }
    const { id, agentPath } = request
    if (provider.closeRequest) await this.#update({ shown: id })
    conversations.asking.set(this.#key, id)
    const files = this.#files.take()
    const data = requestData(request, { mayApprove: isTrusted(channel) })
    const sent = await this.#send({
      id,
      kind: 'question',
      speaker: agentAt(agentPath, agent),
      ...questionText(request),
      request: data,
      ...files,
    })
    if (sent !== undefined) await this.#update({ asked: id, ...(files.files && this.#position) })
  }

  /** The events up to `delivered` are from before its end. */
  async #close(id: string): Promise<void> {
    const { sessions, closeRequest } = this.#options
    const conversation = this.#conversation
    if (!conversation) return
    const ending = await endingOf(sessions, { sessionId: this.#sessionId, requestId: id, after: conversation.delivered })
    await closeRequest(conversation, { id, ...ending })
    await this.#update({ shown: undefined })
  }

  async #send(message: OutgoingMessage): Promise<boolean | undefined> {
    const { provider } = this.#options
    const conversation = this.#conversation
    if (!conversation) return undefined
    return deliverToChannel(() => provider.sendToUser(conversation.userId, { ...message, ...threadOf(conversation) }), this.#options)
  }

  async #update(changes: Changes): Promise<void> {
    const conversation = this.#conversation
    if (!conversation) return
    await this.#options.conversations.update(conversation, ({ sessionId }) => (sessionId === this.#sessionId ? changes : {}))
  }
}

/** After which nothing needs to be read again, or somebody else speaks. */
const isMilestone = ({ type, agentPath }: InteractionEvent): boolean =>
  type === 'interaction.handoff.started' ||
  type === 'interaction.handoff.completed' ||
  (type === 'interaction.session.idle' && agentPath === 'root')

const touchesRequests = ({ type }: InteractionEvent): boolean => type.startsWith('interaction.approval.')

const threadOf = ({ conversation }: Conversation) => (conversation === undefined ? {} : { conversation })
