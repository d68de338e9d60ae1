import type { ModelFailure, ModelPart } from '../../contracts/index.ts'
import { Breather, dismiss } from '../shared/index.ts'
import { type AiSdkPart, ReplyParts } from './reply-parts.ts'

/** A stream that the provider has opened. */
export interface OpenedStream {
  readonly stream: ReadableStream<AiSdkPart>
  readonly contentType: string | undefined
  /** What will not be done as asked; known before the provider says anything. */
  readonly notices: readonly string[]
}

interface StreamSource {
  /** Sends the request. Heeds the signal, or is left behind. */
  open(signal: AbortSignal): Promise<OpenedStream>
  readFailure(error: unknown): ModelFailure
}

type Waiting = (result: IteratorResult<ModelPart>) => void
type Reader = ReadableStreamDefaultReader<AiSdkPart>
type ReadPart = { readonly done: boolean; readonly value?: AiSdkPart | undefined }

/**
 * The parts of one reply, pulled from the provider as they are asked for.
 *
 * 1. It ends once: with the reply, a failure, its reader's leave, or the signal. After that it asks for nothing.
 * 2. Whoever waits for a part is answered at the end, whether or not the provider heeds the signal.
 * 3. Unless the reply was whole, the end cancels the request; then too, if the server keeps the connection busy.
 */
export class PartStream implements AsyncIterableIterator<ModelPart> {
  readonly #source: StreamSource
  readonly #signal: AbortSignal
  readonly #request = new AbortController()
  readonly #parts: ModelPart[] = []
  readonly #waiting: Waiting[] = []
  readonly #breather = new Breather()
  #state: 'new' | 'reading' | 'resting' | 'over' = 'new'
  #reader: Reader | undefined
  #reply: ReplyParts | undefined

  constructor(source: StreamSource, signal: AbortSignal) {
    this.#source = source
    this.#signal = signal
    if (signal.aborted) this.#state = 'over'
    else signal.addEventListener('abort', this.#abort, { once: true })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<ModelPart>> {
    const part = this.#parts.shift()
    if (part) return Promise.resolve({ done: false, value: part })
    if (this.#state === 'over') return Promise.resolve(over)
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#pull()
    })
  }

  return(): Promise<IteratorResult<ModelPart>> {
    this.#parts.length = 0
    this.#end('left')
    return Promise.resolve(over)
  }

  readonly #abort = (): void => {
    this.#parts.length = 0
    this.#end('left')
  }

  #pull(): void {
    if (this.#state === 'reading' || this.#state === 'over') return
    const isNew = this.#state === 'new'
    this.#state = 'reading'
    if (isNew) this.#source.open(this.#request.signal).then(this.#opened).catch(this.#fail)
    else this.#read().then(this.#take).catch(this.#fail)
  }

  /** Whatever the stream makes of it: readers of other people may throw, or have no promise for us. */
  async #read(): Promise<ReadPart> {
    const pause = this.#breather.next()
    if (pause) await pause
    return (await this.#reader?.read()) ?? { done: true }
  }

  readonly #opened = ({ stream, contentType, notices }: OpenedStream): void => {
    if (this.#state === 'over') {
      dismiss(() => stream.cancel())
      return
    }
    this.#reader = stream.getReader()
    this.#reply = new ReplyParts({ contentType, readFailure: (error) => this.#source.readFailure(error) })
    for (const message of notices) this.#parts.push({ type: 'notice', message })
    this.#state = 'resting'
    this.#answer()
  }

  readonly #take = ({ done, value }: ReadPart): void => {
    if (this.#state === 'over' || !this.#reply) return
    this.#state = 'resting'
    if (done || !value) {
      this.#reply.cut(this.#parts)
      this.#end('failed')
    } else if (this.#reply.read(value, this.#parts) === 'over') {
      this.#end(this.#parts.at(-1)?.type === 'finish' ? 'whole' : 'failed')
    }
    this.#answer()
  }

  readonly #fail = (error: unknown): void => {
    if (this.#state === 'over') return
    this.#parts.push({ type: 'error', failure: this.#source.readFailure(error) })
    this.#end('failed')
  }

  #end(how: 'whole' | 'failed' | 'left'): void {
    if (this.#state === 'over') return
    this.#state = 'over'
    this.#signal.removeEventListener('abort', this.#abort)
    if (how === 'whole') this.#letGo()
    else this.#cancel()
    this.#answer()
  }

  /** Hands out what there is; goes on reading where somebody still waits. */
  #answer(): void {
    while (this.#waiting.length > 0) {
      const part = this.#parts.shift()
      if (part) this.#waiting.shift()?.({ done: false, value: part })
      else if (this.#state === 'over') this.#waiting.shift()?.(over)
      else {
        this.#pull()
        return
      }
    }
  }

  #cancel(): void {
    this.#request.abort()
    dismiss(() => this.#reader?.cancel())
  }

  /** The end of the answer is mostly there already. Read, it leaves the connection to the next request. */
  #letGo(): void {
    let isRead = false
    const drain = (): Promise<void> => this.#read().then(({ done }) => (done ? undefined : drain()))
    drain().then(
      () => {
        isRead = true
      },
      () => {},
    )
    setImmediate(() => {
      if (!isRead) this.#cancel()
    })
  }
}

const over: IteratorReturnResult<undefined> = { done: true, value: undefined }
