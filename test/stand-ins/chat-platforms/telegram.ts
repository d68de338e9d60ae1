// A stand-in for Telegram: the methods of the Bot API that the bot uses; updates by long polling, or as webhooks after `setWebhook`.
import { Growing } from '../../growing.ts'
import { type ApiAnswer, type ApiRequest, ApiServer, type Fields, type HttpRequest, multipartOf } from './api-server.ts'
import type { ChatPlatform, PlatformEvent, SentFile, Written } from './chat-platform.ts'
import { Deliveries } from './deliveries.ts'
import { type Button, type Post, Posts } from './posts.ts'

export const telegramToken = '12345:stand-in'
const bot = { id: 12345, is_bot: true, first_name: 'Troupe', username: 'troupe_bot' }
const names: { readonly [id: string]: string } = { '1001': 'Ada', '1002': 'Bob', '1003': 'Eve' }

interface Update extends Fields {
  readonly update_id: number
}

export class TelegramStandIn implements ChatPlatform {
  readonly name = 'telegram'
  readonly people = { ada: '1001', bob: '1002', eve: '1003' }
  readonly room = '-100200'
  readonly longestText = 4096
  readonly posts = new Posts()
  readonly api: ApiServer
  /** What `setWebhook` has set. */
  webhook: { readonly url: string; readonly secret: string } | undefined
  /** Texts that were shown to people who pressed a button. */
  readonly alerts: string[] = []
  readonly #pending = new Growing<readonly Update[]>([])
  readonly #deliveries = new Deliveries()
  readonly #files = new Map<string, SentFile>()
  #ids = 100
  #poll: (() => void) | undefined

