// A stand-in for Slack: the methods of the Web API that the bot uses, with streaming, files and views; events, interactions and slash
// commands over Socket Mode or as signed webhooks.
import { createHmac, randomUUID } from 'node:crypto'
import { type ApiAnswer, type ApiRequest, ApiServer, type Fields, type HttpRequest, multipartOf } from './api-server.ts'
import type { ChatPlatform, PlatformEvent, SentFile, Written } from './chat-platform.ts'
import { Deliveries } from './deliveries.ts'
import { type Button, type Post, Posts } from './posts.ts'
import { SlackSocket } from './slack-socket.ts'

export const slackTokens = { bot: 'xoxb-stand-in', app: 'xapp-stand-in', signingSecret: 'slack-signing-secret' }
const team = 'T1'
const bot = { user: 'UBOT', id: 'BBOT', app: 'APP1' }

export interface SlackOptions {
  /** Where webhooks are sent. Without it, events go over Socket Mode. */
  readonly webhookUrl?: () => string
}

type EnvelopeType = 'events_api' | 'interactive' | 'slash_commands'

export class SlackStandIn implements ChatPlatform {
  readonly name = 'slack'
  readonly people = { ada: 'UADA', bob: 'UBOB', eve: 'UEVE' }
  readonly room = 'C1'
  readonly longestText = 12_000
  readonly posts = new Posts()
  readonly alerts = []
  /** The one that is accepted. */
  botToken = slackTokens.bot
  readonly socket = new SlackSocket()
  /** Views that were opened or published, by their id. A home tab has the id of its person. */
  readonly views = new Map<string, Fields>()
  /** The states of threads that people see, such as `is thinking…`. */
  readonly statuses = new Map<string, string>()
  readonly api: ApiServer
  readonly #options: SlackOptions
  readonly #deliveries = new Deliveries()
  readonly #files = new Map<string, SentFile>()
  #clock = 0

  private constructor(options: SlackOptions) {
    this.#options = options
    this.api = new ApiServer({
      read: (request) => this.#read(request),
      answer: (request) => this.#answer(request),
      limited: (seconds) => ({ status: 429, headers: { 'retry-after': String(seconds) }, body: { ok: false, error: 'ratelimited' } }),
      upgrade: (request, socket, head) => this.socket.accept(request, socket, head),
    })
  }

  static async open(options: SlackOptions = {}): Promise<SlackStandIn> {
    const standIn = new SlackStandIn(options)
    await standIn.api.listen()
    return standIn
  }

  get apiUrl(): string {
    return `${this.api.url}/api/`
  }

  get unacknowledged(): number {
    return this.#deliveries.open
  }

