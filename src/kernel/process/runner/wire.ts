// JSON-RPC 2.0, one message a line, between the kernel and the process of an extension. Both sides use this file: it imports
// nothing, because the process sees no other file of the package.

export interface WireMessage {
  readonly jsonrpc: '2.0'
  readonly id?: number
  readonly method?: string
  readonly params?: { readonly [name: string]: unknown }
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

/** The methods that an extension may implement. `hello` lists those of the instance. Setup is for trusted ones. */
export const extensionMethods = [
  'initialize',
  'start',
  'stop',
  'destroy',
  'healthCheck',
  'getTools',
  'sendToUser',
  'streamToUser',
  'limitsOf',
  'showProgress',
  'closeRequest',
  'runBackground',
  'getSchedule',
  'execute',
  'getAgentDescriptor',
  'invoke',
  'getContext',
] as const
export type ExtensionMethod = (typeof extensionMethods)[number]

/** Maximum length of one line, in each direction. */
export const maxLineBytes = 4 * 1024 * 1024
/** Maximum number of open requests of the extension. Its process lets further requests wait. */
export const maxOpenRequests = 32
/** The process keeps to it. The kernel drops what is above twice as many. */
export const maxLogLinesPerSecond = 50
export const maxLogCharacters = 2_000
export const maxErrorCharacters = 4_000

/** Messages of the kernel come on descriptor 4, those of the extension leave on 3: 0 to 2 belong to its code. */
export const inputDescriptor = 4
export const outputDescriptor = 3

export const errorCode = -32_000

const newline = 0x0a

/** Splits bytes into lines. Keeps at most one line of `maxLineBytes`. */
export class LineReader {
  readonly #take: (line: string) => void
  readonly #tooLong: () => void
  #pending: Buffer[] = []
  #bytes = 0

  constructor(take: (line: string) => void, tooLong: () => void) {
    this.#take = take
    this.#tooLong = tooLong
  }

  read(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      this.#keep(chunk.subarray(start, end))
      if (this.#bytes > maxLineBytes) return
      const [only] = this.#pending
      const line = (this.#pending.length === 1 && only ? only : Buffer.concat(this.#pending)).toString('utf8')
      this.#pending = []
      this.#bytes = 0
      start = end + 1
      this.#take(line)
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start))
  }

  #keep(piece: Buffer): void {
    this.#bytes += piece.length
    if (this.#bytes <= maxLineBytes) this.#pending.push(piece)
    else this.#tooLong()
  }
}
