// A stand-in for Discord: the REST calls that the bot uses; messages over the Gateway, and interactions over the Gateway or as signed
// webhooks.
import { generateKeyPairSync, sign } from 'node:crypto'
import { type ApiAnswer, type ApiRequest, ApiServer, type Fields, type HttpRequest, multipartOf } from './api-server.ts'
import type { ChatPlatform, PlatformEvent, SentFile, Written } from './chat-platform.ts'
import { Deliveries } from './deliveries.ts'
import { DiscordGateway } from './discord-gateway.ts'
import { type Button, type Post, Posts } from './posts.ts'

export const discordToken = 'discord-stand-in'
const application = '900'
const guild = '500'
const names: { readonly [id: string]: string } = { '7001': 'Ada', '7002': 'Bob', '7003': 'Eve' }
const kinds = { text: 0, direct: 1, thread: 11 }

interface Channel {
  readonly id: string
  readonly type: number
  readonly parent_id?: string
  readonly guild_id?: string
}

export interface DiscordOptions {
  /** Where interactions are sent. Without it, they go over the Gateway. */
  readonly webhookUrl?: () => string
}

export class DiscordStandIn implements ChatPlatform {
  readonly name = 'discord'
  readonly people = { ada: '7001', bob: '7002', eve: '7003' }
  readonly room = '600'
  readonly longestText = 2000
  readonly posts = new Posts()
  readonly alerts = []
  readonly api: ApiServer
  readonly gateway = new DiscordGateway()
  /** For the setting `publicKey`. */
  readonly publicKey: string
  /** Forms that people see after they pressed a button. */
  readonly modals: Fields[] = []
  readonly #options: DiscordOptions
  readonly #keys = generateKeyPairSync('ed25519')
  readonly #deliveries = new Deliveries()
  readonly #channels = new Map<string, Channel>([[this.room, { id: this.room, type: kinds.text, guild_id: guild }]])
  readonly #files = new Map<string, SentFile>()
  /** What interactions belong to, by their tokens. */
  readonly #interactions = new Map<string, { readonly channel: string; readonly person: string; readonly message?: string }>()
  #ids = 1000

  private constructor(options: DiscordOptions) {
    this.#options = options
    this.publicKey = this.#keys.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex')
    this.api = new ApiServer({
      read: (request) => this.#read(request),
      answer: (request) => this.#answer(request),
      limited: (seconds) => ({
        status: 429,
        headers: { 'retry-after': String(seconds) },
        body: { message: 'You are being rate limited.', retry_after: seconds, global: false },
      }),
      upgrade: (request, socket, head) => this.gateway.accept(request, socket, head),
    })
  }

  static async open(options: DiscordOptions = {}): Promise<DiscordStandIn> {
    const standIn = new DiscordStandIn(options)
    await standIn.api.listen()
    standIn.gateway.url = `${standIn.api.url.replace('http', 'ws')}/gateway`
    return standIn
  }

  get apiUrl(): string {
    return `${this.api.url}/api/v10`
  }

  get unacknowledged(): number {
    return this.#deliveries.open
  }

