import { expect, test } from 'vitest'
import { TroupeError } from '../../contracts/index.ts'
import { withRehearsal } from './rehearsal-remedy.ts'

const start = { file: 'a.ai', isTeam: false, places: ['one.env (not there)', 'the environment'] }
const places = { place: 'variables', message: 'Searched: one.env (not there), the environment.' }

test.each(['model_key_missing', 'model_unavailable'] as const)('%s: where keys were looked for is told', (code) => {
  expect(withRehearsal(new TroupeError(code, 'No.'), start).problems).toEqual([places])
})

test('a name that there is not has nothing to do with keys', () => {
  const { problems, remedy } = withRehearsal(new TroupeError('model_unknown', 'No.'), start)
  expect(problems).toEqual([])
  expect(remedy).toContain('troupe run a.ai "…" --model rehearsal')
})
