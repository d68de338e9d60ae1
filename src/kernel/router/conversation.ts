import { createHash } from 'node:crypto'
import { type ApprovalDecision, type IncomingFile, type Json, type Recipient, type Records, TroupeError } from '../../contracts/index.ts'
import { orchestratorName } from '../../policy/orchestrator-name.ts'
import { oneLine } from '../../util/one-line.ts'
import { cutText } from '../../util/well-formed.ts'
import { childSpeaker } from '../../view/index.ts'
import type { Notice } from '../shared/kernel-types.ts'

// What is known about the conversation of one person on one channel. One record for each, in the namespace `conversation`.

const namespace = 'conversation'
/** Maximum length of the key of a session. */
const mostKeyChars = 480

/** Messages that wait for the session. */
const mostWaiting = 100
const mostTaken = 200
const mostNotices = 20
const mostTasks = 100
/** Maximum length of a task in the line that tells the person of it. */
const mostTaskChars = 200
const mostNoticeChars = 2_000
/** People whose names are known. */
const mostPeople = 50

/** `id`: in the channel. */
export interface Person {
  readonly id: string
  readonly name?: string
}

/** Who wrote a message. */
export interface Writer extends Person {
  readonly mayApprove?: false
}

/** A message that is stored and not yet sent to the session. */
export interface WaitingMessage {
  readonly id: string
  readonly text: string
  /** Absent: the person of the conversation. */
  readonly from?: Writer
  /** The agent that begins the session, if there is none yet. */
  readonly agent?: string
  readonly files?: readonly IncomingFile[]
  /** Set by a schedule: never a command or an answer. */
  readonly isTask?: true
  /** What it means, once that was decided: an answer is given at most once. */
  readonly answer?: { readonly approvalId: string; readonly decision: ApprovalDecision }
}

export interface Conversation extends Recipient {
  readonly sessionId?: string
  /** Who began the session: its principal. Absent: the person of the conversation. */
  readonly owner?: Person
  /** The root agent of the session. Absent: the orchestrator. */
  readonly agent?: string
  /** Who wrote last, with their names. */
  readonly people?: readonly Person[]
  /** Grows with `/new`. */
  readonly number: number
  /** The time of the last message of the person, in milliseconds since 1970. 0: they have not written yet. */
  readonly lastAt: number
  /** Ids of the last messages that were taken. */
  readonly taken: readonly string[]
  readonly waiting: readonly WaitingMessage[]
  /** The `seq` up to which everything was delivered. */
  readonly delivered: number
  /**
   * The `seq` before the oldest turn that messages up to `delivered` are from and whose end was not shown: progress is read from there on.
   */
  readonly turnFrom?: number
  /** The last message of the person that was sent to the session. */
  readonly sent?: string
  /** The request that the person was asked. */
  readonly asked?: string
  /** The request whose end the channel is told with `closeRequest`. It may have been sent. */
  readonly shown?: string
  /** During a handoff, the path of the agent that has the conversation. */
  readonly speaker?: string
  /** The last message that an agent has read. */
  readonly heard?: string
  /** The hash of the last text that was delivered, so that a report does not repeat it. */
  readonly said?: string
  /** The last tasks of extensions, as they are shown to the person when they begin. `id`: of the message. */
  readonly tasks?: readonly { readonly id: string; readonly text: string }[]
  /** Sent to the person since `takeNotices`. */
  readonly notices: readonly Notice[]
}

export type Changes = { readonly [Key in keyof Conversation]?: Conversation[Key] | undefined }

/** A mirror of the records: one process has the channels of a store. */
export class Conversations {
  readonly #records: Records
  readonly #byKey = new Map<string, Conversation>()
  /** Requests that are being asked, by key: the answer may come before `asked` is stored. */
  readonly asking = new Map<string, string>()
  /** The last turns whose ends were shown as progress, by session: their `turnFrom`. */
  readonly shownTurns = new Map<string, number>()

  constructor(records: Records) {
    this.#records = records
  }

