import { expect, test } from 'vitest'
import { hashOf, parseHash } from './hash-route.ts'

test('the id of a session is a name: it cannot lead to another route of the server', () => {
  for (const id of ['..', '.', '../../v1/tokens', 'a/b', 'a?b', 'a#b', '%2e%2e', ''])
    expect(parseHash(`#/sessions/${encodeURIComponent(id)}`)).toEqual({ view: 'new' })
  const route = { view: 'session', id: 'mwkk7mxi-66f04f1a-349e-4039', message: 'c-1/2' } as const
  expect(parseHash(hashOf(route))).toEqual(route)
})
