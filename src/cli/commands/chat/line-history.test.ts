import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { redactor } from '../../../util/redact.ts'
import { LineHistory } from './line-history.ts'

const folder = mkdtempSync(join(tmpdir(), 'troupe-history-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const path = join(folder, 'chat-history.json')
const { text } = redactor({ LAB_TOKEN: 'tok-12345678' })

test('lines are kept without secrets, bounded, for this user only; a draft comes back', () => {
  const history = new LineHistory(folder, text)
  for (let i = 0; i < 600; i++) history.add(`line ${i}`)
  history.add('x'.repeat(5_000))
  history.add('use tok-12345678')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const { lines } = JSON.parse(readFileSync(path, 'utf8'))
  expect([lines.length, lines.at(-1), lines[0]]).toEqual([500, 'use [redacted:LAB_TOKEN]', 'line 101'])
  const later = new LineHistory(folder, text)
  expect([later.move(1, 'draft'), later.move(-1, 'draft'), later.move(-1, ''), later.move(1, ''), later.move(1, '')]).toEqual([
    undefined,
    'use [redacted:LAB_TOKEN]',
    'line 599',
    'use [redacted:LAB_TOKEN]',
    'draft',
  ])
})

test('a damaged file is an empty history', () => {
  writeFileSync(path, '{"lines": [1, "a"')
  const history = new LineHistory(folder, text)
  expect(history.move(-1, '')).toBeUndefined()
  history.add('again')
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ lines: ['again'] })
})
