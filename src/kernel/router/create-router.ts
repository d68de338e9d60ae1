import {
  type Conversations as ChannelConversations,
  type ChannelProvider,
  type ClosedRequest,
  type IncomingMessage,
  type OutgoingMessage,
  type Recipient,
  type SessionService,
  TroupeError,
} from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { redactor } from '../../util/redact.ts'
import { cutText, wellFormed } from '../../util/well-formed.ts'
import type { KernelServer, Notice, RoutedTask, Router } from '../shared/kernel-types.ts'
import { type Conversation, Conversations, idOf, keyOf, recipientOf, type WaitingMessage } from './conversation.ts'
import { conversationControls } from './conversation-controls.ts'
import { deliverToChannel } from './deliver-to-channel.ts'
import { followConversation } from './follow-conversation.ts'
import { followProgress } from './follow-progress.ts'
import { type AddressedEntry, Outbox } from './outbox.ts'
import { redactedChannel } from './redacted-channel.ts'
import { type MessageData, type Reply, type RouterCore, type RouterOptions, system } from './router-core.ts'
import { MessageWorker } from './send-message.ts'

/** Maximum length of one message. */
const mostChars = 100_000
/** For messages that are being delivered. */
const closingMs = 1_000
/** After a failure of the store. */
const retryMs = 5_000
const withoutSecrets = redactor()
const onlyTokens = () => withoutSecrets
/** For diagnostics. */
const part = 'kernel:router'

export const createRouter = (options: RouterOptions): Router => new MessageRouter(options)

interface Channel {
  readonly provider: ChannelProvider
  readonly removed: AbortController
}

interface Following {
  readonly channel: Channel
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
  readonly #channels = new Map<string, Channel>()
  readonly #workers = new Map<string, Promise<void>>()
  readonly #following = new Map<string, Following>()
  readonly #closed = new AbortController()
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
  }

  register(name: string, provider: ChannelProvider): () => void {
    this.#remove(name, this.#channels.get(name))
    const channel = { provider: redactedChannel(provider, this.#options.redactor ?? onlyTokens), removed: new AbortController() }
    this.#channels.set(name, channel)
    this.#background(this.#open())
    return () => this.#remove(name, channel)
  }

  async receive(channel: string, message: IncomingMessage): Promise<void> {
    const { userId, conversation, userName, messageId } = message
    const to = recipientOf({ channel, userId, ...(conversation !== undefined && { conversation }) })
    if (typeof message.text !== 'string') throw new TroupeError('usage', 'The `text` of a message is not a string.')
    const id = idOf(to, this.#scope + (messageId ?? this.#options.ids.next()))
    if (message.text.trim() === '') return
    await this.#load()
    const { length } = message.text
    if (length > mostChars) return this.#reply(to, { id, text: tooLong(length), kind: 'error' })
    if (!this.#conversations.canTake(to, id)) return this.#reply(to, { id, text: tooMany, kind: 'error' })
    await this.#take(to, { id, text: wellFormed(message.text) }, { lastAt: this.#options.clock.now(), ...(userName && { userName }) })
    this.#outbox.flush()
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
    const [{ clock }, { signal }] = [this.#options, channel.removed]
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

  #remove(name: string, channel: Channel | undefined): void {
    if (!channel || this.#channels.get(name) !== channel) return
    this.#channels.delete(name)
    channel.removed.abort()
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

  async #hasNews({ sessionId, delivered, shown }: Conversation): Promise<boolean> {
    // It may have been answered, or deleted with its session.
    if (shown !== undefined) return true
    const entry = sessionId === undefined ? undefined : await this.#core?.sessions.get(sessionId)
    return entry !== undefined && (entry.seq > delivered || entry.status === 'running' || entry.status === 'suspended')
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
    const signal = AbortSignal.any([left.signal, channel.removed.signal])
    const report = this.#reporter(conversation.channel)
    const options = { ...core, provider: channel.provider, signal, closing: this.#closed.signal, report }
    const ended = followConversation(conversation, options).finally(() => {
      if (this.#following.get(key)?.left === left) this.#following.delete(key)
    })
    this.#following.set(key, { channel, sessionId, left, ended })
    this.#background(ended)
    if (channel.provider.showProgress)
      this.#background(followProgress(conversation, { ...options, signal: left.signal, removed: channel.removed.signal }))
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
      (isDone) => {
        this.#workers.delete(key)
        // One may have come since it looked.
        if (isDone) this.#work(key)
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

  #reply(to: Recipient, { id, kind, text }: Reply): Promise<void> {
    return this.#outbox.add({ key: `reply:${id}`, kind, text, speaker: system, to: recipientOf(to) })
  }

  #closeRequest(to: Recipient, { id, outcome, by }: ClosedRequest): Promise<void> {
    const name = by === undefined ? {} : { by: by.startsWith(`${to.channel}:`) ? by.slice(to.channel.length + 1) : by }
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

  async #sendEntry({ to, kind, key: id, text, speaker, correlationId, closed }: AddressedEntry): Promise<boolean> {
    if (kind === 'task') {
      await this.#takeTask(to, { id: idOf(to, this.#scope + id), text, isTask: true }, speaker)
      return true
    }
    const channel = this.#channels.get(to.channel)
    if (!channel) return false
    const delivery = { clock: this.#options.clock, signal: channel.removed.signal, report: this.#reporter(to.channel) }
    if (kind === 'close')
      return (
        closed === undefined || (await deliverToChannel(() => channel.provider.closeRequest?.(to.userId, closed), delivery)) !== undefined
      )
    const message: OutgoingMessage = { id, kind, text, speaker, ...(to.conversation !== undefined && { conversation: to.conversation }) }
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
const tooMany = 'Your message was not sent: too many of your messages are waiting. Try again later.'
