import { createInterface } from 'node:readline'
import type { InteractionEvent, StreamEvent } from '../../../contracts/index.ts'
import { withoutFlag } from '../../../policy/limit-texts.ts'
import { plural } from '../../../util/plural.ts'
import type { DisplayOptions } from '../../terminal/display-options.ts'
import { exitCodeOf, exitCodes } from '../../terminal/exit-codes.ts'
import { plainPaint } from '../../terminal/paint.ts'
import { troupeError } from '../../terminal/print-errors.ts'
import { printError } from '../../terminal/print-messages.ts'
import type { EndRequest, Host } from '../../terminal/process-host.ts'
import type { NextLine } from '../../terminal/read-line.ts'
import { askPerson } from '../asking/ask-person.ts'
import { reportError } from '../run/report-error.ts'
import { type CommandContext, commandIn, exactCommandIn, messageIn } from './chat-commands.ts'
import type { ChatOptions } from './chat-options.ts'
import { Conversation, type ConversationListener } from './conversation.ts'
import { Transcript, type TranscriptView } from './transcript.ts'

// A chat that reads lines and prints lines, and draws nothing again: for screen readers, terminals without escape sequences, and pipes.
//
// 1. A person may write while the agent works. The lines of a pipe wait for the turn before.
// 2. A pipe gets answers only; the first turn that does not end well ends the chat.

interface LineChatOptions extends ChatOptions {
  readonly host: Host
  readonly display: DisplayOptions
  /** Whether a person writes, and answers requests. */
  readonly isPerson: boolean
}

export class LineChat implements ConversationListener {
  readonly conversation: Conversation
  readonly #options: LineChatOptions
  readonly #transcript: Transcript
  #code: number = exitCodes.done.code
  #end: EndRequest | undefined
  /** Lines that were read already are not taken. */
  #isLeft = false
  #asked: string | undefined
  #readAnswer: ((line: NextLine) => void) | undefined
  #printing: Promise<void> = Promise.resolve()

  constructor(options: LineChatOptions) {
    const { service, agent, model } = options
    this.#options = options
    this.conversation = new Conversation(service, agent, this)
    this.conversation.model = model
    this.#transcript = new Transcript(this.conversation)
  }