  private constructor() {
    this.api = new ApiServer({
      read: (request) => this.#read(request),
      answer: (request) => this.#answer(request),
      limited: (seconds) => refusal(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds }),
    })
  }

  static async open(): Promise<TelegramStandIn> {
    const standIn = new TelegramStandIn()
    await standIn.api.listen()
    return standIn
  }

  get apiUrl(): string {
    return this.api.url
  }

  get unacknowledged(): number {
    return this.#deliveries.open
  }

  write({ person, text, place, direct = false, files = [], kind, of }: Written): PlatformEvent {
    // Each conversation has a topic of the group.
    const where = place ?? (direct ? person : `${this.room}:${++this.#ids}`)
    const [chatId = '', topic] = where.split(':')
    const isMention = where.startsWith('-') && !text.startsWith('/')
    const id = of !== undefined && kind === 'edit' ? Number(of) : ++this.#ids
    const said = isMention ? `@${bot.username} ${text}` : text
    const [entity] = said.match(/^[@/]\w+/) ?? []
    const entities =
      entity === undefined ? [] : [{ type: entity.startsWith('@') ? 'mention' : 'bot_command', offset: 0, length: entity.length }]
    const message = {
      ...{ message_id: id, date: 1, chat: this.#chat(chatId), ...(topic && { message_thread_id: Number(topic), is_topic_message: true }) },
      from: kind === 'bot' ? { id: 777, is_bot: true, first_name: 'Other', username: 'other_bot' } : this.#person(person),
      ...(files.length > 0
        ? { caption: said, caption_entities: entities, document: this.#offer(files[0] as SentFile) }
        : { text: said, entities }),
      ...(kind === 'edit' && { edit_date: 2 }),
    }
    // The Bot API says nothing of messages that people delete.
    const update = kind === 'delete' ? undefined : { [kind === 'edit' ? 'edited_message' : 'message']: message }
    return this.#event(update, { id: String(id), place: where })
  }

  press(person: string, post: Post, label: string): PlatformEvent {
    const button = post.buttons.find((each) => each.label === label)
    if (button === undefined) throw new Error(`no button ${label} in ${JSON.stringify(post.buttons)}`)
    const [chatId = '', topic] = post.place.split(':')
    const message = {
      message_id: Number(post.id),
      date: 1,
      chat: this.#chat(chatId),
      from: bot,
      text: post.text,
      ...(topic && { message_thread_id: Number(topic), is_topic_message: true }),
    }
    const query = { id: String(++this.#ids), from: this.#person(person), message, chat_instance: 'c', data: button.id }
    return this.#event({ callback_query: query }, post)
  }

  async close(): Promise<void> {
    this.#deliveries.close()
    this.#poll?.()
    this.api.close()
  }

  #event(fields: Fields | undefined, { id, place }: { readonly id: string; readonly place: string }): PlatformEvent {
    const update = { ...fields, update_id: ++this.#ids }
    return {
      id,
      place,
      deliver: async () => {
        if (fields !== undefined)
          await this.#deliveries.deliver(() => (this.webhook === undefined ? this.#offerUpdate(update) : this.#post(update)))
      },
      forge: async () => this.#statusOf(update, 'wrong'),
    }
  }

  /** Resolves when the bot has asked for later ones, with false if a webhook was set meanwhile. */
  async #offerUpdate(update: Update): Promise<boolean> {
    this.#pending.set([...this.#pending.value, update].toSorted((one, other) => one.update_id - other.update_id))
    await this.#pending.until((pending) => !pending.includes(update) || this.webhook !== undefined || undefined, 'poll')
    return this.webhook === undefined
  }

  async #post(update: Update): Promise<boolean> {
    return (await this.#statusOf(update, this.webhook?.secret ?? '')) === 200
  }

  async #statusOf(update: Update, secret: string): Promise<number> {
    const headers = { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': secret }
    const response = await fetch(this.webhook?.url ?? '', { method: 'POST', headers, body: JSON.stringify(update) })
    await response.text()
    return response.status
  }

  async #read(request: HttpRequest): Promise<ApiRequest> {
    const [, token, method = ''] = request.path.match(/^(?:\/file)?\/bot([^/]+)\/(.*)$/) ?? []
    const isForm = (request.headers['content-type'] ?? '').includes('multipart')
    const input = isForm ? await multipartOf(request) : JSON.parse(request.body.toString() || '{}')
    return { method: request.path.startsWith('/file/') ? `file ${method}` : method, input: { ...input, token } }
  }

  #answer({ method, input }: ApiRequest): ApiAnswer | Promise<ApiAnswer> {
    if (input.token !== telegramToken) return refusal(401, 'Unauthorized')
    if (method.startsWith('file ')) return this.#download(method.slice('file '.length))
    const answer = this.#methods[method]
    return answer === undefined ? refusal(404, 'Not Found: method not found') : answer(input)
  }

  readonly #methods: { readonly [method: string]: (input: Fields) => ApiAnswer | Promise<ApiAnswer> } = {
    getMe: () => ok(bot),
    getWebhookInfo: () => ok({ url: this.webhook?.url ?? '', pending_update_count: this.#pending.value.length }),
    setWebhook: ({ url, secret_token }) => this.#setWebhook({ url, secret: secret_token ?? '' }),
    deleteWebhook: () => this.#setWebhook(undefined),
    getUpdates: (input) => this.#updates(input),
    getChat: ({ chat_id }) => ok(this.#chat(String(chat_id))),
    setMyCommands: () => ok(true),
    sendChatAction: () => ok(true),
    sendMessage: (input) => this.#send(input, input.text),
    sendDocument: (input) => this.#send(input, input.caption ?? '', [{ name: input.document.name, bytes: input.document.content.length }]),
    editMessageText: (input) => this.#edit(input),
    deleteMessage: ({ message_id }) =>
      this.posts.remove(String(message_id)) ? ok(true) : refusal(400, 'Bad Request: message to delete not found'),
    answerCallbackQuery: ({ text }) => {
      if (text) this.alerts.push(text)
      return ok(true)
    },
    getFile: ({ file_id }) => {
      const file = this.#files.get(file_id)
      if (file === undefined) return refusal(400, 'Bad Request: invalid file_id')
      const size = file.bytes ?? file.content.length
      return size > 20_000_000
        ? refusal(400, 'Bad Request: file is too big')
        : ok({ file_id, file_size: size, file_path: `documents/${file_id}` })
    },
  }

  #setWebhook(webhook: typeof this.webhook): ApiAnswer {
    this.webhook = webhook
    this.#pending.set(this.#pending.value)
    return ok(true)
  }

  async #updates({ offset = 0, timeout = 0 }: Fields): Promise<ApiAnswer> {
    if (this.webhook !== undefined) return refusal(409, "Conflict: can't use getUpdates method while webhook is active")
    this.#poll?.()
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    this.#poll = end
    this.#pending.set(this.#pending.value.filter(({ update_id }) => update_id >= offset))
    const timer = setTimeout(end, timeout * 1000)
    const arrived = this.#pending.until((pending) => pending.length > 0 || undefined, 'update').catch(() => undefined)
    await Promise.race([arrived, ended])
    clearTimeout(timer)
    return ok(this.#pending.value)
  }

  #send(input: Fields, text: string, files: Post['files'] = []): ApiAnswer {
    const problem = this.#checked(input, text)
    if (problem !== undefined) return problem
    const id = ++this.#ids
    const place = input.message_thread_id ? `${input.chat_id}:${input.message_thread_id}` : String(input.chat_id)
    this.posts.add({ id: String(id), place, text: shown(input, text), buttons: buttonsOf(input.reply_markup), files, raw: input })
    return ok(this.#sent(id, input, text))
  }

  #edit(input: Fields): ApiAnswer {
    const problem = this.#checked(input, input.text)
    if (problem !== undefined) return problem
    const [id, text] = [String(input.message_id), shown(input, input.text)]
    const before = this.posts.value.find((post) => post.id === id)
    const buttons = buttonsOf(input.reply_markup)
    const isSame = before?.text === text && JSON.stringify(before.buttons) === JSON.stringify(buttons)
    if (isSame) return refusal(400, 'Bad Request: message is not modified')
    if (!this.posts.change(id, { text, buttons, raw: input })) return refusal(400, 'Bad Request: message to edit not found')
    return ok(this.#sent(Number(id), input, input.text))
  }

  #sent(message_id: number, { chat_id, message_thread_id }: Fields, text: string): Fields {
    return {
      message_id,
      date: 1,
      chat: this.#chat(String(chat_id)),
      from: bot,
      text,
      ...(message_thread_id && { message_thread_id: Number(message_thread_id) }),
    }
  }

  #checked({ parse_mode, reply_markup }: Fields, text = ''): ApiAnswer | undefined {
    if (text.length > this.longestText) return refusal(400, 'Bad Request: message is too long')
    const isUnescaped = parse_mode === 'MarkdownV2' && /(?<!\\)[.!#+\-=|{}](?!\d*\))/.test(text.replaceAll(/`[^`]*`|\]\([^)]*\)/g, ''))
    if (isUnescaped) return refusal(400, "Bad Request: can't parse entities: a character is reserved")
    const isLong = buttonsOf(reply_markup).some(({ id }) => Buffer.byteLength(id) > 64)
    return isLong ? refusal(400, 'Bad Request: BUTTON_DATA_INVALID') : undefined
  }

  #download(path: string): ApiAnswer {
    const file = this.#files.get(path.replace('documents/', ''))
    return file === undefined ? { status: 404 } : { headers: { 'content-type': file.mediaType }, body: file.content }
  }

  #offer(file: SentFile): Fields {
    const id = `file${this.#files.size + 1}`
    this.#files.set(id, file)
    return {
      file_id: id,
      file_unique_id: id,
      file_name: file.name,
      mime_type: file.mediaType,
      file_size: file.bytes ?? file.content.length,
    }
  }

  #chat(id: string): Fields {
    return id.startsWith('-')
      ? { id: Number(id), type: 'supergroup', title: 'Room' }
      : { ...this.#person(id), id: Number(id), type: 'private' }
  }

  #person(id: string): Fields {
    const name = names[id] ?? `Person ${id}`
    return { id: Number(id), is_bot: false, first_name: name, username: name.toLowerCase() }
  }
}

const ok = (result: unknown): ApiAnswer => ({ body: { ok: true, result } })
const refusal = (code: number, description: string, parameters?: Fields): ApiAnswer => ({
  status: code,
  body: { ok: false, error_code: code, description, ...(parameters && { parameters }) },
})

/** What people read: without the marks of MarkdownV2. */
const shown = ({ parse_mode }: Fields, text: string): string => (parse_mode === 'MarkdownV2' ? text.replaceAll(/\\([^\w\s])/g, '$1') : text)

function buttonsOf(markup: unknown): readonly Button[] {
  const { inline_keyboard = [] } = (typeof markup === 'string' ? JSON.parse(markup) : (markup ?? {})) as Fields
  return (inline_keyboard as readonly (readonly Fields[])[])
    .flat()
    .map((button) => ({ label: button.text, id: button.callback_data ?? button.url }))
}
