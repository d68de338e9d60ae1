import { expect, test } from 'vitest'
import type { ApprovalDecision } from '../../contracts/index.ts'
import type { CallNode, RequestNode } from '../../view/index.ts'
import { personWords } from './person-words.ts'

const asked = (...decisions: readonly (ApprovalDecision | undefined)[]): Pick<CallNode, 'asked' | 'permit'> => ({
  asked: decisions.map((decision) => ({ at: 1, ...(decision && { answer: { at: 2, by: 'anna', decision } }) }) as RequestNode),
})

test.each<[string, Pick<CallNode, 'asked' | 'permit'>, ReturnType<typeof personWords>]>([
  ['nothing was asked', asked(), undefined],
  ['nobody has answered yet', asked(undefined), undefined],
  ['an approval', asked({ kind: 'approve', breadth: 'once' }), undefined],
  ['a denial without a reason', asked({ kind: 'deny' }), undefined],
  ['a denial with blanks', asked({ kind: 'deny', feedback: ' ' }), undefined],
  ['a denial with a reason', asked({ kind: 'deny', feedback: 'not today' }), { kind: 'denial', text: 'not today', by: 'anna' }],
  ['an answer', asked({ kind: 'answer', text: 'in Oslo' }), { kind: 'answer', text: 'in Oslo', by: 'anna' }],
  [
    'a form',
    asked({ kind: 'answer', text: '', content: { city: 'Oslo', days: 2 } }),
    { kind: 'answer', text: 'city: Oslo, days: 2', by: 'anna' },
  ],
  [
    'the last one',
    asked({ kind: 'approve', breadth: 'once' }, { kind: 'answer', text: 'yes' }),
    { kind: 'answer', text: 'yes', by: 'anna' },
  ],
  ['an answer of the journal', { asked: [], permit: { kind: 'answered', text: 'yes' } }, { kind: 'answer', text: 'yes' }],
])('%s', (_name, call, expected) => {
  expect(personWords(call)).toEqual(expected)
})