  /** Resolves with the exit code. */
  async run(): Promise<number> {
    const { host, isPerson, opens } = this.#options
    const lines = createInterface({ input: host.stdin, terminal: false })
    const leave = (): void => {
      this.#isLeft = true
      lines.close()
    }
    const stopListening = host.onInterrupt((request) => {
      const stops = request === 'interrupted' && this.conversation.isBusy && this.#end === undefined
      this.#end = request
      if (stops) this.conversation.interrupt().catch((error: unknown) => this.failed(error))
      else leave()
    })
    try {
      if (opens !== undefined) await this.conversation.open(opens)
      this.#prompt()
      for await (const line of lines) {
        if (this.#isLeft) break
        await this.#take(line, leave)
        if (!isPerson && this.#code !== exitCodes.done.code) break
        if (!this.conversation.isBusy) this.#prompt()
      }
    } finally {
      stopListening()
      lines.close()
    }
    await this.#printing
    // Below the last prompt.
    if (isPerson) await host.stderr.line('')
    return this.#end === undefined || this.#code !== exitCodes.done.code ? this.#code : exitCodes[this.#end].code
  }

  event(event: StreamEvent): void {
    if (this.#options.isPerson) {
      if (event.type !== 'interaction.input.accepted') this.#print(this.#transcript.take(event, this.#view))
      this.#syncRequests()
    } else this.#answer(event)
    const isEnd = event.agentPath === 'root' && /^interaction\.turn\.(?!started)/.test(event.type)
    if (!isEnd || !this.#options.isPerson) return
    // The interruption is over, and does not decide the exit code.
    if (!this.#isLeft) this.#end = undefined
    const { held } = this.conversation
    if (held > 0) this.#print([`${plural(held, 'message')} not read yet: sent with your next one`])
    this.#prompt()
  }

  past(events: readonly InteractionEvent[]): void {
    const [first] = events
    if (first) this.#transcript.take(first, this.#view)
    if (this.#options.isPerson) this.#syncRequests()
  }

  failed(error: unknown): void {
    const { host, display } = this.#options
    this.#code ||= exitCodes.failed.code
    this.#then(() => printError(troupeError(error), { host, display }))
  }

  connection(): void {
    if (this.#options.isPerson) this.#print([this.conversation.isCutOff ? 'Connection lost: trying again.' : 'Connected again.'])
  }

  get #view(): TranscriptView {
    return { paint: plainPaint, width: Math.max(20, this.#options.host.width - 1) }
  }

  /** One line of input. */
  async #take(line: string, leave: () => void): Promise<void> {
    if (this.#readAnswer && !exactCommandIn(line, this.conversation)) return this.#readAnswer({ kind: 'line', text: line })
    if (line.trim() === '') return
    const { host, display, isPerson } = this.#options
    this.#end = undefined
    const { conversation } = this
    const context: CommandContext = { conversation, view: this.#view, now: () => host.now(), leave, hasKeys: false }
    try {
      const found = commandIn(line, conversation)
      if (found) this.#print(await found.command.run(found.argument, context))
      else await conversation.say(messageIn(line))
      if (!isPerson) await conversation.untilRest()
    } catch (error) {
      const code = await reportError(troupeError(error), { output: 'answer', host, display })
      if (!isPerson) this.#code = code
    }
  }

  /** For a pipe: reports, and why a turn did not end well. */
  #answer(event: StreamEvent): void {
    const { host } = this.#options
    const isSpeaker = event.agentPath === 'root' || event.agentPath === this.conversation.speaker
    switch (event.type) {
      case 'interaction.turn.completed':
      case 'interaction.turn.failed':
      case 'interaction.turn.interrupted': {
        if (!isSpeaker) return
        const { ending, report } = event
        if (report) this.#then(() => host.stdout.text(report.text.endsWith('\n') ? report.text : `${report.text}\n`))
        if (event.agentPath === 'root') this.#code = exitCodeOf(ending)
        if (ending.status === 'failed') this.#complain(ending.message, ending.remedy ?? ending.failure?.remedy)
        return
      }
      case 'interaction.turn.suspended':
        if (event.agentPath !== 'root' || event.reason === 'input') return
        this.#code = exitCodeOf({ status: 'suspended', reason: event.reason })
        this.#complain('The session is suspended: a request is waiting for an answer.', 'Answer it: troupe approvals list')
        return
      default:
    }
  }

  #complain(message: string, remedy: string | undefined): void {
    const { host, display } = this.#options
    this.#then(() => printError({ message, remedy: remedy && withoutFlag(remedy), problems: [] }, { host, display }))
  }

  #print(lines: readonly string[]): void {
    this.#then(() => this.#options.host.stdout.lines(lines))
  }

  #prompt(): void {
    if (this.#options.isPerson) this.#then(() => this.#options.host.stderr.write('> '))
  }

  #then(print: () => Promise<void>): void {
    this.#printing = this.#printing.then(print)
  }

  #syncRequests(): void {
    const [first] = this.conversation.requests
    if (this.#asked === first?.request.id) return
    this.#readAnswer?.({ kind: 'withdrawn' })
    this.#asked = first?.request.id
    if (!first) return
    const { request } = first
    this.conversation.service.shows?.(request.id)
    this.#print(this.#transcript.ask(first, this.#view))
    void askPerson(request, {
      show: async (line) => this.#print([line]),
      hint: async (text) => this.#print([text]),
      read: () => {
        this.#prompt()
        return new Promise((resolve) => {
          this.#readAnswer = (line) => {
            this.#readAnswer = undefined
            resolve(line)
          }
        })
      },
    })
      .then((decision) =>
        decision.kind === 'withdrawn' || decision.kind === 'end' ? undefined : this.conversation.answer(request.id, decision),
      )
      .catch((error: unknown) => this.failed(error))
  }
}
