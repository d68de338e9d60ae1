import type { ChannelProvider, SessionId, StreamEvent } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { applyEvent, emptyTree, forgetEnded, forgetTurns } from '../../view/index.ts'
import { pause } from '../shared/background-work.ts'
import { type Conversation, keyOf } from './conversation.ts'
import { ProgressSender } from './progress-sender.ts'
import { endsTurn, isUnknownSession, type RouterCore } from './router-core.ts'
import { turnProgress } from './turn-tasks.ts'

interface ProgressOptions extends Pick<RouterCore, 'sessions' | 'conversations' | 'clock'> {
  readonly provider: ChannelProvider
  readonly signal: AbortSignal
  /** Aborted when the process stops: the next one continues. */
  readonly closing: AbortSignal
  /** Aborted when the channel is removed. */
  readonly removed: AbortSignal
  report(message: string): void
}

const retryMs = 5_000
/** Calls that are kept of a turn. */
const mostCalls = 200
const eventsBetweenForgetting = 500

/**
 * Shows what the agents of a conversation do, until the signal aborts or the session is deleted.
 *
 * 1. It reads the events itself: messages do not wait for it, and it does not wait for messages.
 * 2. Nothing is shown before everything that has happened was read: each state is whole, also after a restart.
 * 3. The end of a turn is shown again after a restart, unless the channel took it before.
 * 4. A turn that was left, because its conversation has another session or none, has stopped.
 */
export async function followProgress(conversation: Conversation, options: ProgressOptions): Promise<void> {
  const { clock, report } = options
  const signal = AbortSignal.any([options.signal, options.closing])
  while (!signal.aborted) {
    const follower = new ProgressFollower(conversation, options, signal)
    try {
      await follower.run()
      return await follower.leave()
    } catch (error) {
      if (isUnknownSession(error)) return follower.leave()
      report(`The progress of a conversation cannot be read, and is tried again: ${messageOf(error)}`)
      await pause({ clock, signal, ms: retryMs })
    }
  }
}

class ProgressFollower {
  readonly #options: ProgressOptions
  readonly #signal: AbortSignal
  readonly #key: string
  readonly #sessionId: string
  readonly #sender: ProgressSender
  readonly #tree = emptyTree()
  /** The `seq` before each turn whose end was not shown, the oldest first. */
  #turns: readonly number[] = []
  #applied = 0

  constructor(conversation: Conversation, options: ProgressOptions, signal: AbortSignal) {
    this.#options = options
    this.#signal = signal
    this.#key = keyOf(conversation)
    this.#sessionId = conversation.sessionId ?? ''
    const { userId, conversation: thread } = conversation
    const place = thread === undefined ? {} : { conversation: thread }
    this.#sender = new ProgressSender({
      clock: options.clock,
      signal: options.removed,
      current: () => this.#progress(),
      show: (progress) => options.provider.showProgress?.(userId, { ...progress, ...place }),
    })
  }

  async run(): Promise<void> {
    const { sessions, conversations } = this.#options
    const { delivered = 0, turnFrom = delivered } = conversations.get(this.#key) ?? {}
    const after = Math.min(delivered, turnFrom)
    // The limits of the agent are in its first event.
    if (after > 0) await this.#applyFirst()
    const { seq = 0 } = (await sessions.get(this.#sessionId)) ?? {}
    let isCurrent = seq <= after
    const events = sessions.events(this.#sessionId, { after, until: 'closed' })[Symbol.asyncIterator]()
    const leave = (): void => void events.return?.()
    this.#signal.addEventListener('abort', leave)
    try {
      for (let next = await events.next(); !next.done && !this.#signal.aborted; next = await events.next()) {
        const event = next.value
        const changes = this.#apply(event)
        const wasCurrent = isCurrent
        if ('seq' in event && event.seq >= seq) isCurrent = true
        if (isCurrent && (changes || !wasCurrent)) this.#sender.changed()
      }
    } finally {
      this.#signal.removeEventListener('abort', leave)
      leave()
    }
  }

  /** Nobody will see the end of its turn. */
  async leave(): Promise<void> {
    const { sessions, conversations, closing } = this.#options
    conversations.shownTurns.delete(this.#sessionId)
    const isLeft = conversations.get(this.#key)?.sessionId !== this.#sessionId
    const isGone = async (): Promise<boolean> => !(await sessions.get(this.#sessionId).catch(() => true))
    if (!closing.aborted && (isLeft || (await isGone()))) return this.#sender.stop()
    this.#sender.close()
  }

  async #applyFirst(): Promise<void> {
    for await (const event of this.#options.sessions.events(this.#sessionId, { after: 0, until: 'turn', live: false })) {
      applyEvent(this.#tree, event)
      return
    }
  }

  /** Whether it may have changed a task. */
  #apply(event: StreamEvent): boolean {
    const isRoot = event.sessionId === this.#sessionId
    const root = this.#tree.sessions.get(event.sessionId)
    if (isRoot && event.type === 'interaction.turn.started') this.#turns = [...this.#turns, event.seq - 1]
    if (isRoot && root && event.type === 'interaction.turn.started') forgetTurns(this.#tree, root)
    applyEvent(this.#tree, event)
    if (++this.#applied % eventsBetweenForgetting === 0) forgetEnded(this.#tree, mostCalls)
    if (!('seq' in event)) return event.type !== 'interaction.item.delta' || event.kind === 'progress' || event.kind === 'output'
    if (isRoot && endsTurn(event)) {
      const progress = this.#progress()
      const turn = this.#turns.at(-1) ?? -1
      if (progress) this.#sender.ended(progress, () => this.#isShown(turn))
      return false
    }
    return true
  }

  /** A crash before this repeats the last state of the turn. */
  async #isShown(turn: number): Promise<void> {
    const { conversations } = this.#options
    const current = conversations.get(this.#key)
    if (current?.sessionId !== this.#sessionId) return
    conversations.shownTurns.set(this.#sessionId, turn)
    this.#turns = this.#turns.filter((each) => each > turn)
    const isStored = ({ turnFrom }: Conversation): boolean => turnFrom !== undefined && turnFrom <= turn
    if (isStored(current)) await conversations.update(current, (before) => (isStored(before) ? { turnFrom: this.#turns[0] } : {}))
  }

  #progress() {
    const root = this.#tree.sessions.get(this.#sessionId as SessionId)
    return root && turnProgress(root)
  }
}
