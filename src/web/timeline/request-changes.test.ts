import { expect, test } from 'vitest'
import type { Message, ModelRequest } from '../../contracts/index.ts'
import { changesSince } from './request-changes.ts'

const said = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] })
const tool = (name: string) => ({ name, description: `Does ${name}`, inputSchema: { type: 'object' } })
const request = (given: Partial<ModelRequest> = {}): ModelRequest => ({
  system: 'Plan.',
  messages: [said('one')],
  tools: [tool('read')],
  toolChoice: 'auto',
  parameters: {},
  ...given,
})
const nothing = { isSystemNew: false, firstNew: 1, replaced: 0, newTools: new Set(), goneTools: [], areParametersNew: false }

test('the first request has nothing to compare with', () => {
  expect(changesSince(undefined, request())).toEqual(nothing)
})

test('an equal request has nothing new', () => {
  expect(changesSince(request(), request())).toEqual(nothing)
})

test('messages after those of the step before are new', () => {
  expect(changesSince(request(), request({ messages: [said('one'), said('two'), said('three')] }))).toEqual(nothing)
})

test('a compaction replaces messages', () => {
  const before = request({ messages: [said('one'), said('two'), said('three')] })
  expect(changesSince(before, request({ messages: [said('one'), said('a summary')] }))).toEqual({ ...nothing, replaced: 2 })
})

test('a new prompt, tools that came, changed or went, and parameters', () => {
  const before = request({ tools: [tool('read'), tool('write'), tool('list')] })
  const after = request({
    system: 'Plan well.',
    tools: [tool('read'), { ...tool('write'), description: 'Otherwise' }, tool('shell')],
    toolChoice: 'none',
  })
  expect(changesSince(before, after)).toEqual({
    ...nothing,
    isSystemNew: true,
    newTools: new Set(['write', 'shell']),
    goneTools: ['list'],
    areParametersNew: true,
  })
})
