import type { Clock, InteractionEvent, StreamEvent } from '../../../contracts/index.ts'
import type { Terminal } from '../../progress/terminal.ts'
import { spinnerMs } from '../../progress/tree/tree-row.ts'
import { errorLines, troupeError } from '../../terminal/print-errors.ts'
import { printable } from '../../terminal/printable.ts'
import type { EndRequest, Host } from '../../terminal/process-host.ts'
import type { NextLine } from '../../terminal/read-line.ts'
import { wrapLine } from '../../terminal/wrap-line.ts'
import { askPerson } from '../asking/ask-person.ts'
import type { ShownRequest } from '../asking/question-lines.ts'
import {
  availableCommands,
  type ChatCommand,
  type CommandContext,
  commandIn,
  detailLines,
  exactCommandIn,
  messageIn,
} from './chat-commands.ts'
import { chatFrame } from './chat-frame.ts'
import type { ChatOptions } from './chat-options.ts'
import { ChatWindow } from './chat-window.ts'
import { type Choice, type Completion, completeText } from './complete-text.ts'
import { Conversation, type ConversationListener } from './conversation.ts'
import { editKey } from './edit-keys.ts'
import { LineEditor } from './line-editor.ts'
import { LineHistory } from './line-history.ts'
import { type Key, readKeys } from './read-keys.ts'
import { Transcript, type TranscriptView } from './transcript.ts'

// A chat on a terminal: keys in, transcript and frame out.
//
// 1. The first open request takes the line, but never a text that was begun before it appeared.
// 2. A message that could not be sent goes back to the line.
// 3. Ctrl-C twice in a row leaves, whatever happens.

interface TerminalChatOptions extends ChatOptions {
  readonly terminal: Terminal
  readonly clock: Pick<Clock, 'monotonic' | 'after'>
  readonly host: Pick<Host, 'now' | 'paint' | 'stdin' | 'onInterrupt'>
}

/** A request that is being answered. */
interface Asking {
  readonly id: string
  /** Gets the next line. Absent while the answer is sent. */
  read?: (line: NextLine) => void
}

const shownTurns = 3

export class TerminalChat implements ConversationListener {
  readonly conversation: Conversation
  readonly #options: TerminalChatOptions
  readonly #transcript: Transcript
  readonly #editor = new LineEditor()
  readonly #history: LineHistory
  readonly #window: ChatWindow
  readonly #left = Promise.withResolvers<EndRequest | undefined>()
  #stopReading = (): void => {}
  #completion: (Completion & { chosen: number; isMoved: boolean }) | undefined
  /** Of the command that is typed. */
  #values: { readonly of: ChatCommand; choices: readonly Choice[] } | undefined
  #asking: Asking | undefined
  #mode: 'message' | 'answer' = 'message'
  #isLeaving = false
  #hint = ''
  /** Commands and messages, one after the other. */
  #work: Promise<void> = Promise.resolve()

