import headless from '@xterm/headless'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fitWidth } from '../terminal/text-width.ts'
import { Screen, type Size } from './screen.ts'

const bold = (text: string): string => `\u001b[1m${text}\u001b[22m`
const size: Size = { width: 20, height: 10 }

describe('written output', () => {
  test('nothing, where nothing differs', () => {
    const screen = new Screen()
    screen.draw(['a', 'b'], size)
    expect(screen.draw(['a', 'b'], size)).toBe('')
  })

  test('only the rows that differ', () => {
    const screen = new Screen()
    screen.draw(['first', 'second', 'third', 'fourth'], size)
    const text = screen.draw(['first', 'SECOND', 'third', 'FOURTH'], size)
    expect(text).toBe('\u001b[?2026h\u001b[?7l\r\u001b[K\u001b[3ASECOND\u001b[K\r\u001b[2BFOURTH\u001b[K\r\u001b[1B\u001b[?7h\u001b[?2026l')
  })

  test('the cursor is hidden once, and shown in the end', () => {
    const screen = new Screen()
    expect(screen.draw(['a'], size)).toContain('\u001b[?25l')
    expect(screen.draw(['b'], size)).not.toContain('\u001b[?25l')
    expect(screen.leave('keep', size)).toBe('\u001b[?25h')
    expect(screen.leave('erase', size)).toBe('')
  })

  test('no picture, no escape', () => {
    const screen = new Screen()
    expect([screen.draw([], size), screen.leave('erase', size)]).toEqual(['', ''])
  })
})

/** A terminal with a line on it already, and what it shows from a row on. */
function terminal({ width, height }: Size) {
  const terminal = new headless.Terminal({ cols: width, rows: height, allowProposedApi: true })
  // tmux and others move a display that is erased from its first row on into the scrollback.
  terminal.parser.registerCsiHandler({ final: 'J' }, () => {
    const { cursorX, cursorY } = terminal.buffer.active
    if (cursorX === 0 && cursorY === 0) throw new Error('The display is erased from its first row on.')
    return false
  })
  const write = (text: string): Promise<void> => new Promise((resolve) => terminal.write(text, resolve))
  const row = (y: number): string => terminal.buffer.active.getLine(terminal.buffer.active.baseY + y)?.translateToString(true) ?? ''
  return {
    terminal,
    write,
    /** Rows from the top of the window to its end. */
    rows: (): readonly string[] => Array.from({ length: terminal.rows }, (_, y) => row(y)),
    cursor: () => ({ x: terminal.buffer.active.cursorX, y: terminal.buffer.active.cursorY }),
  }
}

const plain = (line: string): string => line.replaceAll('\u001b[1m', '').replaceAll('\u001b[22m', '')

/** The picture stands right above the cursor, below it there is nothing. */
function expectShown(shown: ReturnType<typeof terminal>, frame: readonly string[]): void {
  const { x, y } = shown.cursor()
  const rows = shown.rows()
  expect(x).toBe(0)
  expect(rows.slice(y - frame.length, y)).toEqual(frame.map(plain))
  expect(rows.slice(y).join('')).toBe('')
}

describe('any terminal shows exactly the last picture', () => {
  const words = fc
    .array(fc.constantFrom('a', 'bc', ' ', '日', '本語', 'e\u0301', 'x', '│', '✓', '⠋'), { maxLength: 30 })
    .map((parts) => parts.join(''))
  const emoji = fc.constantFrom('🎉', '👍🏽', '❤️', '👨‍👩‍👧', '🇳🇴')
  const frameOf = (line: fc.Arbitrary<string>) => fc.array(fc.tuple(line, fc.boolean()), { maxLength: 12 })
  const sizes = fc.record({ width: fc.integer({ min: 2, max: 40 }), height: fc.integer({ min: 2, max: 14 }) })
  const cut = (lines: readonly [string, boolean][], { width, height }: Size): string[] =>
    lines.slice(0, height - 1).map(([line, isBold]) => {
      const text = fitWidth(line, width - 1).trimEnd()
      return isBold ? bold(text) : text
    })

  test('whatever the pictures are', async () => {
    const frames = fc.array(frameOf(fc.oneof(words, emoji)), { minLength: 1, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(sizes, frames, async (window, drawn) => {
        const screen = new Screen()
        const shown = terminal(window)
        await shown.write('-\r\n')
        for (const lines of drawn) {
          const frame = cut(lines, window)
          await shown.write(screen.draw(frame, window))
          expectShown(shown, frame)
        }
        await shown.write(screen.leave('erase', window))
        expect(shown.rows().slice(shown.cursor().y).join('')).toBe('')
        shown.terminal.dispose()
      }),
      { numRuns: 150 },
    )
  })

  test('whatever size the window gets', async () => {
    const frames = fc.array(fc.tuple(sizes, frameOf(words)), { minLength: 2, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(frames, async (drawn) => {
        const screen = new Screen()
        const shown = terminal(drawn[0]?.[0] ?? size)
        for (const [window, lines] of drawn) {
          shown.terminal.resize(window.width, window.height)
          const frame = cut(lines, window)
          await shown.write(screen.draw(frame, window))
          expectShown(shown, frame)
        }
        shown.terminal.dispose()
      }),
      { numRuns: 150 },
    )
  })

  test('nothing of an older picture is left, and nothing else is lost, when the window gets wider or narrower', async () => {
    const height = 80
    const frames = fc.array(fc.tuple(fc.integer({ min: 10, max: 40 }), frameOf(words)), { minLength: 2, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(frames, async (drawn) => {
        const screen = new Screen()
        const shown = terminal({ width: 40, height })
        await shown.write('before\r\n')
        for (const [width, lines] of drawn) {
          shown.terminal.resize(width, height)
          const frame = cut(lines, { width, height })
          await shown.write(screen.draw(frame, { width, height }))
          expectShown(shown, frame)
          expect(shown.rows().slice(0, shown.cursor().y - frame.length)).toEqual(['before'])
        }
        shown.terminal.dispose()
      }),
      { numRuns: 100 },
    )
  })

  test('a line that is longer than the window is one row: what is above the picture stays', async () => {
    const screen = new Screen()
    const shown = terminal(size)
    await shown.write('before\r\n')
    await shown.write(screen.draw(['a line of more than twenty columns', 'two'], size, { row: 1, column: 0 }))
    await shown.write(`${screen.leave('erase', size)}after`)
    expect(shown.rows().slice(0, 3)).toEqual(['before', 'after', ''])
  })

  test('what was typed into the window meanwhile is gone with the next picture', async () => {
    const screen = new Screen()
    const shown = terminal(size)
    await shown.write(screen.draw(['one', 'two'], size))
    await shown.write('^Cabc')
    await shown.write(screen.draw(['one', 'three'], size))
    expectShown(shown, ['one', 'three'])
  })
})
