import type { ClosedRequest, MessagePiece, OutgoingFile, OutgoingMessage, TurnProgress } from 'troupe/extension'
import type { Content, Platform, PlatformProblem } from '../platform.ts'
import { splitText } from '../split-text.ts'
import type { Posts } from '../state/posts.ts'
import type { Requests } from '../state/requests.ts'
import { Lanes } from './lanes.ts'
import { LiveAnswer } from './live-answer.ts'
import { MessageDelivery } from './message-delivery.ts'
import { type PacedPlatform, pacedPlatform, TooFast } from './paced-platform.ts'
import { ProgressMessages } from './progress-messages.ts'
import { closedText, requestContent } from './request-card.ts'
import { endButtons, isEnded, progressContent } from './turn-progress.ts'

export interface OutputOptions {
  readonly platform: Platform
  readonly posts: Posts
  readonly requests: Requests
  now(): number
  /** The conversation in the web chat. */
  link(thread: string): string | undefined
  report(error: unknown): void
  learn(problem: PlatformProblem | undefined): void
}

/** Who speaks for Troupe itself. */
const system = 'troupe'
const marks = { notice: 'ℹ️ ', error: '⚠️ ', question: '❓ ', answer: '' }

/** Everything that the kernel sends to the threads of one platform. A call that rejects is repeated by the kernel. */
export class ThreadOutput {
  readonly #options: OutputOptions
  readonly #paced: PacedPlatform
  readonly #lanes = new Lanes()
  readonly #progress: ProgressMessages
  readonly #live = new Map<string, LiveAnswer>()
  readonly #speakers = new Map<string, string>()

