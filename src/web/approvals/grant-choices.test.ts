import { expect, it } from 'vitest'
import { grantChoices } from './grant-choices.ts'

const request = {
  keys: [
    { key: 'path:/a', label: 'write /a' },
    { key: 'path:/b', label: 'write\u202e /b' },
  ],
  wider: [{ key: 'tool:write', label: 'all of write' }],
}

it('offers every breadth with all that it grants, and the project only to those who may', () => {
  expect(grantChoices(request, { mayGrantProject: false })).toEqual([
    { label: 'For this session: “write /a”, “write<U+202E> /b”', decision: { kind: 'approve', breadth: 'session' } },
    { label: 'For this session: all of write', decision: { kind: 'approve', breadth: 'session', key: 'tool:write' } },
  ])
  expect(
    grantChoices(request, { mayGrantProject: true })
      .map(({ decision }) => decision)
      .slice(2),
  ).toEqual([
    { kind: 'approve', breadth: 'project' },
    { kind: 'approve', breadth: 'project', key: 'tool:write' },
  ])
  expect(grantChoices({ keys: [] }, { mayGrantProject: true })).toEqual([])
})