  constructor(options: TerminalChatOptions) {
    const { service, agent, model, terminal, clock, host } = options
    this.#options = options
    this.conversation = new Conversation(service, agent, this)
    this.conversation.model = model
    this.#transcript = new Transcript(this.conversation)
    this.#history = new LineHistory(service.dataFolder, service.redact)
    this.#window = new ChatWindow({
      ...{ terminal, clock },
      isAnimated: () => this.conversation.isBusy || this.conversation.isCutOff,
      onPause: (isPaused) => (isPaused ? this.#stopReading() : this.#readKeys()),
      frame: (size) =>
        chatFrame(
          {
            conversation: this.conversation,
            transcript: this.#transcript,
            editor: this.#editor,
            mode: this.#mode,
            completion: this.#completion,
            hint: this.#hint,
            now: host.now(),
            paint: host.paint,
          },
          size,
        ),
    })
  }

  /** Resolves when the person leaves, or the process is asked to end. */
  async run(): Promise<EndRequest | undefined> {
    const { host, opens } = this.#options
    const stopListening = host.onInterrupt((request) => this.#left.resolve(request))
    this.#readKeys()
    const { agent } = this.conversation
    if (opens === undefined)
      this.#window.print([
        ...wrapLine(this.#dim(printable(`${agent.displayName ?? agent.name}: ${agent.description}`)), this.#view.width),
        '',
      ])
    this.#window.draw()
    if (opens !== undefined) this.#do(() => this.conversation.open(opens))
    const end = await this.#left.promise
    this.#history.add(this.#editor.content)
    stopListening()
    this.#stopReading()
    this.#window.print(this.#transcript.flush(this.#view))
    this.#window.close()
    return end
  }

  event(event: StreamEvent): void {
    this.#window.print(this.#transcript.take(event, this.#view))
    if ('seq' in event) this.#syncRequests()
  }

  past(events: readonly InteractionEvent[]): void {
    const begins = events.flatMap(({ type, agentPath }, index) =>
      type === 'interaction.input.accepted' && agentPath === 'root' ? [index] : [],
    )
    const from = begins.at(-shownTurns) ?? 0
    const hidden = begins.filter((index) => index < from).length
    const view = this.#view
    const [first] = events
    if (first) this.#transcript.take(first, view)
    const lines = events.slice(Math.max(1, from)).flatMap((event) => this.#transcript.take(event, view))
    this.#window.print([...(hidden > 0 ? [this.#dim(`⋯ ${hidden} earlier`)] : []), ...lines])
    this.#syncRequests()
  }

  failed(error: unknown): void {
    this.#printError(error)
  }

  connection(): void {
    this.#window.change()
  }

  get #view(): TranscriptView {
    const { width, height } = this.#window.size
    return { paint: this.#options.host.paint, width: Math.max(2, width - 1), height }
  }

  #dim(text: string): string {
    return this.#options.host.paint('dim', text)
  }

  #printError(error: unknown): void {
    const { paint, width } = this.#view
    this.#window.print(['', ...errorLines(troupeError(error), paint)].flatMap((line) => wrapLine(line, width)))
  }

  #readKeys(): void {
    this.#stopReading = readKeys(this.#options.host.stdin as NodeJS.ReadStream, {
      key: (key) => this.#press(key),
      paste: (text) => this.#edit(() => this.#editor.paste(text)),
      read: () => this.#window.draw(),
    })
  }

  #press(key: Key): void {
    const isInterrupt = key.ctrl && key.name === 'c'
    if (!isInterrupt) {
      this.#isLeaving = false
      this.#hint = ''
    }
    if (isInterrupt) this.#interrupt()
    else if (key.ctrl && key.name === 'd' && this.#editor.text === '') this.#left.resolve(undefined)
    else if (key.ctrl && key.name === 'z') process.kill(process.pid, 'SIGTSTP')
    else if (key.ctrl && key.name === 'o') this.#window.print(['', ...detailLines(this.#context)])
    else if (key.name === 'escape') this.#escape()
    else if (key.name === 'tab') this.#complete()
    else if (key.name === 'return' && !key.meta) this.#enter()
    else if (key.name === 'up' || key.name === 'down') this.#upDown(key.name === 'up' ? -1 : 1)
    else this.#edit(() => editKey(this.#editor, key))
  }

  /** What follows every change of the line. */
  #edit(change: () => void): void {
    change()
    const { text, cursor } = this.#editor
    if (text === '' && this.#asking) this.#mode = 'answer'
    const { service } = this.conversation
    const completion =
      this.#mode === 'answer'
        ? undefined
        : completeText(text, cursor, {
            folder: service.workspace,
            commands: availableCommands(this.conversation),
            values: (command) => this.#valuesOf(command),
          })
    this.#completion = completion && { ...completion, chosen: 0, isMoved: false }
  }

  /** Those that have to be asked for are offered when they arrive. */
  #valuesOf(command: ChatCommand): readonly Choice[] {
    if (this.#values?.of === command) return this.#values.choices
    const values = command.values?.(this.conversation) ?? []
    if (!(values instanceof Promise)) return values
    const asked = { of: command, choices: [] as readonly Choice[] }
    this.#values = asked
    values
      .then((choices) => {
        asked.choices = choices
        if (this.#editor.text.startsWith(`/${command.name} `)) this.#edit(() => {})
        this.#window.change()
      })
      .catch(() => {})
    return []
  }

  #complete(): void {
    if (!this.#completion) return
    const { from, to, choices, chosen } = this.#completion
    const { text = '' } = choices[chosen] ?? {}
    this.#edit(() => this.#editor.replace(from, to, text.startsWith('/') ? `${text} ` : text))
  }

  #upDown(by: -1 | 1): void {
    if (this.#completion) {
      const { choices, chosen } = this.#completion
      this.#completion = { ...this.#completion, chosen: (chosen + by + choices.length) % choices.length, isMoved: true }
      return
    }
    if (this.#editor.moveLine(by)) return
    const line = this.#history.move(by, this.#editor.content)
    if (line !== undefined) this.#editor.set(line)
  }

  #enter(): void {
    if (this.#completion && (this.#completion.isMoved || /^\/[a-z]*$/.test(this.#editor.text))) this.#complete()
    // A backslash at the end continues the message.
    if (this.#editor.text.endsWith('\\') && this.#editor.cursor === this.#editor.text.length) {
      this.#edit(() => this.#editor.replace(this.#editor.cursor - 1, this.#editor.cursor, '\n'))
      return
    }
    const { content } = this.#editor
    if (this.#mode === 'answer' && !exactCommandIn(content, this.conversation)) {
      // Between two requests nothing is read.
      const read = this.#asking?.read
      if (!read) return
      this.#edit(() => this.#editor.clear())
      read({ kind: 'line', text: content })
      return
    }
    if (content.trim() === '') return
    this.#history.add(content)
    this.#edit(() => this.#editor.clear())
    this.#do(() => this.#submit(content.trimEnd()))
  }

  async #submit(content: string): Promise<void> {
    this.#values = undefined
    let found: ReturnType<typeof commandIn>
    try {
      found = commandIn(content, this.conversation)
      if (!found) return await this.conversation.say(messageIn(content))
    } catch (error) {
      if (this.#editor.text === '' && this.#mode === 'message') this.#edit(() => this.#editor.paste(content))
      throw error
    }
    this.#window.print(['', this.#dim(`› ${printable(content)}`)])
    const lines = await found.command.run(found.argument, this.#context)
    this.#window.print(lines)
    this.#syncRequests()
  }

  get #context(): CommandContext {
    const { conversation } = this
    const leave = (): void => this.#left.resolve(undefined)
    return { conversation, view: this.#view, now: () => this.#options.host.now(), leave, hasKeys: true }
  }

  #do(work: () => Promise<void>): void {
    this.#work = this.#work
      .then(work)
      .catch((error: unknown) => this.#printError(error))
      .then(() => this.#window.change())
  }

  #escape(): void {
    if (this.#completion) this.#completion = undefined
    else if (this.conversation.isBusy) this.#stopTurn()
  }

  #interrupt(): void {
    if (this.#isLeaving) this.#left.resolve(undefined)
    this.#isLeaving = true
    this.#hint = 'Ctrl-C again leaves'
    if (this.conversation.isBusy) this.#stopTurn()
    else this.#clear()
  }

  /** The text is kept in the history. */
  #clear(): void {
    if (this.#mode === 'message') this.#history.add(this.#editor.content)
    this.#edit(() => this.#editor.clear())
  }

  /** Not behind other work: it may be that which is to be stopped. */
  #stopTurn(): void {
    this.conversation.interrupt().catch((error: unknown) => this.#printError(error))
  }

  /** Withdraws a request that is over, and asks for the first open one. */
  #syncRequests(): void {
    const [first] = this.conversation.requests
    if (this.#asking?.id === first?.request.id) return
    const hadOne = this.#asking !== undefined
    this.#asking?.read?.({ kind: 'withdrawn' })
    this.#asking = first && { id: first.request.id }
    // What was typed before a request appeared does not answer it, and an answer that was begun is no message.
    if (this.#mode === 'answer') this.#editor.clear()
    if (!first) this.#mode = 'message'
    // The answer to the request before may decide this one, too.
    else if (hadOne) this.#options.clock.after(spinnerMs, () => this.#askFirst(first))
    else this.#askFirst(first)
  }

  #askFirst(asked: ShownRequest): void {
    const asking = this.#asking
    if (asking?.id !== asked.request.id) return
    this.conversation.service.shows?.(asking.id)
    this.#window.print(this.#transcript.ask(asked, this.#view))
    if (this.#editor.text === '') this.#mode = 'answer'
    else if (this.#mode === 'message') this.#hint = 'Send or clear this message first, then answer'
    else this.#editor.clear()
    this.#answerTo(asking, asked)
  }

  #answerTo(asking: Asking, asked: ShownRequest): void {
    this.#ask(asking, asked.request).catch((error: unknown) => {
      this.#printError(error)
      if (this.#asking === asking) this.#answerTo(asking, asked)
    })
  }

  async #ask(asking: Asking, request: Parameters<typeof askPerson>[0]): Promise<void> {
    const decision = await askPerson(request, {
      show: async (line) => this.#window.print([line]),
      hint: async (text) => this.#window.print(wrapLine(this.#dim(text), this.#view.width)),
      read: () =>
        new Promise((resolve) => {
          asking.read = (line) => {
            delete asking.read
            resolve(line)
          }
        }),
    })
    if (decision.kind !== 'withdrawn' && decision.kind !== 'end') await this.conversation.answer(request.id, decision)
  }
}
