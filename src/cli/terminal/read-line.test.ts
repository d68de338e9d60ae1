import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { FakeClock } from '../../testing/index.ts'
import type { Host } from './process-host.ts'
import { discardTyped, nextLine } from './read-line.ts'

describe('several questions, one after the other', () => {
  test('what was typed before each is no answer to it', async () => {
    const input = new PassThrough() as unknown as Host['stdin'] & PassThrough
    const clock = new FakeClock()
    for (const [before, answer] of [
      ['early\n', 'y\n'],
      ['y\ny\n', 'n\n'],
      ['y\n', 'yes\n'],
    ] as const) {
      input.write(before)
      const forgotten = discardTyped(input, clock)
      await clock.elapse(20)
      await forgotten
      const typed = nextLine(input)
      input.write(answer)
      expect(await typed).toEqual({ kind: 'line', text: answer.trim() })
    }
  })

  test('is asked for as long as something can come', async () => {
    const input = new PassThrough() as unknown as Host['stdin'] & PassThrough
    input.end('y\n')
    expect(await nextLine(input)).toEqual({ kind: 'line', text: 'y' })
    await discardTyped(input, new FakeClock())
    expect(await nextLine(input)).toEqual({ kind: 'end' })
  })
})
