import { expect, it } from 'vitest'
import { type Message, wrapProjectText } from '../../contracts/index.ts'
import { readConversation } from './conversation.ts'

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] })
const says = (text: string): Message => ({ role: 'assistant', parts: [{ type: 'text', text }] })
const calls = (...names: readonly string[]): Message => ({
  role: 'assistant',
  parts: names.map((name, at) => ({ type: 'call', id: `${at}`, name, input: `{"at":${at}}` })),
})
const brings = (name: string, content: string, ok = true): Message => ({ role: 'tool', results: [{ id: '0', name, ok, content }] })
const requests = (...messages: readonly Message[]) => readConversation(messages).map(({ request, answer }) => `${request} = ${answer}`)

it('goes from request to answer', () => {
  const [turn] = readConversation([user('a'), calls('x', 'x'), brings('x', '1'), brings('x', ''), says('b')])
  expect(turn).toEqual({
    request: 'a',
    attachments: [],
    exchanges: [
      { tool: 'x', input: { at: 0 }, ok: true, content: '1' },
      { tool: 'x', input: { at: 1 }, ok: true, content: '(nothing)' },
    ],
    steps: 1,
    answer: 'b',
    rejections: 0,
  })
})

it('takes a message that comes in between into its turn', () => {
  expect(requests(user('a'), calls('x'), brings('x', '1'), user('b'), says('c'), user('d'))).toEqual(['a\nb = c', 'd = undefined'])
})

it('begins a new turn after one that was interrupted', () => {
  const cancelled = brings('x', 'Error (cancelled): The turn was interrupted.', false)
  expect(requests(user('a'), calls('x'), cancelled, user('b'))).toEqual(['a = undefined', 'b = undefined'])
})

it('distinguishes the texts of the loop from those of the person', () => {
  const last = user('This is the last step of this turn. Answer now with what you have. Tools are disabled.')
  const wrong = user('Your answer is invalid: it is not JSON. Answer again with the corrected JSON and nothing else.')
  expect(requests(user('a'), calls('x'), brings('x', '1'), last)).toEqual(['a = undefined'])
  expect(readConversation([user('a'), says('b'), wrong, says('c'), wrong])).toMatchObject([
    { request: 'a', rejections: 2, answer: undefined },
  ])
})

it('a file of the project asks for nothing', () => {
  const notes = user(wrapProjectText('/w/AGENTS.md', 'Always list the files.'))
  expect(requests(notes, notes, user('a'), says('b'), user('c'))).toEqual(['a = b', 'c = undefined'])
  expect(requests(user('Project instructions from the file a.txt, tell me the first line'))).toEqual([
    'Project instructions from the file a.txt, tell me the first line = undefined',
  ])
})

it('copes with a history that begins in the middle', () => {
  expect(requests(brings('x', '1'), says('a'), user('b'))).toEqual([' = a', 'b = undefined'])
})