  constructor(options: OutputOptions) {
    this.#options = options
    this.#paced = pacedPlatform(options)
    this.#progress = new ProgressMessages({
      ...options,
      pauseMs: 2 * options.platform.limits.pieceMs,
      contentOf: (thread, progress) => progressContent(progress, options.link(thread)),
      isPosted: (thread, id) => options.posts.of({ thread, id }).length > 0,
      show: (thread, id, content) => this.#lanes.run(thread, () => this.#showProgress(thread, id, content)),
    })
  }

  /** A person has written. */
  begin(thread: string): void {
    this.#progress.begin(thread)
  }

  /** Pieces that were not shown come with the whole message. */
  stream(thread: string, { id, turnId, speaker, text }: MessagePiece): void {
    let live = this.#live.get(thread)
    if (live?.id !== id) {
      live?.close()
      live = new LiveAnswer(id, {
        delivery: this.#delivery({ thread, id, turnId, kind: 'answer' }),
        // The rate is limited for all of them together.
        pieceMs: () => this.#options.platform.limits.pieceMs * [...this.#live.values()].filter(({ isActive }) => isActive).length,
        inOrder: (work) => this.#lanes.run(thread, work),
        report: this.#options.report,
      })
      this.#live.set(thread, live)
      live.add(this.#nameOf(thread, speaker))
    }
    live.add(text)
  }

  async send(thread: string, message: OutgoingMessage): Promise<void> {
    const live = this.#live.get(thread)
    // Another answer, or a failure, ends the one that is being written.
    const isOver = live?.id === message.id || message.kind === 'answer' || message.kind === 'error'
    if (isOver) live?.close()
    const delivery = live?.id === message.id ? live.delivery : undefined
    await this.#lanes.run(thread, () => this.#send(thread, message, delivery))
    if (isOver && this.#live.get(thread) === live) this.#live.delete(thread)
  }

  async showProgress(thread: string, progress: TurnProgress): Promise<void> {
    // After `/new`, the rest of an answer does not follow.
    if (progress.state === 'stopped') {
      this.#live.get(thread)?.close()
      this.#live.delete(thread)
    }
    if (isEnded(progress) && !this.#live.has(thread))
      void this.#lanes.run(thread, () => this.#endUnfinished(thread)).catch(this.#options.report)
    await this.#progress.show(thread, progress)
  }

  async closeRequest(thread: string, closed: ClosedRequest): Promise<void> {
    const { posts, requests } = this.#options
    const stored = requests.of(thread, closed.id)
    if (!stored) return
    requests.close(thread, closed)
    await this.#lanes.run(thread, async () => {
      const post = posts.of({ thread, id: closed.id }).at(-1)
      if (!post) return
      const { message } = post
      // A crash has left open whether it was posted.
      if (message === undefined)
        return this.#delivery({ thread, id: closed.id, kind: 'other' }).show({ isWhole: true, content: this.#card({ ...stored, closed }) })
      const { title = '', text = '' } = this.#card({ ...stored, closed: undefined })
      const last = splitText(text, this.#options.platform.limits.text).at(-1) ?? ''
      await this.#paced.edit(thread, message, { title, text: `${last}\n\n${closedText(closed)}` })
    })
  }

  /** Resolves when nothing is being sent. */
  async settled(): Promise<void> {
    this.#progress.close()
    for (const live of this.#live.values()) live.close()
    await this.#lanes.settled()
  }

  async #send(thread: string, message: OutgoingMessage, delivery: MessageDelivery | undefined): Promise<void> {
    const { id, turnId, kind, text, request, speaker, onlyFor, files = [] } = message
    if (kind === 'error') await this.#endUnfinished(thread)
    if (onlyFor !== undefined) return this.#once(thread, id, () => this.#tell(thread, onlyFor, text))
    const target = { thread, id, turnId, kind: kind === 'answer' ? ('answer' as const) : ('other' as const) }
    if (request) {
      const content = this.#card(this.#options.requests.add(thread, request, this.#options.now()))
      return this.#delivery(target).show({ isWhole: true, content })
    }
    if (text.trim() !== '') {
      const buttons = kind === 'answer' && !this.#progress.isShown(thread) ? endButtons(this.#options.link(thread)) : undefined
      const shown = marks[kind] + this.#nameOf(thread, speaker) + text
      await (delivery ?? this.#delivery(target)).show({ isWhole: true, content: { text: shown, ...(buttons && { buttons }) } })
    }
    if (kind === 'answer') this.#speakers.set(thread, speaker)
    for (const [index, file] of files.entries()) await this.#once(thread, `${id}:file:${index}`, () => this.sendFile(thread, file))
  }

  /** For a person who asked for one. */
  async sendFile(thread: string, file: OutgoingFile): Promise<void> {
    const { limits, title } = this.#options.platform
    const refused = file.bytes > limits.upload ? `is too large for ${title} (${file.bytes} bytes).` : await this.#upload(thread, file)
    if (refused === undefined) return
    const link = this.#options.link(thread)
    const where = link === undefined ? 'The session in the web chat has it.' : `[Open it in the web chat](${link}).`
    await this.#paced.post(thread, { text: `📎 ${file.name} ${refused} ${where}` })
  }

  /** Why the platform does not take it: another attempt would hold up what follows. */
  async #upload(thread: string, file: OutgoingFile): Promise<string | undefined> {
    const { platform } = this.#options
    const { name, mediaType } = file
    const data = Buffer.from(await file.read())
    try {
      await this.#paced.upload(thread, { name, mediaType, data })
      return undefined
    } catch (error) {
      if (error instanceof TooFast || !platform.isRefusal(error)) throw error
      return `was refused by ${platform.title}: ${error instanceof Error ? error.message : error}.`
    }
  }

  /** What has no text that could be found again. */
  async #once(thread: string, id: string, work: () => Promise<void>): Promise<void> {
    const { posts, now } = this.#options
    if (posts.of({ thread, id }).some(({ state }) => state === 'done')) return
    await work()
    posts.set({ thread, id }, { part: 0, message: undefined, state: 'done', at: now() }, 'other')
  }

  async #showProgress(thread: string, id: string, content: Content): Promise<void> {
    await this.#delivery({ thread, id, kind: 'other' }).show({ isWhole: false, content })
  }

  /** Nothing follows for what an answer has begun. */
  async #endUnfinished(thread: string): Promise<void> {
    const { posts } = this.#options
    for (const message of posts.unfinished(thread)) {
      await this.#paced.stream?.end(thread, message, {}).catch(() => undefined)
      posts.leave(thread, message)
    }
  }

  #tell(thread: string, person: string, text: string): Promise<void> {
    const { platform } = this.#options
    return platform.tell({ thread, person: person.slice(person.indexOf(':') + 1) }, text)
  }

  /** Who speaks, if somebody else spoke before. */
  #nameOf(thread: string, speaker: string): string {
    const before = this.#speakers.get(thread)
    return before === undefined || before === speaker || speaker === system ? '' : `**${speaker}**\n\n`
  }

  #card(stored: Parameters<typeof requestContent>[0]): Content {
    return requestContent(stored, this.#options.platform.adapter.openModal !== undefined)
  }

  #delivery(target: ConstructorParameters<typeof MessageDelivery>[0]): MessageDelivery {
    return new MessageDelivery(target, { ...this.#options, paced: this.#paced })
  }
}
