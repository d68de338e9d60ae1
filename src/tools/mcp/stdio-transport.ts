// Messages over the input and output of a process: JSON, one message a line.
//
// 1. At most one message of `maxMessageBytes` is kept in memory. A longer line is dropped, and reported.
// 2. A server that sends too much is read more slowly: it waits, this process does not.
// 3. Lines that are not messages are ignored: some servers log to their output.
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import type { Clock } from '../../contracts/index.ts'
import { maxBytesPerSecond, maxMessageBytes, maxMessagesPerSecond, maxUnsentBytes } from './mcp-limits.ts'
import { endServerProcess, type ServerProcess } from './server-process.ts'

export interface TransportEvents {
  /** A message was dropped because of its size: the request that it answers will never end. */
  onOversized(): void
  /** Bytes that were received. */
  onBytes(count: number): void
  /** A line that is not a message. */
  onText(line: string): void
}

const newline = 0x0a

export class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  /** The library recognises a process by these two: it waits for an answer differently. */
  readonly stderr = null
  readonly pid: number | null
  readonly #process: ServerProcess
  readonly #clock: Clock
  readonly #events: TransportEvents
  #pending: Buffer[] = []
  #pendingBytes = 0
  #isDropping = false
  #windowStart: number
  #messages = 0
  #bytes = 0
  #resume: (() => void) | undefined
  #isClosed = false

  constructor(serverProcess: ServerProcess, { clock, events }: { readonly clock: Clock; readonly events: TransportEvents }) {
    this.#process = serverProcess
    this.#clock = clock
    this.#events = events
    this.#windowStart = clock.monotonic()
    this.pid = serverProcess.pid ?? null
  }

  async start(): Promise<void> {
    const { stdout, ended } = this.#process
    stdout.on('data', (chunk: Buffer) => this.#read(chunk, 0))
    void ended.then(() => this.#closed())
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#process
    if (this.#isClosed || !stdin.writable) throw new Error('the process has ended')
    if (stdin.writableLength > maxUnsentBytes) throw new Error('the server does not read its input')
    stdin.write(`${JSON.stringify(message)}\n`)
  }

  async close(): Promise<void> {
    this.#resume?.()
    this.#closed()
    await endServerProcess(this.#process, this.#clock)
  }

  #closed(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#pending = []
    this.onclose?.()
  }

  /** Reads a chunk from an offset on: the rest of it may have to wait. */
  #read(chunk: Buffer, offset: number): void {
    if (this.#isClosed) return
    if (offset === 0) {
      this.#bytes += chunk.length
      this.#events.onBytes(chunk.length)
    }
    let start = offset
    for (let end = chunk.indexOf(newline, start); end !== -1; end = chunk.indexOf(newline, start)) {
      this.#line(chunk, start, end)
      start = end + 1
      if (this.#isTooFast()) {
        this.#wait(chunk, start)
        return
      }
    }
    if (start < chunk.length) this.#keep(start === 0 ? chunk : chunk.subarray(start))
    if (this.#isTooFast()) this.#wait(chunk, chunk.length)
  }

  #keep(rest: Buffer): void {
    if (this.#isDropping) return
    this.#pendingBytes += rest.length
    if (this.#pendingBytes <= maxMessageBytes) {
      this.#pending.push(rest)
      return
    }
    this.#isDropping = true
    this.#pending = []
    this.#events.onOversized()
  }

  #line(chunk: Buffer, start: number, end: number): void {
    if (this.#pendingBytes === 0 && end - start <= maxMessageBytes) {
      this.#message(chunk.toString('utf8', start, end))
      return
    }
    this.#keep(chunk.subarray(start, end))
    const whole = this.#isDropping ? undefined : Buffer.concat(this.#pending).toString('utf8')
    this.#pending = []
    this.#pendingBytes = 0
    this.#isDropping = false
    if (whole !== undefined) this.#message(whole)
  }

  #message(line: string): void {
    this.#messages++
    const message = parseMessage(line)
    if (!message) {
      if (line.trim() !== '') this.#events.onText(line)
      return
    }
    try {
      this.onmessage?.(message)
    } catch (error) {
      this.onerror?.(error as Error)
    }
  }

  #isTooFast(): boolean {
    if (this.#messages <= maxMessagesPerSecond && this.#bytes <= maxBytesPerSecond) return false
    if (this.#clock.monotonic() - this.#windowStart < 1_000) return true
    this.#newWindow()
    return false
  }

  #newWindow(): void {
    this.#windowStart = this.#clock.monotonic()
    this.#messages = 0
    this.#bytes = 0
  }

  #wait(chunk: Buffer, next: number): void {
    const { stdout } = this.#process
    stdout.pause()
    const continueReading = (): void => {
      this.#resume = undefined
      this.#newWindow()
      if (next < chunk.length) this.#read(chunk, next)
      if (!this.#resume) stdout.resume()
    }
    const cancel = this.#clock.after(1_000, continueReading)
    this.#resume = () => {
      cancel()
      this.#resume = undefined
    }
  }
}

function parseMessage(line: string): JSONRPCMessage | undefined {
  try {
    const value: unknown = JSON.parse(line)
    const isMessage = typeof value === 'object' && value !== null && (value as { jsonrpc?: unknown }).jsonrpc === '2.0'
    return isMessage ? (value as JSONRPCMessage) : undefined
  } catch {
    return undefined
  }
}
