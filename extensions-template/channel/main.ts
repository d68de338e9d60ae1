import { appendFile, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ChannelProvider, Extension, ExtensionContext, OutgoingMessage } from 'troupe/extension'

/**
 * Each line of inbox.txt is a message. Answers are added to outbox.txt. A client that can show more has further methods: `streamToUser` for
 * answers while they are written, `showProgress` for running calls, and `closeRequest` for requests that were answered elsewhere.
 */
export class TemplateClass implements Extension, ChannelProvider {
  #context: ExtensionContext | undefined
  #timer: NodeJS.Timeout | undefined
  #reading = Promise.resolve()

  initialize(context: ExtensionContext): void {
    this.#context = context
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#reading = this.#reading.then(() => this.#readInbox()).catch((error) => this.#context?.logger.error(String(error)))
    }, 200)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#reading
  }

  /** If it rejects, the message is sent again later. `message.request` and `message.files` are for clients with buttons and pictures. */
  async sendToUser(userId: string, message: OutgoingMessage): Promise<void> {
    await appendFile(this.#file('outbox.txt'), `${message.speaker} to ${userId}: ${message.text}\n`)
  }

  async #readInbox(): Promise<void> {
    const taken = this.#file('inbox.taken.txt')
    await rename(this.#file('inbox.txt'), taken).catch(ignoreMissing)
    const text = (await readFile(taken, 'utf8').catch(ignoreMissing)) ?? ''
    // Resolves when the message is stored: only then may it be forgotten here.
    for (const line of text.split('\n')) if (line.trim() !== '') await this.#context?.onUserMessage({ userId: 'local', text: line })
    await rm(taken, { force: true })
  }

  #file(name: string): string {
    if (this.#context === undefined) throw new Error('The extension is not initialized.')
    return join(this.#context.dataDir, name)
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
