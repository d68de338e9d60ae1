import { expect, test } from 'vitest'
import { TroupeError } from '../../../contracts/index.ts'
import { withRehearsal } from './rehearsal-remedy.ts'

const start = { file: 'a.ai', isTeam: false, places: ['one.env (not there)', 'the environment'] }
const message = 'Not found in the environment or in these files: one.env (not there).'

test('a missing key: the error lists where it was searched', () => {
  const error = new TroupeError('model_key_missing', 'The model m needs a key, and A_API_KEY, B_API_KEY is not set.')
  expect(withRehearsal(error, start).problems).toEqual([{ place: 'A_API_KEY, B_API_KEY', message }])
})

test('no model found: the error lists where keys were searched', () => {
  expect(withRehearsal(new TroupeError('model_unavailable', 'No.'), start).problems).toEqual([{ place: 'keys', message }])
})

test('an empty key was found: the error does not list where it was searched', () => {
  const error = new TroupeError('model_key_missing', 'The model m needs a key, and A_API_KEY is empty.')
  expect(withRehearsal(error, start).problems).toEqual([])
})

test('an unknown model name: the error does not mention keys', () => {
  const { problems, remedy } = withRehearsal(new TroupeError('model_unknown', 'No.'), start)
  expect(problems).toEqual([])
  expect(remedy).toContain('troupe run a.ai "…" --model rehearsal')
})
