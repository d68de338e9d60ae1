import { expect, it } from 'vitest'
import { stem } from './stem.ts'

it.each([
  ['train', 'trains', "train's"],
  ['file', 'files'],
  ['summarise', 'summariser', 'summarised', 'summarizing', 'summarizes'],
  ['calculate', 'calculator', 'calculation', 'calculating'],
  ['search', 'searches', 'searching', 'searched'],
  ['city', 'cities'],
  ['run', 'running', 'runs'],
  ['recursive', 'recursively'],
  ['email', 'e-mail', 'mails'],
  ['research', 'researcher', 'researchers'],
])('%s has the same stem as its other forms', (word, ...forms) => {
  expect(forms.map(stem)).toEqual(forms.map(() => stem(word)))
})

it('keeps different words apart', () => {
  const words = ['weather', 'train', 'trail', 'read', 'write', 'list', 'less', 'status', 'task', 'mail', 'in', 'as', 'is']
  expect(new Set(words.map(stem)).size).toBe(words.length)
})
