import { expect, it } from 'vitest'
import { expectedInput, jsonInputProblem } from './json-input.ts'

const schema = { type: 'object', required: ['city'], properties: { city: { type: 'string' }, nights: { type: 'integer' } } }

it('says why a text is no input of an agent that takes JSON', () => {
  const input = { format: 'json', schema } as const
  expect(jsonInputProblem('{"city":"Oslo"}', input)).toBeUndefined()
  expect(jsonInputProblem('Oslo', input)).toMatch(/^This is not JSON: /)
  expect(jsonInputProblem('[]', input)).toBe('Expected a JSON object.')
  expect(jsonInputProblem('{"nights":2}', input)).toBe('Missing: city.')
  expect(jsonInputProblem('Oslo', { format: 'text' })).toBeUndefined()
  expect(expectedInput(schema)).toBe('{ "city": string, "nights"?: integer }')
})
