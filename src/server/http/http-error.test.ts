import { expect, it } from 'vitest'
import { errorText, HttpError } from './http-error.ts'

it.each([
  ['input: items cannot be referenced', 'input: items cannot be referenced. Send the item itself.'],
  ['There is no route.', 'There is no route. Send the item itself.'],
])('%j and its remedy are two sentences', (message, text) => {
  expect(errorText(new HttpError('invalid_request', message, { remedy: 'Send the item itself.' }))).toBe(text)
})
