import { timingSafeEqual } from 'node:crypto'
import {
  TelegramAdapter,
  type TelegramAdapterConfig,
  type TelegramCallbackQuery,
  type TelegramMessage,
  type TelegramUpdate,
} from '@chat-adapter/telegram'
import type { Adapter, ChatInstance, WebhookOptions } from 'chat'
import type { HealthReport } from 'troupe/extension'
import { PlatformProblem } from '../platform.ts'

const callMs = 30_000
const updates = ['message', 'callback_query']
/** Telegram cuts longer texts for a person who has pressed a button. */
const longestAlert = 200

export interface TelegramOptions extends Required<Pick<TelegramAdapterConfig, 'logger'>> {
  readonly apiUrl: string
  readonly botToken: string
  readonly secretToken: string
  /** Where updates are sent. Without it, they are asked for. */
  readonly webhookUrl: (() => string | undefined) | undefined
}

/**
 * The adapter of Chat SDK, with other rules for what arrives:
 *
 * 1. An update is taken when its handlers have ended: until then, Telegram sends it again.
 * 2. A pressed button is answered when its handlers have ended, which can say something to the person.
 * 3. From groups, only what is addressed to the bot arrives. Edited messages do not arrive.
 * 4. Commands are texts: the kernel has `/stop`, `/new` and others.
 */
export class DurableTelegramAdapter extends TelegramAdapter {
  readonly #secret: string
  readonly #webhookUrl: TelegramOptions['webhookUrl']
  readonly #answered = new Set<string>()
  #problem: string | undefined

  constructor({ webhookUrl, ...options }: TelegramOptions) {
    const mode = webhookUrl === undefined ? 'polling' : 'webhook'
    super({ ...options, mode, mentionOnReply: true, longPolling: { allowedUpdates: updates } })
    this.#secret = options.secretToken
    this.#webhookUrl = webhookUrl
  }

  /** Undefined: updates can arrive. */
  get problem(): HealthReport['message'] {
    return this.#problem
  }

  override async initialize(chat: ChatInstance): Promise<void> {
    await super.initialize(chat)
    if (this.#webhookUrl === undefined) return
    const url = this.#webhookUrl()
    if (url === undefined) throw new PlatformProblem('Webhooks of Telegram need a server.', 'Use the mode "polling".')
    await this.call('setWebhook', { url, secret_token: this.#secret, allowed_updates: updates })
  }

  override async handleWebhook(request: Request, options?: WebhookOptions): Promise<Response> {
    const given = Buffer.from(request.headers.get('x-telegram-bot-api-secret-token') ?? '')
    const expected = Buffer.from(this.#secret)
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return new Response('Wrong secret token', { status: 401 })
    const update: unknown = await request.json().catch(() => undefined)
    if (typeof update !== 'object' || update === null) return new Response('Not an update', { status: 400 })
    for (const task of this.processUpdate(update as TelegramUpdate, options)) options?.waitUntil?.(task)
    return new Response('OK')
  }

  call<T>(method: string, input: { readonly [name: string]: unknown }): Promise<T> {
    return this.telegramFetch<T>(method, input)
  }

  /** For calls. */
  target(threadId: string): { readonly [name: string]: unknown } {
    return this.buildChatTargetParams(this.decodeThreadId(threadId))
  }

  /** For calls. */
  messageNumber(threadId: string, messageId: string): number {
    return this.decodeCompositeMessageId(messageId, this.decodeThreadId(threadId).chatId).messageId
  }

  messageId(threadId: string, messageNumber: number): string {
    return this.encodeMessageId(this.decodeThreadId(threadId).chatId, messageNumber)
  }

  /** Shows a text to the person who has pressed a button. */
  async alert({ id }: TelegramCallbackQuery, text: string): Promise<void> {
    this.#answered.add(id)
    await this.call('answerCallbackQuery', { callback_query_id: id, text: text.slice(0, longestAlert), show_alert: true })
  }

  protected override processUpdate(update: TelegramUpdate, options?: WebhookOptions): Promise<void>[] {
    const message = update.message && withoutReplyThread(update.message)
    if (message && !this.#isAddressed(message)) return []
    return super.processUpdate(message ? { ...update, message } : update, options) ?? []
  }

  protected override parseSlashCommand(): null {
    return null
  }

  protected override parseTelegramMessage(
    ...given: Parameters<TelegramAdapter['parseTelegramMessage']>
  ): ReturnType<TelegramAdapter['parseTelegramMessage']> {
    const message = super.parseTelegramMessage(...given)
    message.text = message.text.replace(new RegExp(`^(/\\w+)@${this.escapeRegex(this.userName)}\\b`, 'i'), '$1')
    return message
  }

  protected override async handleCallbackQuery(query: TelegramCallbackQuery, options?: WebhookOptions): Promise<void> {
    const { id, message, from, data = '' } = query
    if (!this.chat || !message) return
    const { chat, message_id, message_thread_id: topic } = withoutReplyThread(message)
    const threadId = this.encodeThreadId({ chatId: String(chat.id), ...(topic !== undefined && { messageThreadId: topic }) })
    const [actionId = '', value] = data.split(' ')
    const pressed = {
      actionId,
      ...(value !== undefined && { value }),
      threadId,
      messageId: this.encodeMessageId(String(chat.id), message_id),
      triggerId: id,
    }
    await this.chat.processAction({ ...pressed, adapter: this as Adapter, user: this.toAuthor(from), raw: query }, options)
    // Of one that came again, Telegram knows nothing any more.
    if (!this.#answered.delete(id)) await this.call('answerCallbackQuery', { callback_query_id: id }).catch(() => undefined)
  }

  protected override async telegramFetch<T>(...[method, payload, request]: Parameters<TelegramAdapter['telegramFetch']>): Promise<T> {
    if (method !== 'getUpdates') return super.telegramFetch<T>(method, payload, { signal: AbortSignal.timeout(callMs), ...request })
    try {
      const received = await super.telegramFetch<T>(method, payload, request)
      this.#problem = undefined
      return received
    } catch (error) {
      if (!request?.signal?.aborted) this.#problem = `Telegram sends no messages: ${error instanceof Error ? error.message : error}`
      throw error
    }
  }

  #isAddressed(message: TelegramMessage): boolean {
    const text = message.text ?? message.caption ?? ''
    return message.chat.type === 'private' || text.startsWith('/') || this.isBotMentioned(message, text)
  }
}

/** In a group without topics, replies have the number of a thread in which nothing can be sent. */
function withoutReplyThread(message: TelegramMessage & { readonly is_topic_message?: boolean }): TelegramMessage {
  const { message_thread_id, ...rest } = message
  return message.is_topic_message ? message : rest
}
