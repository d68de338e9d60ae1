import type { ModelFailure, ModelPart } from '../../contracts/index.ts'
import { EventLoopYield, stopQuietly } from '../shared/index.ts'
import { type AiSdkPart, ReplyParts } from './reply-parts.ts'

/** An open stream of the provider. */
export interface OpenedStream {
  readonly stream: ReadableStream<AiSdkPart>
  readonly contentType: string | undefined
  /** Notices that are known before the reply. */
  readonly notices: readonly string[]
}

interface StreamSource {
  /** Sends the request. If it ignores the signal, its result is dropped. */
  open(signal: AbortSignal): Promise<OpenedStream>
  readFailure(error: unknown): ModelFailure
}

type Waiting = (result: IteratorResult<ModelPart>) => void
type Reader = ReadableStreamDefaultReader<AiSdkPart>
type ReadPart = { readonly done: boolean; readonly value?: AiSdkPart | undefined }

/**
 * The parts of one reply, read from the provider on demand.
 *
 * 1. It ends once: with the reply, a failure, `return`, or the signal. After that it reads nothing.
 * 2. The end answers all waiting consumers, even if the provider ignores the signal.
 * 3. The end cancels the request, unless the reply is complete and the response ends soon.
 */
export class PartStream implements AsyncIterableIterator<ModelPart> {
  readonly #source: StreamSource
  readonly #signal: AbortSignal
  readonly #request = new AbortController()
  readonly #parts: ModelPart[] = []
  readonly #waiting: Waiting[] = []
  readonly #breather = new EventLoopYield()
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

  /** Foreign readers may throw, or return no promise. */
  async #read(): Promise<ReadPart> {
    const pause = this.#breather.next()
    if (pause) await pause
    return (await this.#reader?.read()) ?? { done: true }
  }

  readonly #opened = ({ stream, contentType, notices }: OpenedStream): void => {
    if (this.#state === 'over') {
      stopQuietly(() => stream.cancel())
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

  /** Delivers the parts; reads on while a consumer waits. */
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
    stopQuietly(() => this.#reader?.cancel())
  }

  /** The end of the response has mostly arrived. Reading it lets the connection be reused. */
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
