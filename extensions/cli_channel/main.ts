import type {
  ChannelProvider,
  ClosedRequest,
  Extension,
  ExtensionContext,
  MessagePiece,
  OutgoingMessage,
  TerminalPort,
} from 'troupe/extension'
import { Conversation } from './conversation.ts'

const userId = 'local'

/** No channel where there is no terminal, such as in a service: messages wait for the next one. */
export class CliChannel implements Extension, ChannelProvider {
  #context: ExtensionContext | undefined
  #conversation: Conversation | undefined
  #isStopped = false

  initialize(context: ExtensionContext): void {
    this.#context = context
    if (context.terminal) this.#conversation = new Conversation((text) => context.terminal?.write(text))
    else Object.assign(this, { sendToUser: undefined })
  }

  start(): void {
    const { terminal } = this.#context ?? {}
    if (!terminal) return
    this.#conversation?.begin()
    void this.#read(terminal).catch((error: unknown) => this.#context?.logger.error(`The terminal cannot be read: ${String(error)}`))
  }

  stop(): void {
    this.#isStopped = true
    this.#conversation?.end()
  }

  sendToUser(_: string, message: OutgoingMessage): void {
    this.#conversation?.show(message)
  }

  streamToUser(_: string, piece: MessagePiece): void {
    this.#conversation?.showPiece(piece)
  }

  /** The person knows their own answers. */
  closeRequest(_: string, closed: ClosedRequest): void {
    if (closed.by !== undefined && closed.by !== userId) this.#conversation?.showAnswered(closed)
  }

  async #read(terminal: TerminalPort): Promise<void> {
    for await (const text of messagesOf(terminal.input)) {
      if (this.#isStopped) return
      this.#conversation?.typed()
      if (text.trim() === '') this.#conversation?.prompt()
      else await this.#send(text)
    }
    // Ctrl-D.
    if (!this.#isStopped) await this.#context?.requestShutdown('The terminal was closed.')
  }

  async #send(text: string): Promise<void> {
    try {
      await this.#context?.onUserMessage({ userId, text })
    } catch (error) {
      this.#conversation?.show({
        id: '',
        kind: 'error',
        speaker: 'troupe',
        text: `Your message was not sent. ${error instanceof Error ? error.message : String(error)}`,
      })
    }
  }
}

/** Lines that come faster than anybody types were pasted: they are one message. */
async function* messagesOf(input: AsyncIterable<string>): AsyncGenerator<string> {
  const lines = input[Symbol.asyncIterator]()
  let next = lines.next()
  for (;;) {
    const first = await next
    if (first.done) return
    const pasted = [first.value]
    for (;;) {
      next = lines.next()
      const more = await Promise.race([next, aMoment()])
      if (more === undefined || more.done) break
      pasted.push(more.value)
    }
    yield pasted.map((line) => line.replace(/\r?\n$/, '')).join('\n')
  }
}

const aMoment = (): Promise<undefined> => new Promise((resolve) => setTimeout(() => resolve(undefined), 30))