  write({ person, text, place, direct = false, files = [], kind, of }: Written): PlatformEvent {
    const [id, ofThread] = [this.#timestamp(), place?.split(':')]
    const channel = ofThread?.[0] ?? (direct ? 'D1' : this.room)
    const isDirect = channel.startsWith('D')
    const isMention = place === undefined && !isDirect
    const said = isMention ? `<@${bot.user}> ${text}` : text
    const message = {
      ...{ type: 'message', user: person, text: said, ts: id, channel, channel_type: isDirect ? 'im' : 'channel', team, event_ts: id },
      ...(ofThread && { thread_ts: ofThread[1] }),
      ...(files.length > 0 && { subtype: 'file_share', files: files.map((file) => this.#offer(file)) }),
      ...(kind === 'bot' && { subtype: 'bot_message', bot_id: 'BOTHER', user: undefined }),
    }
    const edited = { ...message, ts: of }
    const changed = {
      edit: { subtype: 'message_changed', message: edited, previous_message: edited },
      delete: { subtype: 'message_deleted', previous_message: edited, deleted_ts: of },
    }
    const isChange = kind === 'edit' || kind === 'delete'
    const events = isChange
      ? [{ type: 'message', channel, channel_type: message.channel_type, ts: id, event_ts: id, hidden: true, ...changed[kind] }]
      : [...(isMention ? [{ ...message, type: 'app_mention' }] : []), message]
    const payloads = events.map((event) => this.#callback(event))
    return this.#event('events_api', payloads, { id, place: place ?? `${channel}:${id}` })
  }

  press(person: string, post: Post, label: string): PlatformEvent {
    const button = post.buttons.find((each) => each.label === label)
    if (button === undefined) throw new Error(`no button ${label} in ${JSON.stringify(post.buttons)}`)
    const [channel = '', thread] = post.place.split(':')
    const payload = {
      ...this.#interaction(person, 'block_actions'),
      channel: { id: channel, name: channel },
      container: { type: 'message', message_ts: post.id, channel_id: channel, thread_ts: thread, is_ephemeral: post.onlyFor !== undefined },
      message: { type: 'message', ts: post.id, thread_ts: thread, text: post.text, user: bot.user, bot_id: bot.id },
      response_url: `${this.api.url}/response/${channel}/${post.id}`,
      actions: [{ type: 'button', action_id: button.id, block_id: 'b1', value: button.value, action_ts: this.#timestamp() }],
    }
    return this.#event('interactive', [payload], post)
  }

  /** Submits a view that was opened, with the values of its inputs by their action ids. */
  submit(person: string, viewId: string, values: { readonly [actionId: string]: string }): PlatformEvent {
    const state = {
      values: { inputs: Object.fromEntries(Object.entries(values).map(([id, value]) => [id, { type: 'plain_text_input', value }])) },
    }
    const payload = { ...this.#interaction(person, 'view_submission'), view: { ...this.views.get(viewId), state } }
    return this.#event('interactive', [payload], { id: viewId, place: '' })
  }

  /** A slash command such as `/troupe AGENT TEXT`. */
  command(person: string, command: string, text: string): PlatformEvent {
    const [channel, trigger] = [this.room, randomUUID()]
    const user = { user_id: person, user_name: person.toLowerCase() }
    const place = { team_id: team, channel_id: channel, channel_name: channel }
    const payload = { command, text, ...user, ...place, trigger_id: trigger, response_url: `${this.api.url}/response/${channel}/command` }
    return this.#event('slash_commands', [payload], { id: trigger, place: channel })
  }

  /** A person opens the home tab of the app. */
  openHome(person: string): PlatformEvent {
    const event = { type: 'app_home_opened', user: person, channel: 'D1', tab: 'home', event_ts: this.#timestamp() }
    return this.#event('events_api', [this.#callback(event)], { id: event.event_ts, place: 'D1' })
  }

  /** A person presses a button of their home tab. */
  pressHome(person: string, label: string): PlatformEvent {
    const view = this.views.get(person)
    const button = buttonsOf(view?.blocks).find((each) => each.label === label)
    if (button === undefined) throw new Error(`no button ${label} in the home tab of ${person}`)
    const payload = {
      ...this.#interaction(person, 'block_actions'),
      container: { type: 'view', view_id: person },
      view: { ...view, type: 'home' },
      actions: [{ type: 'button', action_id: button.id, block_id: 'b1', value: button.value, action_ts: this.#timestamp() }],
    }
    return this.#event('interactive', [payload], { id: person, place: '' })
  }

  async close(): Promise<void> {
    this.#deliveries.close()
    this.socket.close()
    this.api.close()
  }

  #event(type: EnvelopeType, payloads: readonly Fields[], { id, place }: { readonly id: string; readonly place: string }): PlatformEvent {
    const send = (payload: Fields, attempts: number): Promise<boolean> =>
      this.#options.webhookUrl === undefined
        ? this.socket.send({ type, payload, attempts })
        : this.#post({ type, payload, attempts }).then((status) => status < 300)
    return {
      id,
      place,
      deliver: async () => {
        await Promise.all(payloads.map((payload) => this.#deliveries.deliver((attempts) => send(payload, attempts))))
      },
      forge: (how) => this.#post({ type, payload: payloads[0] ?? {}, attempts: 0, forged: how }),
    }
  }

  async #post(sent: {
    readonly type: EnvelopeType
    readonly payload: Fields
    readonly attempts: number
    readonly forged?: string
  }): Promise<number> {
    const { type, payload, attempts, forged } = sent
    const forms = { events_api: undefined, interactive: { payload: JSON.stringify(payload) }, slash_commands: payload }
    const form = forms[type]
    const body = form === undefined ? JSON.stringify(payload) : new URLSearchParams(form).toString()
    const at = Math.floor(Date.now() / 1000) - (forged === 'timestamp' ? 600 : 0)
    const secret = forged === 'signature' ? 'wrong' : slackTokens.signingSecret
    const signature = createHmac('sha256', secret).update(`v0:${at}:${body}`).digest('hex')
    const response = await fetch(this.#options.webhookUrl?.() ?? '', {
      method: 'POST',
      headers: {
        'content-type': form === undefined ? 'application/json' : 'application/x-www-form-urlencoded',
        'x-slack-request-timestamp': String(at),
        'x-slack-signature': `v0=${signature}`,
        ...(attempts > 0 && { 'x-slack-retry-num': String(attempts), 'x-slack-retry-reason': 'http_error' }),
      },
      body,
    })
    return response.status
  }

  #callback(event: Fields): Fields {
    const authorizations = [{ team_id: team, user_id: bot.user, is_bot: true, is_enterprise_install: false }]
    return {
      type: 'event_callback',
      team_id: team,
      api_app_id: bot.app,
      event,
      event_id: `Ev${randomUUID()}`,
      event_time: 1,
      authorizations,
    }
  }

  #interaction(person: string, type: string): Fields {
    const user = { id: person, username: person.toLowerCase(), name: person.toLowerCase(), team_id: team }
    return { type, user, team: { id: team, domain: 'team' }, api_app_id: bot.app, trigger_id: randomUUID() }
  }

  /** The ids of messages are times, and unique. */
  #timestamp(): string {
    this.#clock++
    return `1700000000.${String(this.#clock).padStart(6, '0')}`
  }

  #offer(file: SentFile): Fields {
    const id = `F${this.#files.size + 1}`
    this.#files.set(id, file)
    const url = `${this.api.url}/files/${id}`
    return {
      id,
      name: file.name,
      mimetype: file.mediaType,
      size: file.bytes ?? file.content.length,
      url_private: url,
      url_private_download: url,
    }
  }

  async #read(request: HttpRequest): Promise<ApiRequest> {
    const { verb, path, query, headers, body } = request
    const type = headers['content-type'] ?? ''
    const fields = type.includes('form-urlencoded')
      ? fieldsOf(body.toString())
      : type.includes('multipart')
        ? await multipartOf(request)
        : JSON.parse(body.toString() || '{}')
    const token = headers.authorization?.replace('Bearer ', '') ?? fields.token
    const isMethod = path.startsWith('/api/')
    return { method: isMethod ? path.slice('/api/'.length) : `${verb} ${path}`, input: { ...Object.fromEntries(query), ...fields, token } }
  }

  #answer({ method, input }: ApiRequest): ApiAnswer {
    if (method.startsWith('GET /files/')) return this.#download(method.slice('GET /files/'.length), input)
    if (method.startsWith('POST /uploads/')) return this.#upload(method.slice('POST /uploads/'.length), input)
    if (method.startsWith('POST /response/')) return this.#respond(method, input)
    if (input.token !== this.botToken && input.token !== slackTokens.app) return refusal('invalid_auth')
    const answer = this.#methods[method]
    return answer === undefined ? refusal('unknown_method') : answer(input)
  }

  readonly #methods: { readonly [method: string]: (input: Fields) => ApiAnswer } = {
    'apps.connections.open': ({ token }) =>
      token === slackTokens.app ? ok({ url: `${this.api.url.replace('http', 'ws')}/link` }) : refusal('invalid_auth'),
    'auth.test': () => ok({ user_id: bot.user, bot_id: bot.id, user: 'troupe', team_id: team, team: 'Team', url: 'https://team.example/' }),
    'users.info': ({ user }) =>
      ok({
        user: { id: user, name: String(user).toLowerCase(), real_name: `Person ${user}`, profile: { display_name: `Person ${user}` } },
      }),
    'conversations.info': ({ channel }) => ok({ channel: { id: channel, name: channel, is_im: String(channel).startsWith('D') } }),
    'conversations.replies': ({ channel, ts }) =>
      ok({ messages: this.posts.in(`${channel}:${ts}`).map(({ id, text }) => ({ ts: id, text, user: bot.user, bot_id: bot.id })) }),
    'conversations.history': () => ok({ messages: [] }),
    'conversations.open': ({ users }) => ok({ channel: { id: `D-${users}` } }),
    'chat.postMessage': (input) => this.#add(input),
    'chat.postEphemeral': (input) => this.#add(input, String(input.user)),
    'chat.update': ({ ts, ...input }) =>
      this.#checked(input) ?? this.#changed(ts, { text: textOf(input), buttons: buttonsOf(input.blocks), raw: input }),
    'chat.delete': ({ ts }) => (this.posts.remove(String(ts)) ? ok({ ts }) : refusal('message_not_found')),
    'chat.startStream': (input) => (input.thread_ts ? this.#add({ ...input, streaming: true }) : refusal('invalid_thread_ts')),
    'chat.appendStream': (input) => this.#append(input),
    'chat.stopStream': (input) => this.#append(input, true),
    'assistant.threads.setStatus': ({ channel_id, thread_ts, status }) => this.#status(`${channel_id}:${thread_ts}`, String(status)),
    'assistant.threads.setTitle': () => ok({}),
    'reactions.add': () => ok({}),
    'reactions.remove': () => ok({}),
    'views.open': ({ view }) => this.#view(`V${this.views.size + 1}`, view),
    'views.update': ({ view, view_id }) => this.#view(String(view_id), view),
    'views.publish': ({ view, user_id }) => this.#view(String(user_id), view),
    'files.getUploadURLExternal': ({ filename }) => {
      const id = `F${this.#files.size + 1}`
      this.#files.set(id, { name: String(filename), mediaType: 'application/octet-stream', content: Buffer.alloc(0) })
      return ok({ file_id: id, upload_url: `${this.api.url}/uploads/${id}` })
    },
    'files.completeUploadExternal': ({ files, channel_id, thread_ts, initial_comment }) => {
      const uploaded = (files as readonly { readonly id: string }[]).map(({ id }) => ({ id, file: this.#files.get(id) }))
      const shown = uploaded.map(({ file }) => ({ name: file?.name ?? '', bytes: file?.content.length ?? 0 }))
      const id = this.#timestamp()
      this.posts.add({ id, place: `${channel_id}:${thread_ts ?? id}`, text: String(initial_comment ?? ''), files: shown })
      return ok({ files: uploaded.map(({ id, file }) => ({ id, name: file?.name })) })
    },
  }

  #add(input: Fields, onlyFor?: string): ApiAnswer {
    const problem = this.#checked(input)
    if (problem !== undefined) return problem
    const ts = this.#timestamp()
    const place = `${input.channel}:${input.thread_ts ?? ts}`
    this.posts.add({
      id: ts,
      place,
      text: textOf(input),
      buttons: buttonsOf(input.blocks),
      raw: input,
      ...(onlyFor !== undefined && { onlyFor }),
    })
    return ok({ ts, message_ts: ts, channel: input.channel, message: { ts, text: textOf(input), thread_ts: input.thread_ts } })
  }

  #changed(ts: unknown, change: Parameters<Posts['change']>[1]): ApiAnswer {
    return this.posts.change(String(ts), change) ? ok({ ts, text: change.text }) : refusal('message_not_found')
  }

  #append({ ts, ...input }: Fields, isLast = false): ApiAnswer {
    const post = this.posts.value.find(({ id }) => id === ts)
    if (post === undefined) return refusal('message_not_found')
    const raw = post.raw as Fields
    if (raw.streaming !== true) return refusal('message_not_in_streaming_state')
    const problem = this.#checked(input)
    if (problem !== undefined) return problem
    const chunks = [...(raw.chunks ?? []), ...(input.chunks ?? [])]
    const buttons = [...post.buttons, ...buttonsOf(input.blocks)]
    return this.#changed(ts, {
      text: post.text + textOf({ ...input, blocks: [] }),
      buttons,
      raw: { ...raw, ...input, chunks, streaming: !isLast },
    })
  }

  #checked({ text = '', markdown_text = '', blocks = [] }: Fields): ApiAnswer | undefined {
    if (text.length > 40_000 || markdown_text.length > this.longestText) return refusal('msg_too_long')
    if (blocks.length > 50) return refusal('invalid_blocks')
    const isLong = (block: Fields): boolean => (block.text?.text ?? '').length > (block.type === 'header' ? 150 : 3000)
    return blocks.some(isLong) ? refusal('invalid_blocks') : undefined
  }

