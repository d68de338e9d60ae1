// The screen of a chat: lines that stay, and below them a frame that changes.
//
// 1. What the agent does is drawn at most once in `frameMs`, however many events there are. A key is drawn immediately.
// 2. Lines that stay are written above the frame in the order in which they were printed.
// 3. After `close`, and when the process exits, the cursor is visible and pastes are no longer marked.
import type { Clock } from '../../../contracts/index.ts'
import { type CursorPlace, Screen, type Size } from '../../progress/screen.ts'
import type { Terminal, TerminalEvent } from '../../progress/terminal.ts'
import { spinnerMs } from '../../progress/tree/tree-row.ts'

interface WindowOptions {
  readonly terminal: Terminal
  readonly clock: Pick<Clock, 'monotonic' | 'after'>
  frame(size: Size): { readonly lines: readonly string[]; readonly cursor: CursorPlace }
  /** Whether the frame changes without events. */
  isAnimated(): boolean
  /** The process is about to be stopped, or goes on. */
  onPause?(isPaused: boolean): void
}

const frameMs = spinnerMs
const markPastes = '\u001b[?2004h'
const unmarkPastes = '\u001b[?2004l'

export class ChatWindow {
  readonly #options: WindowOptions
  readonly #screen = new Screen()
  readonly #stopWatching: () => void
  #printed: string[] = []
  #state: 'open' | 'stopped' | 'closed' = 'open'
  #drawnAt = Number.NEGATIVE_INFINITY
  #cancelTimer: (() => void) | undefined

  constructor(options: WindowOptions) {
    this.#options = options
    this.#stopWatching = options.terminal.watch((event) => this.#react(event))
    options.terminal.write(markPastes)
  }

  get size(): Size {
    return this.#options.terminal.size
  }

  /** Lines that stay above the frame. */
  print(lines: readonly string[]): void {
    this.#printed.push(...lines)
    this.change()
  }

  /** The frame is outdated. */
  change(): void {
    if (this.#cancelTimer || this.#state !== 'open') return
    const { clock } = this.#options
    const wait = this.#drawnAt + frameMs - clock.monotonic()
    if (wait <= 0) this.draw()
    else this.#cancelTimer = clock.after(wait, () => this.draw())
  }

  draw(): void {
    this.#stopTimer()
    if (this.#state !== 'open') return
    const { terminal, clock, frame, isAnimated } = this.#options
    const { size } = terminal
    const { lines, cursor } = frame(size)
    const printed = this.#takePrinted(size)
    const text = `${printed}${this.#screen.draw(lines, size, cursor)}`
    if (text !== '') terminal.write(text)
    this.#drawnAt = clock.monotonic()
    if (isAnimated()) this.change()
  }

  close(): void {
    if (this.#state === 'closed') return
    const { terminal } = this.#options
    terminal.write(`${this.#takePrinted(terminal.size)}${this.#screen.leave('erase', terminal.size)}${unmarkPastes}`)
    this.#stopTimer()
    this.#state = 'closed'
    this.#stopWatching()
  }

  #takePrinted(size: Size): string {
    if (this.#printed.length === 0) return ''
    const lines = this.#printed
    this.#printed = []
    return `${this.#screen.leave('erase', size)}${lines.map((line) => `${line}\r\n`).join('')}`
  }

  #react(event: TerminalEvent): void {
    const { terminal, onPause } = this.#options
    switch (event.kind) {
      case 'resized':
        this.draw()
        break
      case 'before-write':
        terminal.write(this.#screen.leave('erase', terminal.size))
        break
      case 'after-write':
        if (event.isMidLine && this.#state === 'open') terminal.write('\r\n')
        this.draw()
        break
      case 'pausing':
        terminal.write(`${this.#screen.leave('erase', terminal.size)}${unmarkPastes}`)
        this.#stopTimer()
        if (this.#state === 'open') this.#state = 'stopped'
        onPause?.(true)
        break
      case 'resumed':
        if (this.#state !== 'stopped') break
        this.#state = 'open'
        onPause?.(false)
        terminal.write(markPastes)
        this.draw()
        break
      case 'closing':
        this.close()
        break
      default:
        event satisfies never
    }
  }

  #stopTimer(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }
}
