import type { ApiServer } from './api-server.ts'
import type { Post, Posts } from './posts.ts'

export interface SentFile {
  readonly name: string
  readonly mediaType: string
  readonly content: Buffer
  /** What the platform says about its length. Default: the truth. */
  readonly bytes?: number
}

/** What a person does. */
export interface Written {
  readonly person: string
  readonly text: string
  /** Where the conversation is. Default: a new one, in which the person mentions the bot. */
  readonly place?: string
  /** Begin it as a direct message. */
  readonly direct?: boolean
  readonly files?: readonly SentFile[]
  /** `bot`: another bot wrote it. `edit`, `delete`: of the message with the id `of`. Default: a person wrote it. */
  readonly kind?: 'bot' | 'edit' | 'delete'
  readonly of?: string
}

export interface PlatformEvent {
  /** Of the message. */
  readonly id: string
  readonly place: string
  /** Sends it until the bot has acknowledged it. Again: the platform delivers it twice. */
  deliver(): Promise<void>
  /** Sends it once with wrong credentials. Resolves with the status of the answer. Webhooks only. */
  forge(how: 'signature' | 'timestamp'): Promise<number>
}

/** A stand-in for a chat platform. */
export interface ChatPlatform {
  readonly name: 'slack' | 'telegram' | 'discord'
  /** The ids of three persons, as the platform has them. */
  readonly people: { readonly ada: string; readonly bob: string; readonly eve: string }
  /** The channel in which people mention the bot. */
  readonly room: string
  /** For the `apiUrl` of the adapter. */
  readonly apiUrl: string
  readonly api: ApiServer
  readonly posts: Posts
  /** What was shown to people for a moment. */
  readonly alerts: readonly string[]
  /** The longest text of a message. */
  readonly longestText: number
  write(written: Written): PlatformEvent
  /** The event of a person who presses the button with this label. */
  press(person: string, post: Post, label: string): PlatformEvent
  /** Events that were not acknowledged. */
  readonly unacknowledged: number
  close(): Promise<void>
}
