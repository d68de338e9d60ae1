/*
 * 1. Writing never rejects and never throws: a reader that went away is no error of ours.
 * 2. After the first failure nothing more is written.
 */
import type { Writable } from 'node:stream'
import { printableText } from './paint.ts'
import { wrapLine } from './wrap-line.ts'

type State = { readonly kind: 'open' } | { readonly kind: 'gone' } | { readonly kind: 'failed'; readonly error: Error }

type Stream = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number }

/** Standard output or standard error, whose reader may leave at any time. */
export class Output {
  readonly #stream: Stream
  readonly #endListeners = new Set<() => void>()
  #state: State = { kind: 'open' }

  constructor(stream: Stream) {
    this.#stream = stream
    stream.on('error', (error: NodeJS.ErrnoException) => this.#end(error))
  }

  /** Why writing failed, other than by the reader leaving: a full disk, say. */
  get failure(): Error | undefined {
    return this.#state.kind === 'failed' ? this.#state.error : undefined
  }

  /** Resolves when the text is handed over, or cannot be. */
  write(text: string): Promise<void> {
    if (this.#state.kind !== 'open') return Promise.resolve()
    return new Promise((resolve) => {
      this.#stream.write(text, () => resolve())
    })
  }

  /** Text that a model or a file has written: a pipe gets it as it is, a terminal so that it is not steered by it. */
  text(text: string): Promise<void> {
    return this.write(this.#stream.isTTY ? printableText(text) : text)
  }

  line(text: string): Promise<void> {
    return this.write(`${text}\n`)
  }

  lines(lines: readonly string[]): Promise<void> {
    return lines.length === 0 ? Promise.resolve() : this.line(lines.join('\n'))
  }

  /** Columns and rows, where it is a terminal that has some. */
  get columns(): number | undefined {
    return this.#stream.isTTY ? this.#stream.columns || undefined : undefined
  }

  get rows(): number | undefined {
    return this.#stream.isTTY ? this.#stream.rows || undefined : undefined
  }

  /** Lines of words for people: a terminal gets them broken between words, anybody else as they are. */
  prose(lines: readonly string[]): Promise<void> {
    const { columns } = this
    // The last column stays free: some terminals break a line that fills it.
    return this.lines(columns === undefined ? lines : lines.flatMap((line) => wrapLine(line, columns - 1)))
  }

  /** Calls back once nothing more can be written. */
  onEnd(listener: () => void): void {
    this.#endListeners.add(listener)
  }

  #end(error: NodeJS.ErrnoException): void {
    if (this.#state.kind !== 'open') return
    const hasLeft = ['EPIPE', 'ECONNRESET', 'EOF'].includes(error.code ?? '') || (this.#stream.isTTY === true && error.code === 'EIO')
    this.#state = hasLeft ? { kind: 'gone' } : { kind: 'failed', error }
    for (const listener of this.#endListeners) listener()
  }
}
