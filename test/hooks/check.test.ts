import { describe, expect, it } from 'vitest'
import { checkHooks } from '../../src/tools/hooks/index.ts'

const good = { name: 'guard', on: ['before_call'], command: ['./guard.sh'], onFailure: 'closed' }

describe('the hooks of a configuration', () => {
  it.each([
    undefined,
    [],
    [good],
    [{ ...good, tools: ['shell', 'github/*', 'a.b'], timeout: '30s' }],
    [good, { name: 'judge', on: ['at_stop', 'before_request', 'after_call'], module: './judge.mjs', onFailure: 'open', timeout: '500ms' }],
  ])('may be %j', (hooks) => expect(checkHooks(hooks, 'hooks')).toEqual([]))

  it.each<[unknown, string, RegExp]>([
    [{}, 'hooks', /expected a list of hooks, found \{\}/],
    [['x'], 'hooks[0]', /expected a hook, found "x"/],
    [[null], 'hooks[0]', /expected a hook, found null/],
    [[{ ...good, name: '' }], 'hooks[0].name', /expected a name/],
    [[{ ...good, on: [] }], 'hooks[0].on', /expected a list of before_call, after_call, before_request, at_stop/],
    [[{ ...good, on: 'before_call' }], 'hooks[0].on', /expected a list/],
    [[{ ...good, on: ['sometimes'] }], 'hooks[0].on', /found \["sometimes"\]/],
    [[{ ...good, tools: [] }], 'hooks[0].tools', /names of tools/],
    [[{ ...good, tools: [7] }], 'hooks[0].tools', /names of tools/],
    [[{ ...good, on: ['at_stop'], tools: ['shell'] }], 'hooks[0].tools', /only hooks before and after a call/],
    [[{ ...good, command: undefined }], 'hooks[0].command', /a command or a module/],
    [[{ ...good, module: './a.mjs' }], 'hooks[0].module', /a command already/],
    [[{ ...good, command: 'rm -rf /' }], 'hooks[0].command', /a program and its arguments/],
    [[{ ...good, command: [] }], 'hooks[0].command', /a program and its arguments/],
    [[{ ...good, command: ['a', 'b\0c'] }], 'hooks[0].command', /a program and its arguments/],
    [[{ ...good, command: undefined, module: 7 }], 'hooks[0].module', /path of a module/],
    [[{ ...good, onFailure: undefined }], 'hooks[0].onFailure', /expected "closed" or "open", found nothing/],
    [[{ ...good, onFailure: 'maybe' }], 'hooks[0].onFailure', /found "maybe"/],
    [[{ ...good, timeout: 30 }], 'hooks[0].timeout', /a time like "30s"/],
    [[{ ...good, timeout: '0s' }], 'hooks[0].timeout', /a time like "30s"/],
    [[{ ...good, timeout: '2h' }], 'hooks[0].timeout', /at most an hour/],
    [[{ ...good, onFailures: 'open' }], 'hooks[0].onFailures', /unknown key/],
    [[good, good], 'hooks[1].name', /hooks\[0\] has this name already/],
  ])('may not be %j', (hooks, place, message) => {
    expect(checkHooks(hooks, 'hooks')).toEqual([expect.objectContaining({ place, message: expect.stringMatching(message) })])
  })

  it('has all its problems told at once, each with its place', () => {
    const problems = checkHooks([{ nam: 'x', on: 7, onFailure: 1, timeout: 'soon' }], '.ai-agent.json: hooks')
    expect(problems.map(({ place }) => place)).toEqual(
      ['nam', 'name', 'on', 'command', 'onFailure', 'timeout'].map((key) => `.ai-agent.json: hooks[0].${key}`),
    )
    expect(problems[0]?.remedy).toBe('Did you mean "name"?')
  })
})
