/*
 * The picture of a run while it goes on.
 *
 * 1. At most one picture in `frameMs`, save the first sign of life of an attempt, which is shown at once.
 * 2. An event marks the picture as old, and no more; it is drawn when its time has come.
 * 3. While nothing moves there is no timer.
 * 4. Whoever else writes to the window finds it without the picture, which comes back below what was written.
 * 5. The picture takes at most a third of the window. A terminal that becomes narrower breaks each of its lines in two. A window
 *    that becomes a quarter lower as well still holds all of them, and nothing gets into the scrollback, where it cannot be erased.
 * 6. After `close`, or when the process ends in whatever way it can notice, the cursor is there again.
 */
import type { Clock, InteractionEvent, ItemDelta, StreamEvent } from '../../contracts/index.ts'
import { applyEvent, applyPast, emptyTree, showInterrupting } from '../../view/index.ts'
import type { Paint } from '../terminal/paint.ts'
import { spinnerMs } from '../tree/tree-row.ts'
import { LiveAnswer } from './live-answer.ts'
import { isAnimated, liveFrame } from './live-frame.ts'
import { MessageLines } from './message-lines.ts'
import { Screen, type Size } from './screen.ts'
import type { Terminal, TerminalEvent } from './terminal.ts'

interface LiveProgressOptions {
  readonly terminal: Terminal
  readonly clock: Clock
  readonly paint: Paint
}

/** One picture of the spinner each: about twelve a second. */
const frameMs = spinnerMs

const minRows = 4
const frameRows = (height: number): number => Math.max(0, Math.min(height - 1, Math.max(minRows, Math.floor((height - 2) / 3))))
/** So many rows are left to the tree, and an empty one below it, while the agent says something. */
const treeRows = 3

export class LiveProgress {
  readonly #terminal: Terminal
  readonly #clock: Clock
  readonly #paint: Paint
  readonly #tree = emptyTree()
  readonly #screen = new Screen()
  readonly #messages = new MessageLines()
  readonly #answer = new LiveAnswer()
  readonly #stopWatching: () => void
  /** `asking`: the window is somebody else's. `stopped`: the process is in the background. */
  #state: 'open' | 'asking' | 'stopped' | 'closed' = 'open'
  #drawnAt = Number.NEGATIVE_INFINITY
  #cancelTimer: (() => void) | undefined
  /** By agent, the attempt that was heard last. */
  readonly #lastAttempts = new Map<string, string>()

  constructor({ terminal, clock, paint }: LiveProgressOptions) {
    this.#terminal = terminal
    this.#clock = clock
    this.#paint = paint
    this.#stopWatching = terminal.watch((event) => this.#react(event))
  }

  /** What had happened before, of a run that is taken up. */
  recall(past: readonly InteractionEvent[]): void {
    applyPast(this.#tree, past)
    for (const event of past) this.#answer.take(event)
  }

  show(event: StreamEvent): void {
    applyEvent(this.#tree, event)
    this.#answer.take(event)
    if (event.type === 'interaction.item.delta' && this.#isFirstDelta(event)) this.#draw()
    else this.#drawSoon()
  }

  /** A question takes the place of the picture, which comes back below it. What has led to it stays above it. */
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

  /** Somebody has asked for an early end; the run will tell when it has heard of it. */
  interrupting(): void {
    showInterrupting(this.#tree)
    this.#draw()
  }

  close(how: 'erase' | 'keep'): void {
    if (this.#state === 'closed') return
    // What stays is the last word.
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
        // Whatever was on the window belongs to the past.
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
    // An empty picture is none: the first one comes at once.
    if (frame.length > 0) this.#drawnAt = this.#clock.monotonic()
    if (isAnimated(this.#tree)) this.#drawSoon()
  }

  /** The tree, and below it the end of what the root agent is saying. */
  #frame({ width, height }: Size): readonly string[] {
    const most = frameRows(height)
    const answer = this.#answer.lines({ width: Math.max(1, width - 1), most: Math.max(1, most - treeRows), paint: this.#paint })
    const rows = answer.length > 0 ? most - answer.length - 1 : most
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