  #status(place: string, status: string): ApiAnswer {
    this.statuses.set(place, status)
    return ok({})
  }

  #view(id: string, given: unknown): ApiAnswer {
    const view = { ...(typeof given === 'string' ? JSON.parse(given) : given), id }
    this.views.set(id, view)
    return ok({ view })
  }

  #download(id: string, { token }: Fields): ApiAnswer {
    const file = this.#files.get(id)
    if (token !== slackTokens.bot || file === undefined) return { status: 404 }
    return { headers: { 'content-type': file.mediaType }, body: file.content }
  }

  #upload(id: string, { body }: Fields): ApiAnswer {
    const file = this.#files.get(id)
    if (file === undefined) return { status: 404 }
    this.#files.set(id, { ...file, content: body.content })
    return { body: Buffer.from('OK') }
  }

  /** What is posted to the address of an interaction: it replaces the message, removes it, or adds one for the person. */
  #respond(method: string, input: Fields): ApiAnswer {
    const [, , channel, ts = ''] = method.split('/')
    if (input.delete_original) return this.posts.remove(ts) ? ok({}) : refusal('message_not_found')
    if (input.replace_original) return this.#changed(ts, { text: textOf(input), buttons: buttonsOf(input.blocks), raw: input })
    const thread_ts = input.thread_ts ?? this.posts.value.find(({ id }) => id === ts)?.place.split(':')[1]
    return this.#add({ ...input, channel, thread_ts }, 'the person')
  }
}

