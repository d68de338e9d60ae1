import {
  type Conversations as ChannelConversations,
  type ChannelProvider,
  type ClosedRequest,
  type IncomingMessage,
  type OutgoingMessage,
  type OwnerBudget,
  type Recipient,
  type SessionService,
  TroupeError,
} from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { plural } from '../../util/plural.ts'
import { redactor } from '../../util/redact.ts'
import { cutText } from '../../util/well-formed.ts'
import type { KernelServer, Notice, RoutedTask, Router } from '../shared/kernel-types.ts'
import { type Conversation, Conversations, idOf, keyOf, recipientOf, shownName, type WaitingMessage } from './conversation.ts'
import { conversationControls } from './conversation-controls.ts'
import { deliverToChannel } from './deliver-to-channel.ts'
import { followConversation } from './follow-conversation.ts'
import { followProgress } from './follow-progress.ts'
import { isUrgent, mayAnswer, type ReadMessage, readMessage } from './incoming-message.ts'
import { type AddressedEntry, Outbox } from './outbox.ts'
import { PeopleLimits } from './people-limits.ts'
import { redactedChannel } from './redacted-channel.ts'
import { type Channel, type MessageData, type Reply, type RouterCore, type RouterOptions, system } from './router-core.ts'
import { MessageWorker } from './send-message.ts'

/** Maximum length of one message. */
const mostChars = 100_000
/** For messages that are being delivered. */
const closingMs = 1_000
/** After a failure of the store. */
const retryMs = 5_000
/** Maximum number of idle conversations whose events are read. */
const mostFollowed = 100
const withoutSecrets = redactor()
const onlyTokens = () => withoutSecrets
/** For diagnostics. */
const part = 'kernel:router'

export const createRouter = (options: RouterOptions): Router => new MessageRouter(options)

interface OwnChannel extends Channel {
  remove(): void
}

interface Following {
  readonly channel: OwnChannel
  readonly sessionId: string
  readonly left: AbortController
  readonly ended: Promise<void>
}

/**
 * Carries messages between people on channels and their sessions.
 *
 * 1. A message is stored before `receive` resolves. It is taken once, and the messages of a conversation are sent in order.
 * 2. Everything for a person is stored until their channel has taken it: answers in the journal, other messages in the outbox.
 * 3. A channel that fails or hangs holds up its own conversations only.
 * 4. Channels get no secrets: `redactedChannel` is around each of them.
 */
class MessageRouter implements Router {
  readonly #options: RouterOptions
  readonly #scope: string
  readonly #conversations: Conversations
  readonly #outbox: Outbox
  readonly #limits: PeopleLimits
  readonly #channels = new Map<string, OwnChannel>()
  readonly #workers = new Map<string, Promise<void>>()
  readonly #following = new Map<string, Following>()
  readonly #closed = new AbortController()
  #isLeaving = false
  #core: RouterCore | undefined
  #server: KernelServer | undefined
  #loading: Promise<unknown> | undefined
  #stopWatching: (() => void) | undefined

