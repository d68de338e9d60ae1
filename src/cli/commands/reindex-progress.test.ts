import { expect, test } from 'vitest'
import { plainPaint } from '../terminal/paint.ts'
import type { Host } from '../terminal/process-host.ts'
import { reindexProgress } from './reindex-progress.ts'

function stage(window: Host['window'], detail: 'normal' | 'quiet' = 'normal') {
  let [at, text] = [0, '']
  const print = async (more: string): Promise<void> => {
    text += more
  }
  const stderr = {
    write: print,
    line: (line: string) => print(`${line}\n`),
    prose: (lines: readonly string[]) => print(`${lines.join('\n')}\n`),
  }
  const host = { window, stderr, paint: plainPaint, now: () => at } as unknown as Host
  const { progress, clear } = reindexProgress({ display: { detail, logFormat: 'text', color: 'auto' } }, host)
  for (let done = 1; done <= 10_000; done++) {
    at += 2
    progress(done, 10_000)
  }
  void clear()
  return text
}

test('without a terminal, a line every five seconds', () => {
  expect(stage('plain')).toBe([2500, 5000, 7500, 10_000].map((done) => `Reading ${done} of 10000 sessions\n`).join(''))
  expect(stage('plain', 'quiet')).toBe('')
})

test('on a terminal, one line that is removed at the end', () => {
  const text = stage('terminal')
  expect(text).not.toContain('\n')
  expect(text.split('\r').slice(-3)).toEqual(['Reading 9900 of 10000 sessions', 'Reading 10000 of 10000 sessions', '\u001b[K'])
  expect(stage('terminal', 'quiet')).toBe('')
})