  write({ person, text, place, direct = false, files = [], kind, of }: Written): PlatformEvent {
    const id = kind === 'edit' || kind === 'delete' ? (of ?? '') : this.#id()
    const channel = place?.split(':').at(-1) ?? (direct ? this.#directChannel(person) : this.room)
    const { guild_id, type } = this.#channels.get(channel) ?? {}
    const isMention = place === undefined && !direct
    const message = {
      ...{ id, channel_id: channel, channel_type: type, ...(guild_id && { guild_id }), timestamp: new Date(0).toISOString(), type: 0 },
      author: kind === 'bot' ? { id: '777', username: 'other', bot: true } : this.#person(person),
      content: isMention ? `<@${application}> ${text}` : text,
      ...{ mentions: isMention ? [{ id: application, username: 'troupe', bot: true }] : [], mention_roles: [], mention_everyone: false },
      attachments: files.map((file) => this.#offer(file)),
      embeds: [],
      edited_timestamp: kind === 'edit' ? new Date(1).toISOString() : null,
    }
    const name = kind === 'edit' ? 'MESSAGE_UPDATE' : kind === 'delete' ? 'MESSAGE_DELETE' : 'MESSAGE_CREATE'
    const begun = direct ? `@me:${channel}` : `${guild}:${channel}:${id}`
    return this.#event(name, message, { id, place: place ?? begun })
  }

  press(person: string, post: Post, label: string): PlatformEvent {
    const button = post.buttons.find((each) => each.label === label)
    if (button === undefined) throw new Error(`no button ${label} in ${JSON.stringify(post.buttons)}`)
    const channel = post.place.split(':').at(-1) ?? ''
    const message = { id: post.id, channel_id: channel, content: post.text, author: { id: application, username: 'troupe', bot: true } }
    const data = { component_type: 2, custom_id: button.id }
    return this.#interaction(3, { person, channel, data, message })
  }

  /** Submits a form that was shown, with the values of its inputs by their ids. */
  submit(person: string, modal: Fields, values: { readonly [id: string]: string }): PlatformEvent {
    const inputs = Object.entries(values).map(([custom_id, value]) => ({ type: 1, components: [{ type: 4, custom_id, value }] }))
    return this.#interaction(5, { person, channel: modal.channel, data: { custom_id: modal.custom_id, components: inputs } })
  }

  /** A slash command such as `/troupe TEXT`. */
  command(person: string, name: string, text: string): PlatformEvent {
    const data = { id: '1', type: 1, name, options: [{ type: 3, name: 'text', value: text }] }
    return this.#interaction(2, { person, channel: this.room, data })
  }

  async close(): Promise<void> {
    this.#deliveries.close()
    this.gateway.close()
    this.api.close()
  }

  #interaction(
    type: number,
    { person, channel, data, message }: { person: string; channel: string; data: Fields; message?: Fields },
  ): PlatformEvent {
    const [id, token] = [this.#id(), `token-${this.#ids}`]
    const where = this.#channels.get(channel)
    this.#interactions.set(token, { channel, person, ...(message && { message: message.id }) })
    const user = this.#person(person)
    const who = where?.guild_id === undefined ? { user } : { guild_id: where.guild_id, member: { user, permissions: '0', roles: [] } }
    const interaction = {
      id,
      token,
      type,
      application_id: application,
      version: 1,
      channel_id: channel,
      channel: where,
      data,
      ...who,
      ...(message && { message }),
    }
    return this.#event('INTERACTION_CREATE', interaction, { id, place: this.#placeOf(channel) })
  }

  #event(name: string, data: Fields, { id, place }: { readonly id: string; readonly place: string }): PlatformEvent {
    const isWebhook = name === 'INTERACTION_CREATE' && this.#options.webhookUrl !== undefined
    return {
      id,
      place,
      deliver: () => this.#deliveries.deliver(() => (isWebhook ? this.#post(data) : this.gateway.send(name, data))),
      forge: (how) => this.#statusOf(data, how),
    }
  }

  async #post(data: Fields): Promise<boolean> {
    return (await this.#statusOf(data)) === 200
  }

  async #statusOf(data: Fields, forged?: 'signature' | 'timestamp'): Promise<number> {
    const at = String(Math.floor(Date.now() / 1000) - (forged === 'timestamp' ? 600 : 0))
    const body = JSON.stringify(data)
    const { privateKey } = forged === 'signature' ? generateKeyPairSync('ed25519') : this.#keys
    const signature = sign(null, Buffer.from(at + body), privateKey).toString('hex')
    const headers = { 'content-type': 'application/json', 'x-signature-ed25519': signature, 'x-signature-timestamp': at }
    const response = await fetch(this.#options.webhookUrl?.() ?? '', { method: 'POST', headers, body })
    const answer = response.ok ? ((await response.json()) as Fields) : undefined
    if (answer !== undefined) this.#respond(data.token, answer)
    return response.status
  }

  async #read(request: HttpRequest): Promise<ApiRequest> {
    const type = request.headers['content-type'] ?? ''
    const method = `${request.verb} ${request.path.replace('/api/v10', '')}`
    const authorization = request.headers.authorization ?? ''
    if (!type.includes('multipart'))
      return { method, input: { body: JSON.parse(request.body.toString() || 'null'), files: [], authorization } }
    const { payload_json = '{}', ...files } = await multipartOf(request)
    return { method, input: { body: JSON.parse(payload_json), files: Object.values(files), authorization } }
  }

