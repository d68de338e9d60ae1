// A chat platform as the rest of this extension sees it. A platform is a folder with `open-PLATFORM.ts`, which exports a `PlatformModule`;
// `load-platforms.ts` imports it when it is configured. Chat SDK receives messages and buttons and parses them, and the neutral part handles
// its events, so a platform says only what differs:
//
// 1. Threads: a thread of Chat SDK is a conversation of the kernel (`userId`), and the id that `threadOf` returns is stored.
// 2. `post` and `edit` show a `Content`. They reject if the platform did not take it: the kernel sends the message again.
// 3. Nothing is posted twice: `Posts` stores which platform messages belong to a message before and after each post. `findPost`
//    finds a message whose post was not confirmed, where the platform can tell.
// 4. Everything that arrives is acknowledged when its handler has ended (`acknowledge.ts`), never before.
import type { ActionsElement, Adapter, PlanModel } from 'chat'
import type { ExtensionLogger, HealthReport, JsonObject, SetupField } from 'troupe/extension'

export const platformNames = ['slack', 'telegram', 'discord'] as const
export type PlatformName = (typeof platformNames)[number]

/** Classes of adapters have an optional property that may be undefined. */
export type ChatAdapter = Omit<Adapter, 'botUserId'> & { readonly botUserId?: string | undefined }

export interface Platform {
  readonly name: PlatformName
  /** As people call it. */
  readonly title: string
  readonly adapter: ChatAdapter
  readonly limits: PlatformLimits
  /** Asks the platform whether it accepts the credentials. @throws PlatformProblem if it does not, another error if it cannot be reached. */
  check(): Promise<void>
  /** After `check`: whether messages arrive. */
  health(): HealthReport
  /** The thread that a message belongs to. A message that begins one gets a thread of its own where the platform can have it. */
  threadOf(threadId: string, messageId: string): string
  /** The id of the message. */
  post(threadId: string, content: Content): Promise<string>
  edit(threadId: string, messageId: string, content: Content): Promise<void>
  /** Where the platform has it. Otherwise the message is posted and edited. */
  readonly stream?: NativeStream
  /** A message of the bot in the thread that is not older than `since` and not known: its post was not confirmed. */
  findPost?(threadId: string, since: number, isKnown: (messageId: string) => boolean): Promise<string | undefined>
  /** After which time a call that was limited may be made again. */
  retryAfterMs(error: unknown): number | undefined
  /** What a person must correct before such a call works, such as a token that was revoked. */
  problemOf?(error: unknown): PlatformProblem | undefined
  /** Whether the platform has answered that it did nothing. Of other errors nobody knows. */
  isRefusal(error: unknown): boolean
  /** Tells one person something that others in the thread do not see, or need not see. */
  tell(to: Listener, text: string): Promise<void>
  /** Posts what a slash command says, so that it begins a thread. Without it, commands are answered where they were written. */
  beginThread?(channelId: string, person: string, text: string): Promise<string>
  /** The page of a person in the platform. */
  showHome?(person: string, parts: readonly Content[]): Promise<void>
  /** What to remember of a message or command for `lastNote`, such as who wrote it. */
  noteOf?(raw: unknown): JsonObject
  /** Of a file that was sent. Default: what the adapter does. */
  readFile?(ref: JsonObject, signal: AbortSignal): Promise<Uint8Array>
}

export interface Listener {
  readonly thread: string
  /** The id of the platform. */
  readonly person: string
  /** The event that is answered, as the platform sent it. */
  readonly raw?: unknown
}

export interface PlatformLimits {
  /** Characters of one message. */
  readonly text: number
  /** Bytes of one file. */
  readonly upload: number
  /** Between two edits or pieces of one message. */
  readonly pieceMs: number
}

/** What is shown in a message. Parts follow each other in this order. */
export interface Content {
  /** Plain text. */
  readonly title?: string
  /** Markdown. */
  readonly text?: string
  /** What the agents of a turn do. */
  readonly plan?: PlanModel
  readonly buttons?: ActionsElement['children']
}

/** Calls by id, so that another process can end a stream that this one began. */
export interface NativeStream {
  /** The id of the message. */
  begin(threadId: string, text: string): Promise<string>
  /** @throws StreamEnded if the platform has ended it: the message is edited then. */
  append(threadId: string, messageId: string, text: string): Promise<void>
  /** `text`: the last piece. @throws StreamEnded like `append`. */
  end(threadId: string, messageId: string, last: Pick<Content, 'text' | 'buttons'>): Promise<void>
}

export class StreamEnded extends Error {}

/** Something that a person must correct. */
export class PlatformProblem extends Error {
  constructor(message: string, remedy: string) {
    super(`${message} ${remedy}`)
  }
}

export interface PlatformOptions {
  /** `platforms.NAME` of the configuration. */
  readonly settings: JsonObject
  /** Undefined if it is not set. */
  secret(name: string): string | undefined
  readonly logger: ExtensionLogger
  /** Where webhooks of this platform arrive, as far as the server knows. Undefined before the start. */
  webhookUrl(): string | undefined
  /** What `noteOf` returned for the last message of a thread. Known after a restart, too. */
  lastNote(threadId: string): Promise<JsonObject | undefined>
}

export interface PlatformModule {
  /** The package of its adapter. */
  readonly adapter: string
  /** @throws PlatformProblem if settings are wrong or secrets are missing. */
  open(options: PlatformOptions): Promise<Platform>
}

/** What `troupe extensions setup` asks for a platform and says at its end. Needs no package. */
export interface PlatformSetup {
  readonly fields: readonly SetupField[]
  /** Of the stored values: `platforms.NAME`, or undefined if the platform is not used. @throws if one is wrong. */
  settingsOf(config: JsonObject): JsonObject | undefined
  /** What to do next, such as the manifest of the app. `url`: where webhooks of this platform arrive. */
  nextSteps(config: JsonObject, url: string): string
}
