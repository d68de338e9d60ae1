// The live tree of a run.
//
// 1. At most one frame in `frameMs`, except for the first output of an attempt, which is shown immediately.
// 2. An event only marks the frame as outdated.
// 3. While nothing changes over time there is no timer.
// 4. Before other code writes to the terminal, the frame is erased. It is drawn again below that output.
// 5. The frame takes at most a third of the terminal. A terminal that becomes narrower breaks each line in two. If it also loses
//    a quarter of its height, all lines still fit: none gets into the scrollback, where it could not be erased.
// 6. After `close`, and when the process exits, the cursor is visible again.
import type { Clock, InteractionEvent, ItemDelta, StreamEvent } from '../../contracts/index.ts'
import { applyEvent, applyPast, emptyTree, showInterrupting } from '../../view/index.ts'
import type { Paint } from '../terminal/paint.ts'
import type { Display } from './display.ts'
import { LiveAnswer } from './live-answer.ts'
import { isAnimated, liveFrame } from './live-frame.ts'
import { MessageLines } from './message-lines.ts'
import { Screen, type Size } from './screen.ts'
import type { Terminal, TerminalEvent } from './terminal.ts'
import { spinnerMs } from './tree/tree-row.ts'

interface LiveProgressOptions {
  readonly terminal: Terminal
  readonly clock: Clock
  readonly paint: Paint
}

/** About twelve frames a second. */
const frameMs = spinnerMs

const minRows = 4
const frameRows = (height: number): number => Math.max(0, Math.min(height - 1, Math.max(minRows, Math.floor((height - 2) / 3))))
/** Rows for the tree and the blank row below it while text is streamed. */
const treeRows = 3

export class LiveProgress implements Display {
  readonly #terminal: Terminal
  readonly #clock: Clock
  readonly #paint: Paint
  readonly #tree = emptyTree()
  readonly #screen = new Screen()
  readonly #messages = new MessageLines()
  readonly #answer = new LiveAnswer()
  readonly #stopWatching: () => void
  /** `asking`: a question uses the terminal. `stopped`: the process is in the background. */
  #state: 'open' | 'asking' | 'stopped' | 'closed' = 'open'
  #drawnAt = Number.NEGATIVE_INFINITY
  #cancelTimer: (() => void) | undefined
  /** The latest attempt with output, by agent. */
  readonly #lastAttempts = new Map<string, string>()

  constructor({ terminal, clock, paint }: LiveProgressOptions) {
    this.#terminal = terminal
    this.#clock = clock
    this.#paint = paint
    this.#stopWatching = terminal.watch((event) => this.#react(event))
  }

  recall(past: readonly InteractionEvent[]): void {
    applyPast(this.#tree, past)
    for (const event of past) this.#answer.take(event)
  }

  show(event: StreamEvent): undefined {
    applyEvent(this.#tree, event)
    this.#answer.take(event)
    if (event.type === 'interaction.item.delta' && this.#isFirstDelta(event)) this.#draw()
    else this.#drawSoon()
  }

  /** A question replaces the frame. The steps that led to it stay above it. */
  pause(): void {
    if (this.#state !== 'open') return
    this.#leave('erase')
    this.#state = 'asking'
    const { width } = this.#terminal.size
    const lines = this.#messages.next(this.#tree, { paint: this.#paint, width: Math.max(1, width - 1) })
    if (lines.length > 0) this.#terminal.write(lines.map((line) => `${line}\r\n`).join(''))
  }

  resume(): void {
    if (this.#state !== 'asking') return
    this.#state = 'open'
    this.#draw()
  }

  /** Shows the interruption before its event arrives. */
  interrupting(): void {
    showInterrupting(this.#tree)
    this.#draw()
  }

  close(how: 'erase' | 'keep'): void {
    if (this.#state === 'closed') return
    // The frame that stays must be current.
    if (how === 'keep') this.#draw()
    this.#leave(how)
    this.#state = 'closed'
    this.#stopWatching()
  }

  #isFirstDelta({ agentPath, stepId, attempt, kind }: ItemDelta): boolean {
    const attempted = `${stepId}/${attempt}`
    if (kind === 'progress' || this.#lastAttempts.get(agentPath) === attempted) return false
    this.#lastAttempts.set(agentPath, attempted)
    return true
  }

  #react(event: TerminalEvent): void {
    switch (event.kind) {
      case 'resized':
        this.#draw()
        break
      case 'before-write':
        this.#leave('erase')
        break
      case 'after-write':
        if (event.isMidLine && this.#state === 'open') this.#terminal.write('\r\n')
        this.#draw()
        break
      case 'pausing':
        this.#leave('keep')
        if (this.#state === 'open') this.#state = 'stopped'
        break
      case 'resumed':
        if (this.#state === 'stopped') this.#state = 'open'
        // The shell may have written in between: the old frame is left as it is.
        this.#leave('keep')
        this.#draw()
        break
      case 'closing':
        this.close('keep')
        break
      default:
        event satisfies never
    }
  }

  #drawSoon(): void {
    if (this.#cancelTimer || this.#state !== 'open') return
    const wait = this.#drawnAt + frameMs - this.#clock.monotonic()
    if (wait <= 0) this.#draw()
    else this.#cancelTimer = this.#clock.after(wait, () => this.#draw())
  }

  #draw(): void {
    this.#stopTimer()
    if (this.#state !== 'open') return
    const { size } = this.#terminal
    const frame = this.#frame(size)
    const text = this.#screen.draw(frame, size)
    if (text !== '') this.#terminal.write(text)
    // An empty frame does not delay the first one.
    if (frame.length > 0) this.#drawnAt = this.#clock.monotonic()
    if (isAnimated(this.#tree)) this.#drawSoon()
  }

  /** The tree, and below it the end of the streamed text. */
  #frame({ width, height }: Size): readonly string[] {
    const maxRows = frameRows(height)
    const answer = this.#answer.lines({ width: Math.max(1, width - 1), maxLines: Math.max(1, maxRows - treeRows), paint: this.#paint })
    const rows = answer.length > 0 ? maxRows - answer.length - 1 : maxRows
    const view = { width, height: rows + 1, now: this.#clock.now(), paint: this.#paint, hidesText: answer.length > 0 }
    const tree = liveFrame(this.#tree, view)
    return answer.length > 0 ? [...tree, '', ...answer] : tree
  }

  #leave(how: 'erase' | 'keep'): void {
    this.#stopTimer()
    const text = this.#screen.leave(how, this.#terminal.size)
    if (text !== '') this.#terminal.write(text)
  }

  #stopTimer(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }
}
