import { expect, test } from 'vitest'
import { colourPaint } from './paint.ts'
import { wrapLine } from './wrap-line.ts'

test('a line that fits stays as it is', () => {
  expect(wrapLine('  place  what is wrong', 22)).toEqual(['  place  what is wrong'])
})

test('lines are broken between words, and continue below', () => {
  expect(wrapLine('error: The run abc-def-ghi waits for two answers.', 20)).toEqual([
    'error: The run',
    '  abc-def-ghi waits',
    '  for two answers.',
  ])
  expect(wrapLine('    → /a/very/long/path/to/a/file is gone', 20)).toEqual(['    →', '      /a/very/long/path/to/a/file', '      is gone'])
})

test('a command to copy gets its own line and is never broken', () => {
  const command = 'troupe run trip.ai --resume mwi4xpb0-07b74a6a-17e2-4fe4'
  expect(wrapLine(`Go on: ${command}`, 40)).toEqual(['Go on:', `  ${command}`])
  expect(wrapLine(`→ Go on with it there: cd /srv/work && ${command}`, 40)).toEqual([
    '→ Go on with it there:',
    `  cd /srv/work && ${command}`,
  ])
  expect(wrapLine(`  ${command}`, 40)).toEqual([`  ${command}`])
  expect(wrapLine(`    → ${command}`, 40)).toEqual([`    → ${command}`])
})

test('colours take no room, and lines of files keep their marks below them', () => {
  expect(wrapLine(`${colourPaint('red', 'error:')} It broke.`, 16)).toHaveLength(1)
  const [first = '', second = ''] = wrapLine(colourPaint('dim', 'one two three'), 8)
  expect([first, second]).toEqual(['\u001b[2mone two', '  three\u001b[22m'])
  const line = `${colourPaint('dim', '    12 │ ')}models: [a, b, c, d]`
  expect(wrapLine(line, 16)).toEqual([line])
})