  #answer({ method, input }: ApiRequest): ApiAnswer {
    const isOpen = /^(?:GET \/files|POST \/interactions|(?:POST|PATCH) \/webhooks)\//.test(method)
    if (!isOpen && input.authorization !== `Bot ${discordToken}`) return refusal(401, 0, '401: Unauthorized')
    for (const [pattern, answer] of this.#routes) {
      const found = pattern.exec(method)
      if (found !== null) return answer({ ...input, path: found.groups ?? {} })
    }
    return refusal(404, 0, '404: Not Found')
  }

  readonly #routes: readonly (readonly [RegExp, (input: Fields) => ApiAnswer])[] = [
    [/^GET \/files\/(?<id>[^/]+)/, ({ path }) => this.#download(path.id)],
    [/^GET \/users\/@me$/, () => ok({ id: application, username: 'troupe', bot: true })],
    [
      /^GET \/gateway\/bot$/,
      () =>
        ok({ url: this.gateway.url, shards: 1, session_start_limit: { total: 1000, remaining: 999, reset_after: 0, max_concurrency: 1 } }),
    ],
    [/^PUT \/applications\/\d+\/commands$/, ({ body }) => ok(body)],
    [/^POST \/users\/@me\/channels$/, ({ body }) => ok(this.#channels.get(this.#directChannel(body.recipient_id)))],
    [/^GET \/channels\/(?<channel>[^/]+)$/, ({ path }) => this.#channel(path.channel)],
    [/^POST \/channels\/(?<channel>[^/]+)\/typing$/, () => ({ status: 204 })],
    [/^POST \/channels\/(?<channel>[^/]+)\/messages$/, ({ path, ...input }) => this.#send(path.channel, input)],
    [
      /^GET \/channels\/(?<channel>[^/]+)\/messages/,
      ({ path }) => ok(this.posts.in(this.#placeOf(path.channel)).map((post) => this.#message(post))),
    ],
    [/^PATCH \/channels\/(?<channel>[^/]+)\/messages\/(?<id>[^/]+)$/, ({ path, body }) => this.#edit(path.id, body)],
    [
      /^DELETE \/channels\/(?<channel>[^/]+)\/messages\/(?<id>[^/]+)$/,
      ({ path }) => (this.posts.remove(path.id) ? { status: 204 } : unknownMessage),
    ],
    [/^POST \/channels\/(?<channel>[^/]+)\/messages\/(?<id>[^/]+)\/threads$/, ({ path }) => this.#beginThread(path.channel, path.id)],
    [/^POST \/interactions\/(?<id>[^/]+)\/(?<token>[^/]+)\/callback/, ({ path, body }) => this.#respond(path.token, body)],
    [/^POST \/webhooks\/\d+\/(?<token>[^/?]+)/, ({ path, ...input }) => this.#follow(path.token, input)],
    [/^PATCH \/webhooks\/\d+\/(?<token>[^/]+)\/messages\/@original$/, ({ path, ...input }) => this.#follow(path.token, input)],
  ]

  #channel(id: string): ApiAnswer {
    const channel = this.#channels.get(id)
    return channel === undefined ? refusal(404, 10_003, 'Unknown Channel') : ok(channel)
  }

  #beginThread(parent: string, id: string): ApiAnswer {
    if (this.#channels.get(parent)?.type !== kinds.text) return refusal(400, 50_024, 'Cannot execute action on this channel type')
    if (this.#channels.has(id)) return refusal(400, 160_004, 'A thread has already been created for this message')
    this.#channels.set(id, { id, type: kinds.thread, parent_id: parent, guild_id: guild })
    return ok({ ...this.#channels.get(id), name: 'Thread' })
  }

  #directChannel(person: string): string {
    const id = `8${person}`
    this.#channels.set(id, { id, type: kinds.direct })
    return id
  }

  #placeOf(channel: string): string {
    const { guild_id, parent_id } = this.#channels.get(channel) ?? {}
    return guild_id === undefined ? `@me:${channel}` : [guild_id, ...(parent_id ? [parent_id] : []), channel].join(':')
  }

  #send(channel: string, { body, files }: Fields, onlyFor?: string): ApiAnswer {
    if (!this.#channels.has(channel)) return refusal(404, 10_003, 'Unknown Channel')
    const problem = checked(body, files)
    if (problem !== undefined) return problem
    const id = this.#id()
    const shown = (files as readonly SentFile[]).map(({ name, content }) => ({ name, bytes: content.length }))
    const post = { id, place: this.#placeOf(channel), text: textOf(body), buttons: buttonsOf(body.components), files: shown, raw: body }
    this.posts.add({ ...post, ...(onlyFor !== undefined && { onlyFor }) })
    return ok({ id, channel_id: channel, content: body.content ?? '' })
  }

  #edit(id: string, body: Fields): ApiAnswer {
    const problem = checked(body)
    if (problem !== undefined) return problem
    const before = this.posts.value.find((post) => post.id === id)
    const merged = { ...(before?.raw as Fields | undefined), ...body }
    const change = { text: textOf(merged), buttons: buttonsOf(merged.components), raw: merged }
    return this.posts.change(id, change) ? ok({ id, content: merged.content ?? '' }) : unknownMessage
  }

  /** The first answer to an interaction. */
  #respond(token: string, { type, data = {} }: Fields): ApiAnswer {
    const interaction = this.#interactions.get(token)
    if (interaction === undefined) return refusal(404, 10_062, 'Unknown interaction')
    if (type === 4) this.#send(interaction.channel, { body: data, files: [] }, data.flags === 64 ? interaction.person : undefined)
    if (type === 7 && interaction.message !== undefined) this.#edit(interaction.message, data)
    if (type === 9) this.modals.push({ ...data, channel: interaction.channel })
    return { status: 204 }
  }

  #follow(token: string, input: Fields): ApiAnswer {
    const interaction = this.#interactions.get(token)
    if (interaction === undefined) return refusal(404, 10_015, 'Unknown Webhook')
    return this.#send(interaction.channel, input, input.body.flags === 64 ? interaction.person : undefined)
  }

  #message({ id, text, raw }: Post): Fields {
    const author = { id: application, username: 'troupe', bot: true }
    return {
      id,
      content: text,
      author,
      timestamp: new Date().toISOString(),
      attachments: [],
      embeds: [],
      mentions: [],
      nonce: (raw as Fields).nonce,
    }
  }

  #offer(file: SentFile): Fields {
    const id = `f${this.#files.size + 1}`
    this.#files.set(id, file)
    return {
      id,
      filename: file.name,
      content_type: file.mediaType,
      size: file.bytes ?? file.content.length,
      url: `${this.apiUrl}/files/${id}`,
    }
  }

  #download(id: string): ApiAnswer {
    const file = this.#files.get(id)
    return file === undefined ? { status: 404 } : { headers: { 'content-type': file.mediaType }, body: file.content }
  }

  #person(id: string): Fields {
    const name = names[id] ?? `Person ${id}`
    return { id, username: name.toLowerCase(), global_name: name, bot: false }
  }

  #id(): string {
    return String(++this.#ids)
  }
}

const ok = (body: unknown): ApiAnswer => ({ body })
const refusal = (status: number, code: number, message: string): ApiAnswer => ({ status, body: { code, message } })
const unknownMessage = refusal(404, 10_008, 'Unknown Message')

function checked({ content, embeds = [], components = [] }: Fields, files: readonly unknown[] = []): ApiAnswer | undefined {
  const invalid = refusal(400, 50_035, 'Invalid Form Body')
  if ((content ?? '').length > 2000 || (embeds as readonly Fields[]).some(({ description = '' }) => description.length > 4096))
    return invalid
  const rows = components as readonly Fields[]
  if (rows.length > 5 || rows.some((row) => (row.components ?? []).length > 5)) return invalid
  if (buttonsOf(components).some(({ id, label }) => id.length > 100 || label.length > 80)) return invalid
  const isEmpty = !content && embeds.length === 0 && components.length === 0 && files.length === 0
  return isEmpty ? refusal(400, 50_006, 'Cannot send an empty message') : undefined
}

function textOf({ content, embeds = [] }: Fields): string {
  const ofEmbeds = (embeds as readonly Fields[]).flatMap(({ title, description, fields = [] }) => [
    title,
    description,
    ...(fields as readonly Fields[]).map(({ name, value }) => `${name}: ${value}`),
  ])
  return [content, ...ofEmbeds].filter(Boolean).join('\n')
}

const buttonsOf = (components: readonly Fields[] = []): readonly Button[] =>
  (components ?? [])
    .flatMap((row) => (row.components ?? []) as readonly Fields[])
    .filter(({ type, disabled }) => type === 2 && disabled !== true)
    .map(({ label, custom_id, url }) => ({ label, id: custom_id ?? url }))
