import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { Story } from '../../../test/fixtures/run-story.ts'
import type { InteractionEvent } from '../../contracts/index.ts'
import { FakeClock } from '../../testing/index.ts'
import type { DisplayOptions } from '../terminal/display-options.ts'
import { Output } from '../terminal/output.ts'
import { plainPaint } from '../terminal/paint.ts'
import type { Host } from '../terminal/process-host.ts'
import { openDisplay, type Progress, progressFor, showsTree } from './display.ts'

function shown(progress: 'plain' | 'json') {
  let text = ''
  const stderr = new Output(
    new Writable({
      write(chunk, _encoding, done) {
        text += chunk
        done()
      },
    }),
  )
  const display = openDisplay({ host: { stderr, paint: plainPaint } as Host, progress, clock: new FakeClock() })
  return { display, lines: () => text.split('\n').filter(Boolean) }
}

test.each(['plain', 'json'] as const)('%s: events during a question are shown after it, in order', async (progress) => {
  const { events } = new Story().begins().asks(0, 1).answers(1, 1).asks(2, 2).answers(3, 2)
  const straight = shown(progress)
  for (const event of events) await straight.display.show(event)
  const { display, lines } = shown(progress)
  for (const event of events.slice(0, 3)) await display.show(event)
  const before = lines()
  display.pause()
  for (const event of events.slice(3)) await display.show(event)
  expect(lines()).toEqual(before)
  display.resume()
  expect(lines()).toEqual(straight.lines())
  expect(lines().length).toBeGreaterThan(before.length)
})

test('events from before a resume are known, and not shown again', async () => {
  const { events } = new Story().begins().asks(0, 1).answers(1, 1).calls(2, 1, { id: '1', title: 'Look' }).ends(3, 1, { id: '1' })
  const { display, lines } = shown('plain')
  display.recall(events.slice(0, -1) as InteractionEvent[])
  expect(lines()).toEqual([])
  await display.show(events.at(-1)!)
  // The name of the call comes from the past.
  expect(lines()).toEqual(['  ✓ look_up 100 ms'])
})

test.each<[Pick<DisplayOptions, 'detail' | 'logFormat'>, Progress, Progress]>([
  [{ detail: 'normal', logFormat: 'text' }, 'live', 'plain'],
  [{ detail: 'verbose', logFormat: 'text' }, 'verbose', 'verbose'],
  [{ detail: 'normal', logFormat: 'json' }, 'json', 'json'],
  [{ detail: 'verbose', logFormat: 'json' }, 'json', 'json'],
  [{ detail: 'quiet', logFormat: 'text' }, 'none', 'none'],
  [{ detail: 'quiet', logFormat: 'json' }, 'none', 'none'],
])('%j: on a terminal %s, elsewhere %s', (display, onTerminal, elsewhere) => {
  expect([progressFor('terminal', display), progressFor('plain', display)]).toEqual([onTerminal, elsewhere])
})

test('the tree follows the output for people', () => {
  expect((['live', 'plain', 'verbose', 'json', 'none'] as const).filter(showsTree)).toEqual(['live', 'plain', 'verbose'])
})
