import { encodeDiscordCustomId } from '@chat-adapter/discord'
import { parseMarkdown } from 'chat'
import type { JsonObject } from 'troupe/extension'
import { contentText, isPublicLink } from '../plain-content.ts'
import { type Content, type Platform, type PlatformModule, type PlatformOptions, PlatformProblem } from '../platform.ts'
import { DurableDiscordAdapter } from './discord-adapter.ts'
import { DiscordRefusal } from './discord-refusal.ts'

const longestText = 2000
/** Formatting makes tables longer. */
const textLimit = 1800
/** Of a server without boosts. */
const longestUpload = 10_000_000
/** In a channel, Discord takes five messages in five seconds. */
const pieceMs = 1_200
const longestRow = 5
/** No previews of addresses, and nobody is called by what a model writes. */
const careful = { flags: 1 << 2, allowed_mentions: { parse: [] } }
const styles = { default: 2, primary: 1, danger: 4, link: 5 }
const types = { row: 1, button: 2, text: 3 }
const command = {
  name: 'troupe',
  description: 'Begin a conversation with an agent',
  options: [{ type: types.text, name: 'task', description: 'The name of an agent, and what it should do', required: true }],
}
const setup = 'troupe extensions setup chat_platforms'

export const discord: PlatformModule = {
  adapter: '@chat-adapter/discord',
  async open({ settings, secret, logger }: PlatformOptions) {
    const { apiUrl = 'https://discord.com/api/v10', applicationId } = settings
    const botToken = secret('DISCORD_BOT_TOKEN')
    if (botToken === undefined) throw new PlatformProblem('Discord needs DISCORD_BOT_TOKEN.', `Run: ${setup}`)
    if (typeof applicationId !== 'string') throw new PlatformProblem('Discord needs `platforms.discord.applicationId`.', `Run: ${setup}`)
    return discordPlatform(new DurableDiscordAdapter({ apiUrl: String(apiUrl), botToken, applicationId, logger }), String(apiUrl))
  },
}

function discordPlatform(adapter: DurableDiscordAdapter, apiUrl: string): Platform {
  const payload = (content: Content): JsonObject => {
    const markdown = contentText(content, textLimit)
    const text = adapter.renderFormatted(parseMarkdown(markdown))
    return { ...careful, content: text.length > longestText ? markdown : text, components: rows(content.buttons) }
  }
  const messages = (threadId: string): string => `/channels/${adapter.channelOf(threadId)}/messages`
  return {
    name: 'discord',
    title: 'Discord',
    adapter,
    limits: { text: textLimit, upload: longestUpload, pieceMs },
    async check() {
      await adapter.call('PUT', `/applications/${adapter.botUserId}/commands`, [command]).catch((error: unknown) => {
        if (!(error instanceof DiscordRefusal) || ![401, 403, 404].includes(error.status)) throw error
        const remedy = `Copy both from the pages General Information and Bot of the application, and run: ${setup}`
        throw new PlatformProblem('Discord refuses DISCORD_BOT_TOKEN for this application.', remedy)
      })
    },
    health: () => adapter.health,
    threadOf: (threadId) => threadId,
    post: async (threadId, content) => (await adapter.call('POST', messages(threadId), payload(content))).id,
    async edit(threadId, messageId, content) {
      await adapter.call('PATCH', `${messages(threadId)}/${messageId}`, payload(content)).catch((error: unknown) => {
        // Somebody has deleted it.
        if (!(error instanceof DiscordRefusal && error.status === 404)) throw error
      })
    },
    async findPost(threadId, since, isKnown) {
      const found = (await adapter.call('GET', `${messages(threadId)}?limit=50`)) as readonly DiscordMessage[]
      // Clocks differ.
      const isOurs = ({ id, author, timestamp, attachments }: DiscordMessage): boolean =>
        author.id === adapter.botUserId && Date.parse(timestamp) > since - 60_000 && attachments.length === 0 && !isKnown(id)
      return found.find(isOurs)?.id
    },
    retryAfterMs: (error) => (error instanceof DiscordRefusal ? error.retryAfterMs : undefined),
    isRefusal: (error) => error instanceof DiscordRefusal && error.status < 500,
    async tell({ thread, person, raw }, text) {
      const short = text.slice(0, longestText - 100)
      if (isInteraction(raw)) return adapter.answer(raw, short)
      const mentions = { content: `<@${person}> ${short}`, ...careful, allowed_mentions: { users: [person] } }
      await adapter.call('POST', messages(thread), mentions)
    },
    async beginThread(channelId, person, text) {
      const { guildId, channelId: channel } = adapter.decodeThreadId(channelId)
      const { id } = await adapter.call('POST', `/channels/${channel}/messages`, {
        content: `<@${person}> asks ${text}`.slice(0, longestText),
        ...careful,
      })
      if (guildId === '@me') return channelId
      await adapter.beginThread(channel, id, text)
      return adapter.encodeThreadId({ guildId, channelId: channel, threadId: id })
    },
    async readFile({ url }, signal) {
      const address = String(url)
      // Its own address is trusted. Others are checked by the adapter.
      if (!address.startsWith(`${apiUrl}/`)) return fetched(adapter, address)
      const response = await fetch(address, { signal })
      if (!response.ok) throw new Error(`Discord has no such file any more (${response.status}).`)
      return new Uint8Array(await response.arrayBuffer())
    },
  }
}

interface DiscordMessage {
  readonly id: string
  readonly author: { readonly id: string }
  readonly timestamp: string
  readonly attachments: readonly unknown[]
}

async function fetched(adapter: DurableDiscordAdapter, url: string): Promise<Uint8Array> {
  const { fetchData } = adapter.rehydrateAttachment({ type: 'file', url })
  if (!fetchData) throw new Error('Discord has no such file any more.')
  return new Uint8Array(await fetchData())
}

function rows(buttons: Content['buttons'] = []): readonly JsonObject[] {
  const components = buttons.flatMap((button): readonly JsonObject[] => {
    if (button.type === 'link-button')
      return isPublicLink(button) ? [{ type: types.button, style: styles.link, label: button.label, url: button.url }] : []
    if (button.type !== 'button') return []
    const { id, value, label, style = 'default' } = button
    return [{ type: types.button, style: styles[style], label, custom_id: encodeDiscordCustomId(id, value) }]
  })
  const starts = components.flatMap((_, index) => (index % longestRow === 0 ? [index] : []))
  return starts.map((start) => ({ type: types.row, components: components.slice(start, start + longestRow) }))
}

const isInteraction = (raw: unknown): raw is { readonly id: string; readonly token: string } =>
  typeof raw === 'object' && raw !== null && 'application_id' in raw && 'token' in raw
