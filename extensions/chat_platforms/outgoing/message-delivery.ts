import { type Content, type Platform, StreamEnded } from '../platform.ts'
import { splitText } from '../split-text.ts'
import type { Post, PostedMessage, PostKind, PostState, Posts } from '../state/posts.ts'
import { type PacedPlatform, TooFast } from './paced-platform.ts'

export interface DeliveryOptions {
  readonly platform: Platform
  readonly paced: PacedPlatform
  readonly posts: Posts
  now(): number
}

interface Target extends PostedMessage {
  readonly kind: PostKind
}

interface Shown {
  readonly isWhole: boolean
  readonly content: Content
}

/**
 * Brings one message of the kernel to the platform, piece by piece or at once. Calls must not overlap.
 *
 * 1. A post is stored before it is made. One that was not confirmed is looked for before it is made again.
 * 2. A part that is whole is never touched again.
 * 3. A stream continues only if it is certain what it shows. Otherwise it is ended, and its message is edited.
 */
export class MessageDelivery {
  readonly #options: DeliveryOptions
  readonly #target: Target
  /** What the parts that are streamed surely show. */
  readonly #streamed = new Map<number, string>()
  readonly #ended = new Set<string>()

  constructor(target: Target, options: DeliveryOptions) {
    this.#target = target
    this.#options = options
  }

  /** `isWhole`: nothing follows. */
  async show({ isWhole, content }: Shown): Promise<void> {
    const { platform, paced, posts } = this.#options
    if (this.#isAnswer) posts.takeOver(this.#target)
    const { text = '', buttons, ...rest } = content
    const parts = splitText(text, platform.limits.text)
    for (const [part, partText] of parts.entries()) {
      const isLast = part === parts.length - 1
      const shown = { ...rest, text: partText, ...(isLast && (isWhole || !this.#isAnswer) && buttons && { buttons }) }
      await this.#showPart(part, { isWhole: isWhole || !isLast, content: shown })
    }
    if (!isWhole) return
    // An answer that began again may be shorter.
    for (const { part, message } of posts.of(this.#target).slice(parts.length)) {
      if (message !== undefined) await paced.remove(this.#target.thread, message)
      posts.remove(this.#target, part)
    }
  }

  get #isAnswer(): boolean {
    return this.#target.kind === 'answer'
  }

  async #showPart(part: number, shown: Shown): Promise<void> {
    const post = this.#options.posts.of(this.#target).find((each) => each.part === part)
    if (post?.state === 'done') return
    const message = post?.message ?? (post && (await this.#find(post)))
    if (message === undefined) await this.#post(part, shown)
    else if (this.#streamed.has(part)) await this.#append({ part, message }, shown)
    else await this.#edit({ part, message }, shown)
  }

  async #post(part: number, { isWhole, content }: Shown): Promise<void> {
    const { paced, platform } = this.#options
    const { thread } = this.#target
    this.#store({ part, state: 'posting' })
    const { text = '' } = content
    try {
      const isStreamed = this.#isAnswer && !isWhole && paced.stream !== undefined
      const message = isStreamed ? await paced.stream.begin(thread, text) : await paced.post(thread, content)
      this.#store({ part, message, state: isWhole ? 'done' : 'open' })
      if (isStreamed) this.#streamed.set(part, text)
    } catch (error) {
      // The platform has refused it: there is nothing to look for.
      if (error instanceof TooFast || platform.isRefusal(error)) this.#options.posts.remove(this.#target, part)
      throw error
    }
  }

  async #append({ part, message }: { readonly part: number; readonly message: string }, shown: Shown): Promise<void> {
    const { paced } = this.#options
    const { text = '', buttons } = shown.content
    const before = this.#streamed.get(part) ?? ''
    const isContinued = text.startsWith(before)
    const added = isContinued ? text.slice(before.length) : ''
    this.#streamed.delete(part)
    try {
      if (isContinued && shown.isWhole) {
        await paced.stream?.end(this.#target.thread, message, { text: added, ...(buttons && { buttons }) })
        return this.#store({ part, message, state: 'done' })
      }
      if (isContinued && added !== '') await paced.stream?.append(this.#target.thread, message, added)
      if (isContinued) return void this.#streamed.set(part, text)
    } catch (error) {
      if (error instanceof TooFast) this.#streamed.set(part, before)
      if (!(error instanceof StreamEnded)) throw error
    }
    await this.#edit({ part, message }, shown)
  }

  async #edit({ part, message }: { readonly part: number; readonly message: string }, { isWhole, content }: Shown): Promise<void> {
    const { paced } = this.#options
    await this.#endStream(message)
    await paced.edit(this.#target.thread, message, content)
    this.#store({ part, message, state: isWhole ? 'done' : 'open' })
  }

  async #endStream(message: string): Promise<void> {
    if (!this.#isAnswer || this.#ended.has(message)) return
    await this.#options.paced.stream?.end(this.#target.thread, message, {}).catch((error: unknown) => {
      if (!(error instanceof StreamEnded)) throw error
    })
    this.#ended.add(message)
  }

  /** The message of a post that was not confirmed. */
  async #find({ part, at }: Post): Promise<string | undefined> {
    const { platform, posts } = this.#options
    const { thread } = this.#target
    const message = await platform.findPost?.(thread, at, (id) => posts.isKnown(thread, id))
    if (message !== undefined) this.#store({ part, message, state: 'open' })
    return message
  }

  #store(post: { readonly part: number; readonly state: PostState; readonly message?: string }): void {
    const { posts, now } = this.#options
    posts.set(this.#target, { message: undefined, ...post, at: now() }, this.#target.kind)
  }
}
