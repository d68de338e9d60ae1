import type { MessageDelivery } from './message-delivery.ts'
import { TooFast } from './paced-platform.ts'

/** A first piece is often half a word. The rest of the line comes soon. */
const firstMs = 150
/** After a failure. */
const retryMs = 2_000

interface LiveAnswerOptions {
  readonly delivery: MessageDelivery
  pieceMs(): number
  /** In the order of the thread. */
  inOrder(work: () => Promise<void>): Promise<void>
  report(error: unknown): void
}

/**
 * Shows an answer while it is written: soon after its first piece, then at most once in `pieceMs`. Chat SDK alone would wait for 256
 * characters. Failures are left to the whole message, which follows.
 */
export class LiveAnswer {
  readonly id: string
  readonly delivery: MessageDelivery
  readonly #options: LiveAnswerOptions
  #text = ''
  #shown = ''
  #state: 'idle' | 'waiting' | 'showing' | 'closed' = 'idle'
  #timer: NodeJS.Timeout | undefined

  constructor(id: string, options: LiveAnswerOptions) {
    this.id = id
    this.delivery = options.delivery
    this.#options = options
  }

  add(piece: string): void {
    this.#text += piece
    if (this.#state === 'idle' && this.#text.trim() !== '') this.#showIn(firstMs)
  }

  /** Shows nothing more by itself. */
  close(): void {
    this.#state = 'closed'
    clearTimeout(this.#timer)
  }

  #showIn(ms: number): void {
    this.#state = 'waiting'
    this.#timer = setTimeout(() => void this.#show(), ms)
  }

  async #show(): Promise<void> {
    const { delivery, inOrder, pieceMs, report } = this.#options
    if (this.#shown === this.#text) this.#state = 'idle'
    if (this.#state !== 'waiting') return
    this.#state = 'showing'
    const waitMs = await inOrder(async () => {
      if (this.#isClosed) return
      const text = this.#text
      await delivery.show({ isWhole: false, content: { text } })
      this.#shown = text
    }).then(pieceMs, (error: unknown) => {
      if (error instanceof TooFast) return error.waitMs
      report(error)
      return retryMs
    })
    if (!this.#isClosed) this.#showIn(waitMs)
  }

  /** Whether more is shown soon. */
  get isActive(): boolean {
    return this.#state === 'waiting' || this.#state === 'showing'
  }

  get #isClosed(): boolean {
    return this.#state === 'closed'
  }
}
