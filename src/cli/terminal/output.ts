// 1. Writing never rejects and never throws: a reader that closes the stream is not an error.
// 2. After the first failure nothing more is written.
import type { Writable } from 'node:stream'
import { printableText } from './printable.ts'
import { wrapLine } from './wrap-line.ts'

type State = { readonly kind: 'open' } | { readonly kind: 'gone' } | { readonly kind: 'failed'; readonly error: Error }

type Stream = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number }

/** Standard output or standard error. The reader may close it at any time. */
export class Output {
  readonly #stream: Stream
  readonly #endListeners = new Set<() => void>()
  #state: State = { kind: 'open' }

  constructor(stream: Stream) {
    this.#stream = stream
    stream.on('error', (error: NodeJS.ErrnoException) => this.#end(error))
  }

  /** An error other than a closed pipe, such as a full disk. */
  get failure(): Error | undefined {
    return this.#state.kind === 'failed' ? this.#state.error : undefined
  }

  /** Resolves when the text was written, or writing failed. */
  write(text: string): Promise<void> {
    if (this.#state.kind !== 'open') return Promise.resolve()
    return new Promise((resolve) => {
      this.#stream.write(text, () => resolve())
    })
  }

  /** Untrusted text: unchanged for a pipe, without control sequences for a terminal. */
  text(text: string): Promise<void> {
    return this.write(this.#stream.isTTY ? printableText(text) : text)
  }

  line(text: string): Promise<void> {
    return this.write(`${text}\n`)
  }

  lines(lines: readonly string[]): Promise<void> {
    return lines.length === 0 ? Promise.resolve() : this.line(lines.join('\n'))
  }

  /** Undefined if this is no terminal. */
  get columns(): number | undefined {
    return this.#stream.isTTY ? this.#stream.columns || undefined : undefined
  }

  get rows(): number | undefined {
    return this.#stream.isTTY ? this.#stream.rows || undefined : undefined
  }

  /** Text for people: wrapped for a terminal, unchanged otherwise. */
  prose(lines: readonly string[]): Promise<void> {
    const { columns } = this
    // Some terminals wrap a line that fills the last column.
    return this.lines(columns === undefined ? lines : lines.flatMap((line) => wrapLine(line, columns - 1)))
  }

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