  async load(): Promise<void> {
    for (const { key, value } of await this.#records.list(namespace)) this.#byKey.set(key, value as unknown as Conversation)
  }

  get(key: string): Conversation | undefined {
    return this.#byKey.get(key)
  }

  entries(): readonly (readonly [string, Conversation])[] {
    return [...this.#byKey]
  }

  ofSession(sessionId: string): Conversation | undefined {
    return [...this.#byKey.values()].find((each) => each.sessionId === sessionId)
  }

  /** The person who wrote last. */
  latest(isWanted: (to: Recipient) => boolean = () => true): Recipient | undefined {
    const [first] = [...this.#byKey.values()].filter((each) => each.lastAt > 0 && isWanted(each)).toSorted((a, b) => b.lastAt - a.lastAt)
    return first && recipientOf(first)
  }

  hasTaken(to: Recipient, id: string): boolean {
    return this.#byKey.get(keyOf(to))?.taken.includes(id) ?? false
  }

  /** Whether there is room for a message. */
  canTake(to: Recipient): boolean {
    return (this.#byKey.get(keyOf(to))?.waiting.length ?? 0) < mostWaiting
  }

  /** Whether the next text of the person is an answer. */
  isAsked(to: Recipient): boolean {
    const key = keyOf(to)
    return this.asking.has(key) || this.#byKey.get(key)?.asked !== undefined
  }

  /** Stores a message once. */
  async take(to: Recipient, message: WaitingMessage, changes: Changes): Promise<void> {
    await this.update(to, ({ taken, waiting, people }) =>
      taken.includes(message.id)
        ? {}
        : {
            ...changes,
            waiting: [...waiting, message],
            taken: [...taken, message.id].slice(-mostTaken),
            people: withPerson(people, message.from),
          },
    )
  }

  /** The text is of an extension: one line, so that it does not pass for anything else. */
  tasksWith(to: Recipient, { id, text }: WaitingMessage, from: string): NonNullable<Conversation['tasks']> {
    return [...(this.#byKey.get(keyOf(to))?.tasks ?? []), { id, text: `Task of the extension ${from}: ${shortLine(text)}` }].slice(
      -mostTasks,
    )
  }

  addNotice(to: Recipient, { text, ...notice }: Notice): Promise<Conversation> {
    const added = { ...notice, text: cutText(text, mostNoticeChars) }
    return this.update(to, ({ notices }) => ({ notices: [...notices, added].slice(-mostNotices) }))
  }

  async takeNotices(conversation: Conversation): Promise<readonly Notice[]> {
    let taken = conversation.notices
    if (taken.length === 0) return []
    await this.update(conversation, ({ notices }) => {
      taken = notices
      return { notices: [] }
    })
    return taken
  }

  /** Durable when it resolves. `change` may be called again. */
  async update(to: Recipient, change: (before: Conversation) => Changes): Promise<Conversation> {
    const key = keyOf(to)
    const stored = await this.#records.update(namespace, key, (before) => {
      const known = (before?.value as Conversation | undefined) ?? { ...recipientOf(to), ...begun }
      return { value: withoutUndefined({ ...known, ...change(known) }) }
    })
    const conversation = stored?.value as unknown as Conversation
    this.#byKey.set(key, conversation)
    return conversation
  }
}

export function shortLine(text: string): string {
  const line = oneLine(text)
  return line.length > mostTaskChars ? `${cutText(line, mostTaskChars)}…` : line
}

const begun = { number: 1, lastAt: 0, taken: [], waiting: [], delivered: 0, notices: [] }

const withoutUndefined = (value: object): Json => JSON.parse(JSON.stringify(value)) as Json

/** The name of the agent at a path: `root/writer#2` → `writer`. `root`: the agent of the session. */
export const agentAt = (path: string, root = orchestratorName): string => childSpeaker(path) ?? root

/** `slack:U1`: how sessions and answers name a person of a channel. */
export const principalIdOf = ({ channel }: Pick<Recipient, 'channel'>, { id }: Person): string => `${channel}:${id}`

export const writerOf = ({ userId }: Recipient, { from = { id: userId } }: Pick<WaitingMessage, 'from'>): Writer => from

/** Who gave an answer, as people of the conversation know them. */
export function shownName({ channel, people = [] }: Pick<Conversation, 'channel' | 'people'>, by: string): string {
  const id = by.startsWith(`${channel}:`) ? by.slice(channel.length + 1) : undefined
  return people.find((each) => each.id === id)?.name ?? id ?? by
}

function withPerson(people: readonly Person[] = [], from: Writer | undefined): readonly Person[] | undefined {
  if (from?.name === undefined) return people
  const { id, name } = from
  return [...people.filter((each) => each.id !== id), { id, name }].slice(-mostPeople)
}

export const recipientOf = ({ channel, userId, conversation }: Recipient): Recipient => ({
  channel,
  userId,
  ...(conversation !== undefined && { conversation }),
})

/** `cli_channel/local`, `slack/U1/thread%207`. */
export function keyOf({ channel, userId, conversation }: Recipient): string {
  const parts = [channel, userId, ...(conversation === undefined ? [] : [conversation])]
  const isText = parts.every((part) => typeof part === 'string' && part !== '' && part.isWellFormed())
  const key = isText ? parts.map(encodeURIComponent).join('/') : ''
  if (key !== '' && key.length <= mostKeyChars) return key
  throw new TroupeError('usage', 'A person is named by `userId`, and optionally `conversation`: short texts that are not empty.', {
    remedy: 'Use the ids of the channel.',
  })
}

/** One id for one message of one conversation, whatever ids the channel uses. */
export const idOf = (to: Recipient, messageId: string): string =>
  createHash('sha256')
    .update(JSON.stringify([keyOf(to), messageId]))
    .digest('base64url')
