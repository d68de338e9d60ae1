import { DiscordAdapter } from '@chat-adapter/discord'
import type { Adapter, ChatInstance, FileUpload, StateAdapter } from 'chat'
import type { ExtensionLogger, HealthReport } from 'troupe/extension'
import { HandlerTasks } from '../acknowledge.ts'
import { chatLogger } from '../chat-logger.ts'
import { DiscordRefusal } from './discord-refusal.ts'
import { Gateway, type Session } from './gateway.ts'

// biome-ignore lint/suspicious/noExplicitAny: objects are as Discord describes them
type Fields = any

const callMs = 30_000
const sessionKey = 'discord:gateway-session'
const longestName = 80
const threads = [11, 12]
const interactions = { command: 2, button: 3 }
/** Answers to an interaction: a message, or nothing that people see. */
const answers = { message: 4, nothing: 6 }
const onlyForPerson = 1 << 6
const threadExists = 160_004

export interface DiscordOptions {
  readonly apiUrl: string
  readonly botToken: string
  readonly applicationId: string
  readonly logger: ExtensionLogger
}

/**
 * The adapter of Chat SDK, with other rules for what arrives:
 *
 * 1. Everything comes over the Gateway. What was not handled comes again.
 * 2. A mention in a channel begins a thread. In threads and direct messages, the bot reads everything; elsewhere, nothing.
 * 3. An interaction is answered when its handlers have ended, which can say something to the person.
 */
export class DurableDiscordAdapter extends DiscordAdapter {
  readonly #token: string
  readonly #log: ExtensionLogger
  readonly #gateway: Gateway
  readonly #parents = new Map<string, string | undefined>()
  readonly #answered = new Set<string>()

