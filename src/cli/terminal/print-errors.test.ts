import { expect, test } from 'vitest'
import { TroupeError } from '../../contracts/index.ts'
import { errorDocument } from '../commands/output/error-documents.ts'
import { colourPaint, plainPaint } from './paint.ts'
import { errorLines, troupeError } from './print-errors.ts'

const error = new TroupeError('agent_file_invalid', 'the agent file a.ai has 2 problems:\n  repeated here', {
  remedy: 'Mend it.',
  problems: [
    { place: 'a.ai:12:3', message: 'there is no setting `x`', line: '\tx: 1', remedy: 'Did you mean `y`?' },
    { place: '--json', message: 'It takes no value.' },
  ],
})

test('an error has a message, a place, the source line and a remedy', () => {
  expect(errorLines(error, plainPaint)).toEqual([
    'error: the agent file a.ai has 2 problems.',
    '',
    '  a.ai:12:3  There is no setting `x`.',
    '    12 │  x: 1',
    '       │   ^',
    '    → Did you mean `y`?',
    '',
    '  --json  It takes no value.',
    '',
    '→ Mend it.',
  ])
})

test('a very long line is shown around its place', () => {
  const problem = { place: 'a.ai:1:5001', message: 'wrong', line: `${'a'.repeat(5000)}!${'b'.repeat(5000)}` }
  const [, , , line = '', mark = ''] = errorLines({ message: 'wrong', remedy: undefined, problems: [problem] }, plainPaint)
  expect(line.length).toBeLessThan(120)
  expect(line[mark.indexOf('^')]).toBe('!')
})

test('nothing in an error can steer the terminal', () => {
  const evil = 'a\u001b[2Jb\u0007\u009b31mc\nd'
  const lines = errorLines(
    { message: evil, remedy: evil, problems: [{ place: `${evil}:1:1`, message: evil, line: evil, remedy: evil }] },
    plainPaint,
  )
  expect(lines.join('')).not.toMatch(/\p{Cc}/u)
  expect(errorLines({ message: 'x', remedy: undefined, problems: [] }, colourPaint)[0]).toContain('\u001b[31m')
})

test('as a document it has code, message, remedy, problems and exit code', () => {
  expect(errorDocument(error)).toEqual({
    ok: false,
    error: { code: 'agent_file_invalid', message: error.message, remedy: 'Mend it.', problems: error.problems },
    exitCode: 2,
  })
})

test('anything thrown becomes an error with a code', () => {
  expect(troupeError(error)).toBe(error)
  expect(errorDocument(troupeError(new TypeError('oops')))).toMatchObject({ error: { code: 'internal', message: 'oops' }, exitCode: 1 })
  expect(errorDocument(troupeError('oops'))).toMatchObject({ error: { code: 'internal', message: 'oops' } })
})
