import { expect, it } from 'vitest'
import type { ApprovalRequest, Question } from '../../../contracts/index.ts'
import { formFields } from '../../../policy/form-fields.ts'
import type { NextLine } from '../../terminal/read-line.ts'
import { parseDecision } from './answer-choices.ts'
import { fillForm } from './form-answer.ts'
import { questionLines } from './question-lines.ts'

const form = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Your name\u001b[2J', description: 'As on your\npassport', minLength: 2 },
    mail: { type: 'string', format: 'email' },
    age: { type: 'integer', minimum: 0, maximum: 150, default: 30 },
    rate: { type: 'number' },
    ok: { type: 'boolean', default: true },
    size: { type: 'string', enum: ['s', 'm'], enumNames: ['Small', 'Medium'] },
    kind: { type: 'string', oneOf: [{ const: 'a', title: 'First' }, { const: 'b' }] },
    tags: { type: 'array', items: { type: 'string', enum: ['x', 'y', 'z'] }, minItems: 1, maxItems: 2 },
  },
  required: ['name', 'size', 'tags'],
}
const paint = (_: unknown, text: string) => text
const request = (question: Question) => ({ question, tool: 'srv__t', input: {}, keys: [], scope: 'question' }) as unknown as ApprovalRequest

async function fill(...typed: readonly string[]) {
  const shown: string[] = []
  const lines: NextLine[] = [...typed.map((text) => ({ kind: 'line', text }) as const), { kind: 'end' }]
  const note = async (line: string): Promise<void> => void shown.push(line)
  const result = await fillForm(form, { show: note, hint: note, read: async () => lines.shift()! })
  return { result, shown }
}

it('asks field by field, takes numbers, labels and defaults, skips optional fields, and repeats a field that is wrong', async () => {
  const { result, shown } = await fill(
    'A',
    'Ann',
    'nowhere',
    'a@b.org',
    '1.5',
    '200',
    '',
    '2.5',
    'maybe',
    'no',
    '3',
    'Medium',
    '',
    'x, q',
    'x,y,z',
    '1, z',
  )
  expect(result).toEqual({
    kind: 'answer',
    text: '',
    content: { name: 'Ann', mail: 'a@b.org', age: 30, rate: 2.5, ok: false, size: 'm', tags: ['x', 'z'] },
  })
  expect(shown).toMatchInlineSnapshot(`
    [
      "An empty line takes the default, or skips an optional field. /cancel cancels the form.",
      "Your name<U+001B>[2J: text (at least 2 characters, required)",
      "Expected at least 2 characters.",
      "mail: email (optional)",
      "Expected an email address.",
      "age: integer (0 to 150, optional, default 30)",
      "Expected an integer.",
      "Expected at most 150.",
      "rate: number (optional)",
      "ok: yes or no (optional, default yes)",
      "Expected yes or no.",
      "size: one of 1 Small [s], 2 Medium [m] (required)",
      "Expected one of s, m.",
      "kind: one of 1 First [a], 2 b (optional)",
      "tags: some of 1 x, 2 y, 3 z (comma-separated, 1 to 2, required)",
      "Expected a list with some of x, y, z.",
      "Expected at most 2 choices.",
    ]
  `)
})

it('a required field cannot be skipped; /cancel and the end of the input leave the form', async () => {
  expect((await fill('')).shown.at(-1)).toBe('A value is required.')
  expect((await fill('Ann', '/cancel')).result).toEqual({ kind: 'deny', cancel: true })
  expect((await fill('Ann')).result).toEqual({ kind: 'end' })
})

it('shows fields, the asker and the host, with visible control characters', () => {
  const style = { paint, width: 76 }
  const lines = questionLines({ request: request({ text: 'Who are you?\u001b[1A', form, from: 'crm' }), label: '' }, style)
  expect(lines.join('\n')).toMatchInlineSnapshot(`
    "? Who are you?<U+001B>[1A
      asked by crm
      │ Your name<U+001B>[2J (name): text (at least 2 characters, required)
      │   As on your
      │   passport
      │ mail: email (optional)
      │ age: integer (0 to 150, optional, default 30)
      │ rate: number (optional)
      │ ok: yes or no (optional, default yes)
      │ size: one of 1 Small [s], 2 Medium [m] (required)
      │ kind: one of 1 First [a], 2 b (optional)
      │ tags: some of 1 x, 2 y, 3 z (comma-separated, 1 to 2, required)
      y fill in · n decline · c cancel · x no, and end the run"
  `)
  const url = `https://login.example.org/${'a'.repeat(80)}`
  expect(questionLines({ request: request({ text: 'Log in', url }), label: '' }, style).join('\n')).toMatchInlineSnapshot(`
    "? Log in
      asked by srv__t
      Open this address of login.example.org yourself:
      │ https://login.example.org/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
      │ aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
      y I am done · n decline · c cancel · x no, and end the run"
  `)
})

it('typed answers: decline, cancel, abort, JSON for a form, yes for an address', () => {
  const toForm = (typed: string) => parseDecision(typed, request({ text: '?', form }))
  const toUrl = (typed: string) => parseDecision(typed, request({ text: '?', url: 'https://a.org/' }))
  for (const parse of [toForm, toUrl]) {
    expect(parse('no later')).toEqual({ kind: 'deny', feedback: 'later' })
    expect(parse('cancel')).toEqual({ kind: 'deny', cancel: true })
    expect(parse('X')).toEqual({ kind: 'abort' })
    expect(parse('whatever')).toBeUndefined()
  }
  expect(toUrl('yes')).toEqual({ kind: 'answer', text: 'done' })
  const content = { name: 'Ann', size: 's', tags: ['x'] }
  expect(toForm(JSON.stringify(content))).toEqual({ kind: 'answer', text: '', content })
  expect(toForm('{"name":"Ann"}')).toBeUndefined()
})

it('refuses forms that are not flat, too large, or without choices', () => {
  const of = (properties: object) => () => formFields({ type: 'object', properties })
  expect(of({ a: { type: 'object', properties: {} } })).toThrow('form.properties.a: expected a string')
  expect(of({ a: { type: 'array', items: { type: 'string' } } })).toThrow('form.properties.a: expected')
  expect(of({ a: { type: 'string', enum: [] } })).toThrow('expected 1 to 200 choices')
  expect(of(Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`f${index}`, { type: 'string' }])))).toThrow('at most 50 fields')
  expect(() => formFields({ type: 'string' })).toThrow('form: expected')
})