const ok = (fields: Fields): ApiAnswer => ({ body: { ok: true, ...fields } })
const refusal = (error: string): ApiAnswer => ({ body: { ok: false, error } })

/** The fields of a form. Lists and objects are sent as JSON. */
function fieldsOf(body: string): Fields {
  const isJson = (value: string): boolean => /^[[{]|^(?:true|false)$/.test(value)
  const parsed = (value: string): unknown => {
    try {
      return isJson(value) ? JSON.parse(value) : value
    } catch {
      return value
    }
  }
  return Object.fromEntries([...new URLSearchParams(body)].map(([name, value]) => [name, texts.has(name) ? value : parsed(value)]))
}
const texts = new Set(['text', 'markdown_text', 'status', 'private_metadata'])

/** What people read: the blocks, or the text if there are none. */
function textOf({ text, markdown_text, blocks = [], chunks = [] }: Fields): string {
  const ofBlocks = (blocks as readonly Fields[]).map(blockText).filter((each) => each !== '')
  const ofChunks = (chunks as readonly Fields[]).map((chunk) => (chunk.type === 'markdown_text' ? chunk.text : ''))
  if (ofBlocks.length > 0) return ofBlocks.join('\n')
  return (markdown_text ?? text ?? '') + ofChunks.join('')
}

function blockText(block: Fields): string {
  const ofText = typeof block.text === 'string' ? block.text : (block.text?.text ?? '')
  const fields = [...(block.fields ?? []), ...(block.type === 'context' ? (block.elements ?? []) : [])] as readonly Fields[]
  const cells = ((block.rows ?? []) as readonly (readonly Fields[])[]).map((row) => row.map((cell) => cell.text ?? '').join(' | '))
  return [ofText, ...fields.map((field) => field.text ?? ''), ...cells].filter((each) => each !== '').join('\n')
}

const buttonsOf = (blocks: readonly Fields[] = []): readonly Button[] =>
  blocks
    .flatMap((block) => (block.type === 'actions' || block.type === 'context_actions' ? block.elements : (block.accessory ?? [])))
    .filter((element: Fields) => element.type === 'button')
    .map((element: Fields) => ({ label: element.text.text, id: element.action_id, value: element.value }))
