import { Growing } from '../../growing.ts'
import type { ChatPlatform } from '../../stand-ins/chat-platforms/chat-platform.ts'
import type { Post } from '../../stand-ins/chat-platforms/posts.ts'
import type { Asked, Reply } from '../acceptance/scripted-provider.ts'
import { openPlatform, type PlatformKind, type PlatformScene } from './platform-scene.ts'

/** 40,000 characters. */
export const paragraphs = Array.from({ length: 400 }, (_, index) => `Paragraph ${index} ${'x'.repeat(86)}`)

/** What a model writes, piece by piece. */
export class Stream {
  readonly #pieces = new Growing<readonly string[]>([])
  #isEnded = false

  write(text: string): void {
    this.#pieces.set([...this.#pieces.value, text])
  }

  end(text: string): void {
    this.#isEnded = true
    this.write(text)
  }

  async *pieces(): AsyncIterable<string> {
    for (let at = 0; ; at++) {
      const piece = await this.#pieces.until((all) => all[at], 'piece').catch(() => undefined)
      // Of a request that a crash has ended.
      if (piece === undefined) return
      yield piece
      if (this.#isEnded && at === this.#pieces.value.length - 1) return
    }
  }
}

/** What people and the model say on one platform. */
export class PlatformTalk {
  readonly #kind: PlatformKind
  /** What the model writes at each request for something slow. */
  readonly #streams: Stream[] = []
  #scene: PlatformScene | undefined

  constructor(kind: PlatformKind) {
    this.#kind = kind
  }

  async open(): Promise<void> {
    this.#scene = await openPlatform(this.#kind, (asked) => this.#answer(asked))
  }

  async close(): Promise<void> {
    await this.#scene?.platform.close()
  }

  get platform(): ChatPlatform {
    return this.#opened.platform
  }

  /** How often the model was asked something that has this text. */
  asked(text: string): number {
    return this.#opened.asked(text)
  }

  /** The last text of a person that the model was asked. */
  lastAsked(): string {
    return this.#opened.lastAsked()
  }

  /** Ends the kernel as a crash does. Resolves when the next one runs. */
  kill(): Promise<void> {
    return this.#opened.kill()
  }

  /** What the model writes when it is asked something slow. */
  next(): Stream {
    const stream = new Stream()
    this.#streams.push(stream)
    return stream
  }

  /** Somebody begins a conversation, or goes on with one. Resolves when it is stored. */
  async says(text: string, place?: string, person = this.platform.people.ada): Promise<string> {
    const event = this.platform.write({ person, text, ...(place !== undefined && { place }) })
    await event.deliver()
    return event.place
  }

  sees(place: string, text: string): Promise<Post> {
    return this.platform.posts.untilOne(place, (post) => post.text.includes(text), text)
  }

  answersIn(place: string): readonly string[] {
    return this.platform.posts.in(place).flatMap(({ text }) => (text.includes('Answer to') ? [text] : []))
  }

  /** What one person is told: a message that nobody else sees, or an alert. */
  async told(text: RegExp): Promise<void> {
    const { posts, alerts } = this.platform
    await posts.until((all) => alerts.find((alert) => text.test(alert)) ?? all.find((post) => text.test(post.text)), String(text))
  }

  /** What was to come has come: it is in order. */
  async nothingElse(place: string): Promise<void> {
    await this.says('question last', place)
    await this.sees(place, 'Answer to question last')
  }

  #answer({ users, results }: Asked): Reply {
    const said = users.at(-1) ?? ''
    if (results.length > 0) return { text: `The tool said: ${results.at(-1)}` }
    if (said.includes('erase')) return { calls: [{ name: 'eraser__erase', input: { what: said.match(/erase (\w+)/)?.[1] ?? '' } }] }
    if (said.includes('for ever')) return { calls: [{ name: 'eraser__wait', input: {} }] }
    if (said.includes('long')) return { text: paragraphs.join('\n\n') }
    const stream = said.includes('slow') ? this.#streams.shift() : undefined
    return stream ? { pieces: stream.pieces() } : { text: `Answer to ${said.match(/question \w+/)?.[0] ?? said}` }
  }

  get #opened(): PlatformScene {
    if (this.#scene === undefined) throw new Error('The platform is not open.')
    return this.#scene
  }
}