  constructor({ apiUrl, botToken, applicationId, logger }: DiscordOptions) {
    super({ apiUrl, botToken, applicationId, webhookVerifier: () => false, logger: chatLogger(logger, 'discord') })
    this.#token = botToken
    this.#log = logger
    this.#gateway = new Gateway({
      token: botToken,
      url: async () => (await this.call('GET', '/gateway/bot')).url,
      sessions: {
        load: async () => (await this.#state.get<Session>(sessionKey)) ?? undefined,
        store: (session) => this.#state.set(sessionKey, session),
      },
      handle: (name, data) => this.#handle(name, data),
      logger,
    })
  }

  get health(): HealthReport {
    return this.#gateway.health
  }

  override async initialize(chat: ChatInstance): Promise<void> {
    await super.initialize(chat)
    await this.#gateway.open()
  }

  async disconnect(): Promise<void> {
    await this.#gateway.close()
  }

  /** @throws DiscordRefusal */
  async call(verb: string, path: string, body?: unknown): Promise<Fields> {
    const response = await this.discordFetch(path, verb, body)
    return response.status === 204 ? undefined : response.json()
  }

  /** The channel or thread in which the messages are. */
  channelOf(threadId: string): string {
    const { channelId, threadId: thread } = this.decodeThreadId(threadId)
    return thread ?? channelId
  }

  /** Begins a thread with a message. It has the id of the message. */
  async beginThread(channel: string, message: string, text: string): Promise<void> {
    const name = text.replaceAll(/\s+/g, ' ').trim().slice(0, longestName) || 'Conversation'
    await this.call('POST', `/channels/${channel}/messages/${message}/threads`, { name, auto_archive_duration: 1440 }).catch(
      (error: unknown) => {
        if (!(error instanceof DiscordRefusal && error.code === threadExists)) throw error
      },
    )
  }

  /** Tells the person of an interaction something. */
  async answer({ id, token }: Fields, content: string): Promise<void> {
    const data = { content, flags: onlyForPerson, allowed_mentions: { parse: [] } }
    if (this.#answered.has(id)) await this.call('POST', `/webhooks/${this.applicationId}/${token}`, data)
    else await this.#respond({ id, token }, { type: answers.message, data })
  }

  protected override async discordFetch(path: string, method: string, body?: unknown): Promise<Response> {
    const isForm = body instanceof FormData
    const response = await fetch(`${this.apiBaseUrl}${path}`, {
      method,
      headers: { authorization: `Bot ${this.#token}`, ...(body !== undefined && !isForm && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(callMs),
    })
    if (!response.ok) throw new DiscordRefusal(`${method} ${path}`, response.status, await response.text())
    return response
  }

  /** The adapter posts files to the address of Discord whatever `apiUrl` is. */
  protected override async postMessageWithFiles(
    ...[channel, threadId, payload, files]: Parameters<DiscordAdapter['postMessageWithFiles']>
  ) {
    const form = new FormData()
    form.append('payload_json', JSON.stringify(payload))
    for (const [index, { data, filename, mimeType = 'application/octet-stream' }] of (files as readonly FileUpload[]).entries()) {
      const bytes = data instanceof Blob ? await data.arrayBuffer() : data
      form.append(`files[${index}]`, new Blob([new Uint8Array(bytes)], { type: mimeType }), filename)
    }
    const message = await this.call('POST', `/channels/${channel}/messages`, form)
    return { id: message.id, threadId, raw: message }
  }

  async #handle(name: string, data: Fields): Promise<void> {
    if (name === 'MESSAGE_CREATE') await this.#receive(data)
    if (name === 'INTERACTION_CREATE') await this.#interact(data)
  }

  async #receive(data: Fields): Promise<void> {
    const { id, guild_id: guildId = '@me', channel_id: channelId, content, author, mentions = [] } = data
    if (author.bot === true || !this.chat) return
    const parent = guildId === '@me' ? undefined : await this.#parentOf(channelId)
    const isMention = mentions.some((user: Fields) => user.id === this.applicationId)
    const isInChannel = guildId !== '@me' && parent === undefined
    if (isInChannel && !isMention) return
    const text = content.replaceAll(new RegExp(`<@!?${this.applicationId}>`, 'g'), '').trim()
    const begun = isInChannel && (await this.#begin(channelId, id, text)) ? { threadId: id } : {}
    const place = parent === undefined ? { channelId, ...begun } : { channelId: parent, threadId: channelId }
    const threadId = this.encodeThreadId({ guildId, ...place })
    const message = this.parseDiscordMessage({ ...data, content: text }, threadId)
    message.isMention = isMention
    // The adapter drops marks and indentation. A forwarded message has no text of its own.
    if (text !== '') message.text = text
    await this.chat.processMessage(this as Adapter, threadId, message, new HandlerTasks().options)
  }

  /** Whether there is a thread. Without one, the channel is the conversation. */
  async #begin(channel: string, message: string, text: string): Promise<boolean> {
    try {
      await this.beginThread(channel, message, text)
      return true
    } catch (error) {
      if (!isFinal(error)) throw error
      this.#log.warn(`No thread: give the bot the permission Create Public Threads. ${error.message}`)
      return false
    }
  }

  async #interact(interaction: Fields): Promise<void> {
    const { id, type } = interaction
    const tasks = new HandlerTasks()
    if (type === interactions.button) this.handleComponentInteraction(interaction, tasks.options)
    if (type === interactions.command) await this.#command(interaction)
    await tasks.ended()
    if (!this.#answered.has(id)) {
      const answer =
        type === interactions.command ? this.answer(interaction, 'It begins.') : this.#respond(interaction, { type: answers.nothing })
      // Of one that came again, Discord knows nothing any more.
      await answer.catch((error: unknown) => this.#log.debug(String(error)))
    }
    this.#answered.delete(id)
  }

  async #command(interaction: Fields): Promise<void> {
    const given = this.getApplicationCommandContext(interaction)
    if (!given || !this.chat) return
    const { channelId, command, text, user } = given
    const author = { userId: user.id, userName: user.username, fullName: user.global_name ?? user.username, isBot: false, isMe: false }
    const event = { command, text, channelId, user: author, raw: interaction, triggerId: interaction.id }
    await this.chat.processSlashCommand({ ...event, adapter: this as Adapter }, undefined)
  }

  async #respond({ id, token }: Fields, answer: Fields): Promise<void> {
    await this.call('POST', `/interactions/${id}/${token}/callback`, answer)
    this.#answered.add(id)
  }

  /** Of a thread: the channel in which it is. */
  async #parentOf(id: string): Promise<string | undefined> {
    if (!this.#parents.has(id)) {
      const { type, parent_id } = await this.call('GET', `/channels/${id}`).catch((error: unknown) => {
        if (isFinal(error)) return {}
        throw error
      })
      this.#parents.set(id, threads.includes(type) ? parent_id : undefined)
    }
    return this.#parents.get(id)
  }

  get #state(): StateAdapter {
    if (!this.chat) throw new Error('Chat SDK is not initialized.')
    return this.chat.getState()
  }
}

/** Another attempt would be refused, too. */
const isFinal = (error: unknown): error is DiscordRefusal =>
  error instanceof DiscordRefusal && error.status < 500 && error.retryAfterMs === undefined
