import { describe, expect, it } from 'vitest'
import { formFields } from '../../policy/form-fields.ts'
import { fillForm, presetValues } from './form-values.ts'

const fields = formFields({
  type: 'object',
  required: ['name', 'age', 'colours'],
  properties: {
    name: { type: 'string', minLength: 2 },
    mail: { type: 'string', format: 'email' },
    age: { type: 'integer', minimum: 18 },
    price: { type: 'number', default: 2.5 },
    isNew: { type: 'boolean', default: true },
    size: { type: 'string', enum: ['s', 'l'] },
    colours: { type: 'array', items: { enum: ['red', 'blue'] }, minItems: 1 },
  },
})

describe('a form', () => {
  it('begins with its defaults', () => {
    expect(presetValues(fields)).toEqual({ name: '', mail: '', age: '', price: '2.5', isNew: true, size: '', colours: [] })
  })
  it('gives typed values, without optional fields that are empty', () => {
    const entered = { ...presetValues(fields), name: 'Ada', age: ' 36 ', colours: ['red'] }
    expect(fillForm(fields, entered)).toEqual({
      kind: 'content',
      content: { name: 'Ada', age: 36, price: 2.5, isNew: true, colours: ['red'] },
    })
  })
  it('names each problem at its field', () => {
    const entered = { name: '', mail: 'x', age: '1e1', price: 'cheap', isNew: false, size: 'm', colours: [] }
    expect(fillForm(fields, entered)).toEqual({
      kind: 'problems',
      problems: {
        name: 'A value is required.',
        mail: 'Expected an email address.',
        age: 'Expected at least 18.',
        price: 'Expected a number.',
        size: 'Expected one of s, l.',
        colours: 'Expected at least 1 choices.',
      },
    })
  })
})
