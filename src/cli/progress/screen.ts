// Turns frames into terminal output.
//
// 1. Between two writes the cursor is hidden at the beginning of the row below the frame. Other output (an echoed key, a stack
//    trace) appears there and not in the frame.
// 2. Only rows that differ are written.
// 3. The terminal does not wrap lines, even if it measures the width of a character differently.
// 4. The screen is never erased from its first row on: tmux and others move a screen that is erased from there into the
//    scrollback. The first row of a frame is erased as a line, the rows below it as the rest of the screen.
// 5. Modes that are switched on are switched off in the same output; only the cursor stays hidden until `leave`.
// 6. A frame that a person types into has the cursor at a place of its own, where it is visible. Otherwise 2 to 5 apply. After a resize
//    only the rows above the cursor can be relied on: terminals remove rows below it when they become lower.
import { breakAtWidth } from '../terminal/exact-text.ts'
import { withoutStyles } from '../terminal/paint.ts'

const csi = '\u001b['
const hideCursor = `${csi}?25l`
const showCursor = `${csi}?25h`
/** Synchronized output, which other terminals ignore. Lines are cut, not wrapped. */
const begin = `${csi}?2026h${csi}?7l\r`
const end = `${csi}?7h${csi}?2026l`
const eraseLine = `${csi}K`
const eraseBelow = `${csi}J`
/** Erases a frame from its first row on (4). The row below it exists: the cursor was in it. */
const eraseFrame = (rows: number): string => (rows > 0 ? `${csi}K${csi}1B${csi}J${csi}1A` : eraseLine)
const up = (rows: number): string => (rows > 0 ? `${csi}${rows}A` : '')
const down = (rows: number): string => (rows > 0 ? `${csi}${rows}B` : '')
const right = (columns: number): string => (columns > 0 ? `${csi}${columns}C` : '')

export interface Size {
  readonly width: number
  readonly height: number
}

/** A place in a frame. Both begin at 0. */
export interface CursorPlace {
  readonly row: number
  readonly column: number
}

export class Screen {
  #lines: readonly string[] = []
  #cursor: CursorPlace | undefined
  #size: Size | undefined
  #isCursorHidden = false

  /** The output that replaces the last frame by this one. `cursor`: where the person types. */
  draw(frame: readonly string[], size: Size, cursor?: CursorPlace): string {
    const isResized = this.#size !== undefined && (this.#size.width !== size.width || this.#size.height !== size.height)
    const change = isResized ? this.#redrawn(frame, size) : this.#changed(frame)
    const back = isResized ? '' : this.#belowFrame()
    const isMoved = this.#cursor?.row !== cursor?.row || this.#cursor?.column !== cursor?.column
    this.#lines = frame
    this.#size = size
    this.#cursor = cursor
    if (change === '' && !isMoved) return ''
    const hide = this.#isCursorHidden ? '' : hideCursor
    const place = cursor ? `${up(frame.length - cursor.row)}${right(cursor.column)}${showCursor}` : ''
    this.#isCursorHidden = cursor === undefined
    return `${hide}${begin}${back}${change}${place}${end}`
  }

  /** The output that erases the frame, with the cursor where it began, or keeps it. */
  leave(how: 'erase' | 'keep', size: Size): string {
    const isErased = how === 'erase' && this.#lines.length > 0
    const text = isErased ? `\r${this.#erased(size)}` : this.#belowFrame()
    const show = this.#isCursorHidden ? showCursor : ''
    this.#lines = []
    this.#size = undefined
    this.#cursor = undefined
    this.#isCursorHidden = false
    return `${text}${show}`
  }

  #belowFrame(): string {
    return this.#cursor ? `${down(this.#lines.length - this.#cursor.row)}\r` : ''
  }

  #changed(frame: readonly string[]): string {
    const before = this.#lines
    const common = Math.min(before.length, frame.length)
    let text = ''
    let row = before.length
    const go = (to: number): void => {
      text += to < row ? up(row - to) : down(to - row)
      row = to
    }
    for (let i = 0; i < common; i++) {
      if (frame[i] === before[i]) continue
      go(i)
      text += `${frame[i]}${eraseLine}\r`
    }
    if (text === '' && before.length === frame.length) return ''
    go(common)
    if (before.length > common) text += common === 0 ? eraseFrame(before.length) : eraseBelow
    // A line feed creates new rows and scrolls if necessary.
    for (const line of frame.slice(common)) text += `${line}${eraseLine}\r\n`
    // The user may have typed at the cursor.
    return `${eraseLine}${text}`
  }

  /** After a resize, no row is where it was. */
  #redrawn(frame: readonly string[], size: Size): string {
    return `${this.#erased(size)}${frame.map((line) => `${line}${eraseLine}\r\n`).join('')}`
  }

  #erased(size: Size): string {
    const rows = this.#rowsAboveCursor(size)
    return `${up(rows)}${eraseFrame(rows)}`
  }

  /** Rows of the last frame at this width: most terminals wrap lines again after a resize. They were cut when they were drawn (3). */
  #rowsAboveCursor({ width, height }: Size): number {
    const { row, column } = this.#cursor ?? { row: this.#lines.length, column: 0 }
    const drawn = this.#size?.width ?? width
    const shown = this.#lines.slice(0, row).map((line) => breakAtWidth(withoutStyles(line), drawn)[0] ?? '')
    const rows = shown.reduce((sum, line) => sum + breakAtWidth(line, width).length, Math.floor(column / width))
    return Math.min(rows, Math.max(0, height - 1))
  }
}