  constructor(options: RouterOptions) {
    this.#options = options
    this.#scope = options.scope === undefined ? '' : `${options.scope}/`
    this.#conversations = new Conversations(options.records)
    this.#outbox = new Outbox({
      records: options.records,
      clock: options.clock,
      latest: (anyChannel) => this.#conversations.latest(anyChannel ? ({ channel }) => this.#channels.has(channel) : undefined),
      canSend: ({ kind, to }) =>
        !this.#closed.signal.aborted && (kind === 'task' ? this.#conversations.canTake(to) : this.#channels.has(to.channel)),
      send: (entry) => this.#sendEntry(entry),
      report: this.#reporter(part),
    })
    this.#limits = new PeopleLimits({ ...options, providerOf: (name) => this.#channels.get(name)?.provider })
  }

  register(name: string, provider: ChannelProvider): () => void {
    this.#remove(name, this.#channels.get(name))
    const removed = new AbortController()
    const redacted = redactedChannel(provider, this.#options.redactor ?? onlyTokens)
    const channel = { provider: redacted, removed: removed.signal, remove: () => removed.abort() }
    this.#channels.set(name, channel)
    this.#background(this.#open())
    return () => this.#remove(name, channel)
  }

  async receive(channel: string, message: IncomingMessage): Promise<void> {
    const { userId, conversation, messageId } = message
    const to = recipientOf({ channel, userId, ...(conversation !== undefined && { conversation }) })
    const id = idOf(to, this.#scope + (messageId ?? this.#options.ids.next()))
    const read = readMessage(message)
    if (!read) return
    await this.#load()
    if (this.#conversations.hasTaken(to, id)) return
    const refused = await this.#refusal(to, { ...read, id })
    if (refused) return this.#reply(to, { id, kind: 'error', onlyFor: read.from.id, ...refused })
    await this.#take(to, { ...read, id }, { lastAt: this.#options.clock.now() })
    this.#outbox.flush()
  }

  /** Why a message is not taken. */
  async #refusal(
    to: Recipient,
    message: ReadMessage & { readonly id: string },
  ): Promise<(Pick<Reply, 'text'> & Partial<Reply>) | undefined> {
    const { length } = message.text
    if (length > mostChars) return { text: tooLong(length) }
    if (!this.#conversations.canTake(to)) return { text: tooMany }
    if (isUrgent(message) || (mayAnswer(message) && this.#conversations.isAsked(to))) return undefined
    const exceeded = await this.#limits.refusal(to.channel, message.from, message.id)
    if (!exceeded) return undefined
    const { until, limit } = exceeded
    // One notice a minute: its answer would be as many messages again.
    return { id: idOf(to, JSON.stringify(['rate', message.from.id, until])), text: tooFast(limit, until - this.#options.clock.now()) }
  }

  async budgetOf(owner: string): Promise<OwnerBudget | undefined> {
    return this.#limits.budgetOf(owner)
  }

  personOf(sessionId: string): Recipient | undefined {
    const known = this.#conversations.ofSession(sessionId)
    return known && recipientOf(known)
  }

  notify(notice: Notice): Promise<void> {
    return this.#store('notice', notice)
  }

  async announce(text: string): Promise<void> {
    const to = this.#conversations.latest(({ channel }) => this.#channels.has(channel))
    const channel = to && this.#channels.get(to.channel)
    if (!channel) return
    const { userId, conversation } = to
    const id = `announcement:${this.#options.ids.next()}`
    const message: OutgoingMessage = { id, kind: 'error', text, speaker: system, ...(conversation !== undefined && { conversation }) }
    const [{ clock }, signal] = [this.#options, channel.removed]
    await deliverToChannel(() => channel.provider.sendToUser(userId, message), { clock, signal, report: this.#reporter(to.channel) })
  }

  task({ from, ...task }: RoutedTask): Promise<void> {
    return this.#store('task', { ...task, ...(from !== undefined && { speaker: from }) })
  }

  async attach(sessions: SessionService, server?: KernelServer): Promise<void> {
    this.#server = server
    this.#stopWatching?.()
    for (const { left } of this.#following.values()) left.abort()
    this.#following.clear()
    this.#core = {
      sessions,
      conversations: this.#conversations,
      clock: this.#options.clock,
      scope: this.#scope,
      channelOf: (name) => this.#channels.get(name),
      isTrusted: (extension) => this.#isTrusted(extension),
      reply: (to, reply) => this.#reply(to, reply),
      closeRequest: (to, closed) => this.#closeRequest(to, closed),
      publish: (name, conversation, data) => this.#publish(name, conversation, data),
    }
    const changes = sessions.watch()[Symbol.asyncIterator]()
    this.#stopWatching = () => void changes.return?.()
    this.#background(this.#watch(changes))
    await this.#open()
  }

  conversationsOf(channel: string): ChannelConversations {
    return conversationControls({
      channel,
      server: () => this.#server,
      redactor: this.#options.redactor ?? onlyTokens,
      exceeds: async (id, messageId) => (await this.#limits.refusal(channel, { id }, messageId)) !== undefined,
      find: (key) => this.#conversations.get(key),
      core: async () => {
        await this.#load()
        if (!this.#core) throw new TroupeError('runtime_closed', 'The assistant is starting.', { remedy: 'Try again in a moment.' })
        return this.#core
      },
    })
  }

  async takeNotices(sessionId: string): Promise<readonly Notice[]> {
    const known = this.#conversations.ofSession(sessionId)
    return known ? this.#conversations.takeNotices(known) : []
  }

  async close(): Promise<void> {
    this.#closed.abort()
    this.#stopWatching?.()
    const following = [...this.#following.values()].map(({ ended }) => ended)
    const ended = Promise.allSettled([...this.#workers.values(), this.#outbox.settled(), ...following])
    // The next process would repeat a message that is being delivered now.
    const cancel = this.#options.clock.after(closingMs, () => this.#removeAll())
    await ended
    cancel()
    this.#removeAll()
  }

  #isTrusted(extension: string): boolean {
    return this.#options.isTrusted?.(extension) ?? true
  }

  #load(): Promise<unknown> {
    this.#loading ??= Promise.all([this.#conversations.load(), this.#outbox.load()]).catch((error: unknown) => {
      this.#loading = undefined
      throw error
    })
    return this.#loading
  }

  #removeAll(): void {
    for (const [name, channel] of this.#channels) this.#remove(name, channel)
  }

  #remove(name: string, channel: OwnChannel | undefined): void {
    if (!channel || this.#channels.get(name) !== channel) return
    this.#channels.delete(name)
    channel.remove()
  }

  /** Continues what was left. */
  async #open(): Promise<void> {
    await this.#load()
    for (const [key, conversation] of this.#conversations.entries()) {
      this.#work(key)
      if (this.#channels.has(conversation.channel) && (await this.#hasNews(conversation))) this.#follow(key)
    }
    this.#outbox.flush()
  }

  async #hasNews({ sessionId, delivered, shown, turnFrom }: Partial<Conversation> = {}): Promise<boolean> {
    // A request may have been answered, or deleted with its session. The end of a turn may not have been shown.
    if (shown !== undefined || turnFrom !== undefined) return true
    const entry = sessionId === undefined ? undefined : await this.#core?.sessions.get(sessionId)
    return entry !== undefined && (entry.seq > (delivered ?? 0) || entry.status === 'running' || entry.status === 'suspended')
  }

  /** Somebody else may continue a session, such as a client of the server. */
  async #watch(changes: AsyncIterator<{ readonly kind: string; readonly session?: { readonly sessionId: string } }>): Promise<void> {
    for (let next = await changes.next(); !next.done; next = await changes.next()) {
      const known = next.value.session && this.#conversations.ofSession(next.value.session.sessionId)
      if (known) this.#follow(keyOf(known))
    }
  }

  #follow(key: string): void {
    const core = this.#core
    const conversation = this.#conversations.get(key)
    const sessionId = conversation?.sessionId
    const channel = conversation && this.#channels.get(conversation.channel)
    const current = this.#following.get(key)
    if (current && current.sessionId === sessionId && current.channel === channel) return
    current?.left.abort()
    this.#following.delete(key)
    if (sessionId === undefined || !channel || !core) return
    const left = new AbortController()
    const signal = AbortSignal.any([left.signal, channel.removed])
    const report = this.#reporter(conversation.channel)
    const options = { ...core, provider: channel.provider, signal, closing: this.#closed.signal, report }
    const ended = followConversation(conversation, options).finally(() => {
      if (this.#following.get(key)?.left === left) this.#following.delete(key)
    })
    this.#following.set(key, { channel, sessionId, left, ended })
    this.#background(ended)
    if (channel.provider.showProgress)
      this.#background(followProgress(conversation, { ...options, signal: left.signal, removed: channel.removed }))
    if (this.#following.size > mostFollowed && !this.#isLeaving) this.#background(this.#leaveIdle())
  }

  /** The next change of their sessions follows them again. */
  async #leaveIdle(): Promise<void> {
    this.#isLeaving = true
    try {
      for (const [key, { left, ended }] of this.#following) {
        if (this.#following.size <= mostFollowed) return
        if (await this.#hasNews(this.#conversations.get(key))) continue
        left.abort()
        await ended
        // It may have changed since it was looked at.
        if (await this.#hasNews(this.#conversations.get(key))) this.#follow(key)
      }
    } finally {
      this.#isLeaving = false
    }
  }

  async #take(to: Recipient, message: WaitingMessage, changes: Partial<Conversation>): Promise<void> {
    await this.#conversations.take(to, message, changes)
    this.#work(keyOf(to))
  }

  /** Those of Troupe's own extensions were asked for by the person. */
  async #takeTask(to: Recipient, task: WaitingMessage, from: string): Promise<void> {
    if (from === system || this.#options.isBundled?.(from)) return this.#take(to, task, {})
    const head = this.#isTrusted(from) ? '' : `Task of the extension ${from}, which nobody has trusted, not of the person:\n`
    await this.#take(to, { ...task, text: `${head}${task.text}` }, { tasks: this.#conversations.tasksWith(to, task, from) })
  }

  /** Sends the messages of a conversation, one after the other. */
  #work(key: string): void {
    const core = this.#core
    const { signal } = this.#closed
    if (!core || signal.aborted || this.#workers.has(key) || (this.#conversations.get(key)?.waiting.length ?? 0) === 0) return
    const options = { ...core, signal, report: this.#reporter(part), sent: () => this.#sent(key) }
    const work = new MessageWorker(key, options).run().then(
      (end) => {
        this.#workers.delete(key)
        // A message, or the channel, may have come since it looked.
        const channel = this.#conversations.get(key)?.channel ?? ''
        if (end === 'done' || (end === 'waiting' && this.#channels.has(channel))) this.#work(key)
      },
      (error: unknown) => {
        this.#workers.delete(key)
        this.#reporter(part)(`A message is kept and sent later: ${messageOf(error)}`)
        core.clock.after(retryMs, () => this.#work(key))
      },
    )
    this.#workers.set(key, work)
  }

  #sent(key: string): void {
    this.#follow(key)
    // A task may have waited for room.
    this.#outbox.flush()
  }

  #reply(to: Recipient, { id, kind, text, onlyFor }: Reply): Promise<void> {
    const more = onlyFor === undefined || onlyFor === to.userId ? {} : { onlyFor }
    return this.#outbox.add({ key: `reply:${id}`, kind, text, speaker: system, to: recipientOf(to), ...more })
  }

  #closeRequest(to: Recipient, { id, outcome, by }: ClosedRequest): Promise<void> {
    const name = by === undefined ? {} : { by: shownName(this.#conversations.get(keyOf(to)) ?? to, by) }
    const closed = { id, outcome, ...name, ...(to.conversation !== undefined && { conversation: to.conversation }) }
    return this.#outbox.add({ key: `close:${id}`, kind: 'close', text: '', speaker: system, to: recipientOf(to), closed })
  }

  async #store(
    kind: 'notice' | 'task',
    { text, to, speaker = system, id = this.#options.ids.next(), anyChannel = false, correlationId }: Notice,
  ): Promise<void> {
    if (to) keyOf(to)
    await this.#load()
    const added = { kind, key: `${kind}:${id}`, text: cutText(text, mostChars), speaker, ...(anyChannel && { anyChannel }) }
    const more = { ...(to && { to: recipientOf(to) }), ...(correlationId !== undefined && { correlationId }) }
    await this.#outbox.add({ ...added, ...more })
  }

  async #sendEntry({ to, kind, key: id, text, speaker, onlyFor, correlationId, closed }: AddressedEntry): Promise<boolean> {
    if (kind === 'task') {
      await this.#takeTask(to, { id: idOf(to, this.#scope + id), text, isTask: true }, speaker)
      return true
    }
    const channel = this.#channels.get(to.channel)
    if (!channel) return false
    const delivery = { clock: this.#options.clock, signal: channel.removed, report: this.#reporter(to.channel) }
    if (kind === 'close')
      return (
        closed === undefined || (await deliverToChannel(() => channel.provider.closeRequest?.(to.userId, closed), delivery)) !== undefined
      )
    const only = onlyFor === undefined ? {} : { onlyFor }
    const thread = to.conversation === undefined ? {} : { conversation: to.conversation }
    const message: OutgoingMessage = { id, kind, text, speaker, ...thread, ...only }
    const sent = await deliverToChannel(() => channel.provider.sendToUser(to.userId, message), delivery)
    if (sent === undefined) return false
    if (!id.startsWith('notice:')) return true
    const conversation = await this.#conversations.addNotice(to, { text, speaker })
    await this.#publish('notification', conversation, { id, text, speaker, correlationId })
    return true
  }

  async #publish(
    name: string,
    { sessionId, ...to }: Parameters<RouterCore['publish']>[1],
    { id, correlationId, ...more }: MessageData,
  ): Promise<void> {
    const data = { ...recipientOf(to), sessionId: sessionId ?? null, messageId: id, ...more }
    await this.#options.bus
      .publish({ name, id: `${name}:${id}`, data, source: 'kernel', correlationId })
      .catch((error: unknown) => this.#reporter(part)(`The event ${name} cannot be published: ${messageOf(error)}`))
  }

  #background(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      if (!this.#closed.signal.aborted) this.#reporter(part)(messageOf(error))
    })
  }

  #reporter(source: string): (message: string) => void {
    return (message) => this.#options.report({ level: 'error', source, message })
  }
}

const tooLong = (length: number): string =>
  `Your message was not sent: it has ${length} characters, and at most ${mostChars} are allowed. Send a shorter one, or put the text into a file.`
const tooFast = (limit: string, waitMs: number): string =>
  `Your message was not sent: you may send ${limit} a minute. Write again in ${plural(Math.ceil(waitMs / 1_000), 'second')}; what you write before is not sent.`
const tooMany = 'Your message was not sent: too many of your messages are waiting. Try again later.'
