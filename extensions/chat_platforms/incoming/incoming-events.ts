import type { Author, Chat, Message, SlashCommandEvent, StateAdapter, Thread } from 'chat'
import type { ExtensionContext, IncomingMessage } from 'troupe/extension'
import type { ThreadOutput } from '../outgoing/thread-output.ts'
import type { Platform } from '../platform.ts'
import type { Origin, Rule } from '../rules.ts'
import type { Requests } from '../state/requests.ts'
import { type Access, personId } from './access.ts'
import { incomingFiles } from './message-files.ts'

export interface IncomingOptions {
  readonly context: ExtensionContext
  readonly platform: Platform
  readonly access: Access
  readonly state: StateAdapter
  readonly requests: Requests
  readonly output: ThreadOutput
}

/** Somebody who does something in a thread. */
export interface Actor {
  readonly thread: string
  /** The id of the platform. */
  readonly user: string
  readonly name: string
  readonly rule: Rule
}

const dayMs = 24 * 60 * 60_000
const denied = (id: string): string => `You may not use this assistant here. Ask the person who runs it for access. Your id is ${id}.`

/** Hands in what people write. Each method resolves when it is stored: only then is the event acknowledged. */
export class IncomingEvents {
  readonly #options: IncomingOptions

  constructor(options: IncomingOptions) {
    this.#options = options
  }

  listen(chat: Chat): void {
    const take = (thread: Thread, message: Message) => this.#message(thread, message)
    chat.onDirectMessage(take)
    chat.onNewMention(take)
    chat.onSubscribedMessage(take)
    chat.onSlashCommand((event) => this.#command(event))
  }

  /** Who acts, if the rules let them. */
  async actor(given: {
    readonly thread: string
    readonly author: Author
    readonly command?: string
    readonly raw?: unknown
  }): Promise<Actor | undefined> {
    const { platform, access } = this.#options
    const { thread, author, command, raw } = given
    const rule = await access.ruleFor(this.#origin(thread, author.userId, command))
    if (rule) return { thread, user: author.userId, name: await this.#nameOf(author), rule }
    const key = `denied:${platform.name}:${author.userId}`
    // Denied people are told once a day, and cost nothing else.
    if (await this.#options.state.setIfNotExists(key, true, dayMs)) {
      await platform
        .tell({ thread, person: author.userId, raw }, denied(personId({ platform: platform.name, person: author.userId })))
        .catch((error: unknown) => this.#warn(`A person could not be told: ${error}`))
    }
    return undefined
  }

  /** Whether the rules let somebody act in a thread. */
  isAllowed(thread: string, person: string): boolean {
    return this.#options.access.isAllowed(this.#origin(thread, person, undefined))
  }

  /** Resolves when it is stored. */
  async handIn({ thread, user, name, rule }: Actor, message: Omit<IncomingMessage, 'userId'>): Promise<void> {
    const { context, platform, access } = this.#options
    const person = personId({ platform: platform.name, person: user })
    await context.onUserMessage({
      userId: thread,
      personId: person,
      userName: name,
      mayApprove: access.mayApprove(person),
      ...(rule.agent !== undefined && { agent: rule.agent }),
      ...message,
    })
  }

  async #message({ id, adapter }: Thread, message: Message): Promise<void> {
    const { platform, state, output } = this.#options
    const { author, attachments, metadata, raw } = message
    if (author.isBot === true || author.isMe || metadata.edited) return
    const thread = platform.threadOf(id, message.id)
    const actor = await this.actor({ thread, author, raw })
    if (!actor) return
    const text = withoutMention(message.text, [adapter.userName, adapter.botUserId])
    const files = incomingFiles(platform, attachments)
    if (text === '' && files.length === 0)
      return platform.tell({ thread, person: author.userId, raw }, 'Write what you need behind my name.')
    await this.#remember(thread, raw)
    output.begin(thread)
    await this.handIn(actor, { text, messageId: `${thread}/${message.id}`, ...(files.length > 0 && { files }) })
    await state.subscribe(thread)
    void adapter.startTyping(thread, 'is thinking…').catch(() => undefined)
  }

  /** `/troupe AGENT TEXT` begins a thread. A rule with an agent leaves no choice. */
  async #command({ command, text, user, channel, triggerId, raw }: SlashCommandEvent): Promise<void> {
    const { platform, state } = this.#options
    const tell = (said: string): Promise<void> => platform.tell({ thread: channel.id, person: user.userId, raw }, said)
    const actor = await this.actor({ thread: channel.id, author: user, command, raw })
    if (!actor) return
    const [, agent = '', task = ''] = /^\s*(\S+)\s*([\s\S]*)$/.exec(text) ?? []
    const chosen = actor.rule.agent === undefined ? { agent, text: task.trim() } : { agent: actor.rule.agent, text: text.trim() }
    if (chosen.text === '') return tell(`Write ${command} ${actor.rule.agent === undefined ? 'AGENT ' : ''}TEXT.`)
    // A command that comes again belongs to the thread that it has begun.
    const begun = `command:${platform.name}:${triggerId}`
    let thread = triggerId === undefined ? null : await state.get<string>(begun)
    try {
      thread ??= (await platform.beginThread?.(channel.id, user.userId, `${chosen.agent}: ${chosen.text}`)) ?? channel.id
    } catch (error) {
      return tell(
        `Nothing was started: ${error instanceof Error ? error.message : error} Invite the app to this channel, or write to it directly.`,
      )
    }
    await state.set(begun, thread, dayMs)
    await this.#remember(thread, raw)
    await this.handIn({ ...actor, thread }, { text: chosen.text, agent: chosen.agent, messageId: `command/${triggerId ?? thread}` })
    await state.subscribe(thread)
  }

  #origin(thread: string, person: string, command: string | undefined): Origin {
    const { platform } = this.#options
    const { name, adapter } = platform
    const channel = adapter.channelIdFromThreadId(thread).slice(name.length + 1)
    return { platform: name, channel, isDirect: adapter.isDM?.(thread) ?? false, person, ...(command !== undefined && { command }) }
  }

  /** As others see it. Events of buttons have only the name that is used to sign in. */
  async #nameOf({ userId, fullName, userName }: Author): Promise<string> {
    const user = await this.#options.platform.adapter.getUser?.(userId).catch(() => null)
    return user?.userName || fullName || userName
  }

  async #remember(thread: string, raw: unknown): Promise<void> {
    const note = this.#options.platform.noteOf?.(raw)
    if (note) await this.#options.state.set(noteKey(thread), note)
  }

  #warn(text: string): void {
    this.#options.context.logger.warn(text)
  }
}

/** The conversation in the web chat. An address of this machine is none for others. */
export function linkOf({ conversations }: ExtensionContext, thread: string): string | undefined {
  const link = conversations?.link({ userId: thread })
  const { hostname = '' } = URL.parse(link ?? '') ?? {}
  return /^(?:localhost|127\..*|\[::1\])?$/.test(hostname) ? undefined : link
}

export const noteKey = (thread: string): string => `note:${thread}`

/** The mention that a message begins with. */
function withoutMention(text: string, names: readonly (string | undefined)[]): string {
  const begins = names.map((name) => `@${name}`.toLowerCase()).find((name) => text.trimStart().toLowerCase().startsWith(name))
  return (
    begins === undefined
      ? text
      : text
          .trimStart()
          .slice(begins.length)
          .replace(/^[\s:,]+/, '')
  ).trim()
}
