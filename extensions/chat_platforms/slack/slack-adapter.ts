import { SlackAdapter, type SlackAdapterConfig } from '@chat-adapter/slack'
import type { LinkPreview, Message } from 'chat'
import { HandlerTasks } from '../acknowledge.ts'
import { pause } from '../pause.ts'
import { PlatformProblem } from '../platform.ts'
import { slackErrorOf, tokenErrors } from './slack-errors.ts'
import { typedText } from './slack-text.ts'

const longestDelayMs = 60_000

/** What is used of the client of Socket Mode, which is a private member of the adapter. */
interface SocketClient {
  once(event: 'disconnected', listener: () => void): void
}

interface Connection {
  readonly ended: Promise<void>
}

/**
 * The adapter of Chat SDK, with other rules for what arrives:
 *
 * 1. An event of Socket Mode is acknowledged when its handlers have ended. If one fails, Slack sends it again.
 * 2. No event is remembered before its handlers have ended: the kernel takes a message once by its id.
 * 3. The connection of Socket Mode is renewed here: a failure of the client to do so would end the process.
 * 4. Previews of links are not waited for: Slack expects its acknowledgement within three seconds.
 */
export class DurableSlackAdapter extends SlackAdapter {
  readonly #ended = new AbortController()
  #socket: 'connecting' | 'connected' | { readonly problem: string } = 'connecting'

  constructor(config: SlackAdapterConfig) {
    super(config)
    const { retryConfig, timeout, logger } = config.webClientOptions ?? {}
    // Options of the client of Socket Mode, for which the adapter has no setting.
    const clientOptions = { slackApiUrl: config.apiUrl, retryConfig, timeout }
    Object.assign(this, { socketTransportOptions: () => ({ clientOptions, logger, autoReconnectEnabled: false }) })
  }

  /** Undefined: events can arrive. */
  get socketProblem(): string | undefined {
    if (!this.isSocketMode || this.#socket === 'connected') return undefined
    return this.#socket === 'connecting' ? 'Socket Mode is connecting.' : this.#socket.problem
  }

  override async disconnect(): Promise<void> {
    this.#ended.abort()
    await super.disconnect()
  }

  /** Resolves after the first attempt. @throws PlatformProblem if Slack refuses the app token. */
  protected override async startSocketMode(): Promise<void> {
    try {
      void this.#stayConnected({ connection: await this.#connect() })
    } catch (error) {
      if (tokenErrors.has(slackErrorOf(error) ?? '')) {
        throw new PlatformProblem(
          `Slack refuses the app token (${slackErrorOf(error)}).`,
          'Make one with the scope connections:write under Basic Information, App-Level Tokens, and run: troupe extensions setup chat_platforms',
        )
      }
      void this.#stayConnected({ error })
    }
  }

  async #connect(): Promise<Connection> {
    await super.startSocketMode()
    this.#socket = 'connected'
    const { socketClient } = this as unknown as { readonly socketClient: SocketClient }
    return { ended: new Promise((resolve) => socketClient.once('disconnected', resolve)) }
  }

  async #stayConnected(begun: { readonly connection?: Connection; readonly error?: unknown }): Promise<void> {
    let { connection, error } = begun
    for (let failures = connection ? 0 : 1; ; ) {
      await connection?.ended
      this.#socket = { problem: `Socket Mode is not connected${error === undefined ? '' : `: ${messageOf(error)}`}.` }
      if (failures > 0) await pause(Math.min(longestDelayMs, 500 * 2 ** failures), this.#ended.signal)
      if (this.#ended.signal.aborted) return
      try {
        connection = await this.#connect()
        failures = 0
        error = undefined
      } catch (failed) {
        connection = undefined
        failures++
        error = failed
      }
    }
  }

  protected override async routeSocketEvent(...[body, type, ack, , retries]: Parameters<SlackAdapter['routeSocketEvent']>): Promise<void> {
    const tasks = new HandlerTasks()
    let response: Parameters<typeof ack>[0]
    try {
      const keep = async (given: typeof response): Promise<void> => {
        response = given
      }
      await super.routeSocketEvent(body, type, keep, tasks.options, retries)
      await tasks.ended()
      await ack(response)
    } catch (error) {
      this.logger.warn('An event was not acknowledged', { error })
    }
  }

  protected override markEventDelivered(): void {}

  protected override async isDuplicateEventDelivery(): Promise<boolean> {
    return false
  }

  /** Chat SDK would drop addresses, indentation and the marks of lists. */
  protected override async parseSlackMessage(
    ...[event, threadId]: Parameters<SlackAdapter['parseSlackMessage']>
  ): Promise<Message<unknown>> {
    const message = await super.parseSlackMessage(event, threadId)
    // Of a forwarded message there is no other text.
    if (!event.attachments?.length) message.text = typedText(await this.resolveInlineMentions(event.text ?? ''))
    return message
  }

  /** A message begins with what is asked, not with the name of the app. */
  protected override resolveInlineMentions(text: string): Promise<string> {
    const [mention = ''] = text.match(/^\s*<@(\w+)(?:\|[^>]*)?>[\s:,]*/) ?? []
    return super.resolveInlineMentions(mention.includes(`<@${this.botUserId}`) ? text.slice(mention.length) : text)
  }

  protected override async enrichLinks(links: LinkPreview[]): Promise<LinkPreview[]> {
    return links
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
