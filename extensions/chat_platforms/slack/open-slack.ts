import type { HealthReport, JsonObject } from 'troupe/extension'
import { chatLogger } from '../chat-logger.ts'
import {
  type Content,
  type Listener,
  type NativeStream,
  type Platform,
  type PlatformModule,
  type PlatformOptions,
  PlatformProblem,
} from '../platform.ts'
import { DurableSlackAdapter } from './slack-adapter.ts'
import { fallbackText, homeBlocksOf, shown } from './slack-blocks.ts'
import { retryAfterMs, slackErrorOf, tokenErrors } from './slack-errors.ts'
import { slackFile } from './slack-file.ts'
import { slackStream } from './slack-stream.ts'
import { webClientOptions } from './web-client-options.ts'

/** Of a markdown block, with room for buttons. */
const longestText = 11_500
const longestUpload = 100 * 1024 * 1024
/** Slack takes about 100 pieces in a minute from an app. */
const pieceMs = 700
const setup = 'troupe extensions setup chat_platforms'

export const slack: PlatformModule = {
  adapter: '@chat-adapter/slack',
  async open(options) {
    const adapter = openAdapter(options)
    return new SlackPlatform(adapter, options)
  },
}

function openAdapter({ settings, secret, logger }: PlatformOptions): DurableSlackAdapter {
  const { mode = 'socket', apiUrl = 'https://slack.com/api/' } = settings
  if (mode !== 'socket' && mode !== 'webhooks')
    throw new PlatformProblem('`platforms.slack.mode` must be "socket" or "webhooks".', `Run: ${setup}`)
  const needed = (name: string, prefix: string): string => {
    const value = secret(name)
    if (value === undefined) throw new PlatformProblem(`Slack needs ${name}.`, `Run: ${setup}`)
    if (!value.startsWith(prefix)) throw new PlatformProblem(`${name} must begin with ${prefix}.`, `Run: ${setup}`)
    return value
  }
  return new DurableSlackAdapter({
    apiUrl: String(apiUrl),
    botToken: needed('SLACK_BOT_TOKEN', 'xoxb-'),
    logger: chatLogger(logger, 'slack'),
    webClientOptions: webClientOptions(logger),
    ...(mode === 'socket'
      ? { mode: 'socket', appToken: needed('SLACK_APP_TOKEN', 'xapp-'), signingSecret: '' }
      : { mode: 'webhook', signingSecret: needed('SLACK_SIGNING_SECRET', '') }),
  })
}

class SlackPlatform implements Platform {
  readonly name = 'slack'
  readonly title = 'Slack'
  readonly limits = { text: longestText, upload: longestUpload, pieceMs }
  readonly adapter: DurableSlackAdapter
  readonly stream: NativeStream
  readonly #options: PlatformOptions
  #bot: { readonly user: string; readonly id: string } | undefined

  constructor(adapter: DurableSlackAdapter, options: PlatformOptions) {
    this.adapter = adapter
    this.#options = options
    this.stream = slackStream(adapter, options.lastNote)
  }

  async check(): Promise<void> {
    try {
      const { user_id = '', bot_id = '' } = await this.adapter.webClient.auth.test()
      this.#bot = { user: user_id, id: bot_id }
    } catch (error) {
      throw this.problemOf(error) ?? error
    }
  }

  problemOf(error: unknown): PlatformProblem | undefined {
    const said = slackErrorOf(error) ?? ''
    if (!tokenErrors.has(said)) return undefined
    return new PlatformProblem(
      `Slack refuses the bot token (${said}).`,
      `Install the app, copy its Bot User OAuth Token, and run: ${setup}`,
    )
  }

  health(): HealthReport {
    const message = this.adapter.socketProblem
    return message === undefined ? { healthy: true } : { healthy: false, message }
  }

  /** In a direct message, each message that is in no thread begins one. */
  threadOf(threadId: string, messageId: string): string {
    const { channel, threadTs } = this.adapter.decodeThreadId(threadId)
    return this.adapter.encodeThreadId({ channel, threadTs: threadTs === '' ? messageId : threadTs })
  }

  async post(threadId: string, content: Content): Promise<string> {
    const { channel, threadTs } = this.adapter.decodeThreadId(threadId)
    const place = { channel, ...(threadTs !== '' && { thread_ts: threadTs }), unfurl_links: false, unfurl_media: false }
    const { ts } = await this.adapter.webClient.chat.postMessage({ ...place, ...shown(content) })
    return ts ?? ''
  }

  async edit(threadId: string, messageId: string, content: Content): Promise<void> {
    const { channel } = this.adapter.decodeThreadId(threadId)
    try {
      await this.adapter.webClient.chat.update({ channel, ts: messageId, ...shown(content) })
    } catch (error) {
      // Somebody has deleted it.
      if (slackErrorOf(error) !== 'message_not_found') throw error
    }
  }

  async findPost(threadId: string, since: number, isKnown: (messageId: string) => boolean): Promise<string | undefined> {
    const { channel, threadTs } = this.adapter.decodeThreadId(threadId)
    // Clocks differ.
    const oldest = String(Math.floor(since / 1_000) - 60)
    const { messages = [] } = await this.adapter.webClient.conversations.replies({ channel, ts: threadTs, oldest, limit: 200 })
    const isOurs = ({ user, bot_id, files, ts = '' }: (typeof messages)[number]): boolean =>
      (user === this.#bot?.user || bot_id === this.#bot?.id) && !files?.length && ts !== threadTs && !isKnown(ts)
    return messages.findLast(isOurs)?.ts
  }

  retryAfterMs(error: unknown): number | undefined {
    return retryAfterMs(error)
  }

  isRefusal(error: unknown): boolean {
    return slackErrorOf(error) !== undefined
  }

  async tell({ thread: threadId, person, raw }: Listener, text: string): Promise<void> {
    const { response_url } = (raw ?? {}) as { readonly response_url?: string }
    // Also works where the app is no member.
    if (response_url !== undefined) {
      const body = JSON.stringify({ response_type: 'ephemeral', replace_original: false, ...shown({ text }) })
      const response = await fetch(response_url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        signal: AbortSignal.timeout(5_000),
      })
      if (response.ok) return
    }
    const { channel, threadTs } = this.adapter.decodeThreadId(threadId)
    const place = { channel, user: person, ...(threadTs !== '' && { thread_ts: threadTs }) }
    await this.adapter.webClient.chat.postEphemeral({ ...place, ...shown({ text }) })
  }

  async beginThread(channelId: string, person: string, text: string): Promise<string> {
    const { channel } = this.adapter.decodeThreadId(channelId)
    const { ts = '' } = await this.adapter.webClient.chat.postMessage({ channel, text: `<@${person}> asks ${fallbackText({ text })}` })
    return this.adapter.encodeThreadId({ channel, threadTs: ts })
  }

  async showHome(person: string, parts: readonly Content[]): Promise<void> {
    const blocks = parts.flatMap(homeBlocksOf)
    await this.adapter.publishHomeView(person, { type: 'home', blocks: blocks.slice(0, 100) })
  }

  noteOf(raw: unknown): JsonObject {
    const { user, user_id, team, team_id } = (raw ?? {}) as { readonly [name: string]: string | undefined }
    return { user: user ?? user_id ?? null, team: team ?? team_id ?? null }
  }

  readFile(ref: JsonObject, signal: AbortSignal): Promise<Uint8Array> {
    return slackFile(this.adapter, { ref, signal, apiUrl: this.#options.settings.apiUrl })
  }
}
