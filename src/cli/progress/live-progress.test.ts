import { describe, expect, test } from 'vitest'
import { Story } from '../../../test/fixtures/run-story.ts'
import { Window } from '../../../test/fixtures/terminal-window.ts'
import { FakeClock } from '../../testing/index.ts'
import { plainPaint } from '../terminal/paint.ts'
import { LiveProgress } from './live-progress.ts'

function opened(size?: { width: number; height: number }) {
  const clock = new FakeClock(0)
  const window = new Window(size)
  const live = new LiveProgress({ terminal: window, clock, paint: plainPaint })
  const show = ({ events }: Story): void => {
    for (const event of events.splice(0)) live.show(event)
  }
  return { clock, window, live, show }
}

describe('when it is drawn (1, 2, 3)', () => {
  test('the first event is shown immediately, later ones in the same frame', () => {
    const { clock, window, show } = opened()
    show(new Story().begins().asks(0, 1).answers(0, 1).calls(0, 1, { id: '1' }))
    expect(window.written).toHaveLength(1)
    clock.advance(79)
    expect(window.written).toHaveLength(1)
    clock.advance(1)
    expect(window.written).toHaveLength(2)
  })

  test('the first token of an attempt is shown immediately, further ones wait', async () => {
    const { clock, window, show } = opened()
    const story = new Story().begins().asks(0, 1)
    show(story)
    clock.advance(90)
    const before = window.written.length
    show(story.says(1, 'Hel'))
    expect(window.written).toHaveLength(before + 1)
    expect((await window.rows()).at(-1)?.trim()).toBe('Hel')
    for (let i = 0; i < 1000; i++) show(story.says(1, 'lo '))
    expect(window.written).toHaveLength(before + 1)
    expect(clock.pending).toBe(1)
    clock.advance(80)
    expect(window.written).toHaveLength(before + 2)
    show(story.fails(200, 1).asks(1200, 1, { attempt: 2 }).says(1, 'Again', { attempt: 2 }))
    expect(window.written.at(-1)).toContain('Again')
  })

  test('agents that speak at the same time do not hurry each other', () => {
    const { window, show } = opened()
    const stories = [
      new Story('root').begins().asks(0, 1),
      new Story('root/a#1').begins().asks(0, 1),
      new Story('root/b#2').begins().asks(0, 1),
    ]
    for (const story of stories) show(story.says(1, 'a'))
    const before = window.written.length
    for (let i = 0; i < 100; i++) for (const story of stories) show(story.says(1, 'b'))
    expect(window.written).toHaveLength(before)
  })

  test('at most fifteen pictures a second, and none once nothing moves', () => {
    const { clock, window, show } = opened()
    const story = new Story().begins().asks(0, 1)
    show(story)
    const before = window.written.length
    clock.advance(10_000)
    const pictures = window.written.length - before
    expect(pictures).toBeGreaterThan(100)
    expect(pictures).toBeLessThanOrEqual(150)
    show(story.answers(10_000, 1).over(10_000))
    clock.advance(200)
    expect(clock.pending).toBe(0)
    const after = window.written.length
    clock.advance(10_000)
    expect(window.written).toHaveLength(after)
  })

  test('nothing is written before there is something to show', () => {
    const { clock, window, live } = opened()
    clock.advance(1000)
    live.close('erase')
    expect([window.written, clock.pending]).toEqual([[], 0])
  })
})

describe('the window', () => {
  test('is left as it was found, or with the last picture on it (5)', async () => {
    const { window, live, show, clock } = opened()
    window.intrude('before\n')
    show(new Story().begins().asks(0, 1))
    expect(window.isCursorHidden).toBe(true)
    live.close('erase')
    expect(await window.rows()).toEqual(['before'])
    expect([window.isCursorHidden, window.watchers, clock.pending]).toEqual([false, 0, 0])

    const other = opened()
    other.show(new Story().begins().asks(0, 1))
    other.live.close('keep')
    expect((await other.window.rows()).length).toBe(2)
    expect([other.window.isCursorHidden, other.clock.pending]).toEqual([false, 0])
  })

  test('is cleared for other output, and drawn again below (4)', async () => {
    const { window, show } = opened()
    show(new Story().begins())
    window.intrude('a warning\n')
    window.intrude('half a line')
    const rows = await window.rows()
    expect(rows.slice(0, 2)).toEqual(['a warning', 'half a line'])
    expect(rows.slice(2)).toEqual([expect.stringContaining('root  starting')])
  })

  test('may change its size at any time', async () => {
    const { window, show, clock } = opened({ width: 70, height: 12 })
    const story = new Story().begins().asks(0, 1).answers(0, 1)
    for (const id of ['1', '2', '3', '4'])
      story.calls(0, 1, { id, tool: 'a_tool_with_a_long_name', title: 'and a title that is long as well' })
    show(story)
    clock.advance(80)
    for (const size of [
      { width: 30, height: 12 },
      { width: 90, height: 12 },
      { width: 40, height: 5 },
      { width: 50, height: 14 },
    ]) {
      window.resize(size)
      const rows = await window.rows()
      const shown = rows.slice(rows.findLastIndex((row) => row.includes(' root  ')))
      expect(shown.length).toBeLessThan(size.height)
      expect(shown[0]).toMatch(/^\S root {2}/)
      expect(shown.at(-1)).toMatch(/└─/)
    }
  })

  test('gets its cursor back when the process ends (5)', () => {
    const { window, show } = opened()
    show(new Story().begins())
    window.happens({ kind: 'closing' })
    expect([window.isCursorHidden, window.watchers]).toEqual([false, 0])
  })

  test('is left alone in the background', async () => {
    const { window, show, clock } = opened()
    show(new Story().begins())
    window.happens({ kind: 'pausing' })
    expect([window.isCursorHidden, clock.pending]).toEqual([false, 0])
    const before = window.written.length
    show(new Story().asks(0, 1))
    clock.advance(1000)
    expect(window.written).toHaveLength(before)
    window.happens({ kind: 'resumed' })
    expect(window.isCursorHidden).toBe(true)
    expect((await window.rows()).at(-1)).toContain('step 1')
  })
})

test('during a question nothing is drawn; then the tree is drawn again below', async () => {
  const { window, live, show, clock } = opened()
  show(new Story().begins())
  live.pause()
  expect([window.isCursorHidden, clock.pending]).toEqual([false, 0])
  const before = window.written.length
  window.intrude('? Write a.txt\n> ')
  show(new Story().asks(0, 1))
  for (const kind of ['pausing', 'resumed', 'resized'] as const) window.happens({ kind })
  clock.advance(1000)
  expect(window.written).toHaveLength(before)
  live.resume()
  expect(window.isCursorHidden).toBe(true)
  expect((await window.rows()).join('\n')).toMatch(/^\? Write a\.txt\n[\s\S]*step 1/)
})

test('a requested end is shown immediately', () => {
  const { window, live, show } = opened()
  show(new Story().begins())
  live.interrupting()
  expect(window.written.at(-1)).toContain('interrupting…')
})
