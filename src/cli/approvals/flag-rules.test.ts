import { expect, test } from 'vitest'
import { patternProblems } from './flag-rules.ts'

test('patterns behind a flag are what they are everywhere else', () => {
  expect(patternProblems('--allow', ['write_file', 'shell(npm test)', 'shell(a\nb)', 'github/*'])).toEqual([])
  expect(patternProblems('--deny', ['shell(rm', 'shell(a\0b)', '', 'web_fetch'])).toMatchObject([
    { place: '--deny shell(rm', message: 'It is no pattern.' },
    { place: '--deny shell(a\0b)', message: 'It is no pattern.' },
    { place: '--deny ', message: 'It is no pattern.' },
  ])
})
