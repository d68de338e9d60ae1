import { describe, expect, it } from 'vitest'
import { checkHooks } from '../../src/tools/hooks/index.ts'

const good = { name: 'guard', on: ['before_call'], command: ['./guard.sh'], onFailure: 'closed' }

describe('the hooks of a configuration', () => {
  it.each([
    undefined,
    [],
    [good],
    [{ ...good, tools: ['shell', 'github/*', 'a.b'], timeout: '30s' }],
    [{ ...good, timeout: 30 }],
    [{ ...good, timeout: '1h' }],
    [good, { name: 'judge', on: ['at_stop', 'before_request', 'after_call'], module: './judge.mjs', onFailure: 'open', timeout: '500ms' }],
  ])('may be %j', (hooks) => expect(checkHooks(hooks, 'hooks')).toEqual([]))

  it.each<[unknown, string, RegExp]>([
    [{}, 'hooks', /expected a list of hooks, found \{\}/],
    [['x'], 'hooks[0]', /expected a hook, found "x"/],
    [[null], 'hooks[0]', /expected a hook, found null/],
    [[{ ...good, name: '' }], 'hooks[0].name', /must be a name, not ""/],
    [[{ ...good, name: 'a\0' }], 'hooks[0].name', /must be a name/],
    [[{ ...good, on: [] }], 'hooks[0].on', /must be a list of before_call, after_call, before_request, at_stop, not \[\]/],
    [[{ ...good, on: 'before_call' }], 'hooks[0].on', /must be a list/],
    [[{ ...good, on: ['sometimes'] }], 'hooks[0].on', /not \["sometimes"\]/],
    [[{ ...good, tools: [] }], 'hooks[0].tools', /tool names/],
    [[{ ...good, tools: [7] }], 'hooks[0].tools', /tool names/],
    [[{ ...good, on: ['at_stop'], tools: ['shell'] }], 'hooks[0].tools', /only for hooks before and after calls/],
    [[{ ...good, command: undefined }], 'hooks[0].command', /is missing, and so is `module`/],
    [[{ ...good, module: './a.mjs' }], 'hooks[0].module', /cannot be combined with `command`/],
    [[{ ...good, command: 'rm -rf /' }], 'hooks[0].command', /a program and its arguments/],
    [[{ ...good, command: [] }], 'hooks[0].command', /a program and its arguments/],
    [[{ ...good, command: ['a', 'b\0c'] }], 'hooks[0].command', /a program and its arguments/],
    [[{ ...good, command: undefined, module: 7 }], 'hooks[0].module', /path of a module/],
    [[{ ...good, onFailure: undefined }], 'hooks[0].onFailure', /must be "closed" or "open", not nothing/],
    [[{ ...good, onFailure: 'maybe' }], 'hooks[0].onFailure', /not "maybe"/],
    [[{ ...good, timeout: '30' }], 'hooks[0].timeout', /from 1ms to 1h, not "30"/],
    [[{ ...good, timeout: '0s' }], 'hooks[0].timeout', /from 1ms to 1h, not "0s"/],
    [[{ ...good, timeout: 0.5 }], 'hooks[0].timeout', /from 1ms to 1h, not 0.5/],
    [[{ ...good, timeout: '2h' }], 'hooks[0].timeout', /from 1ms to 1h, not "2h"/],
    [[{ ...good, timeout: 3_600_001 }], 'hooks[0].timeout', /from 1ms to 1h, not 3600001/],
    [[{ ...good, timeout: -1 }], 'hooks[0].timeout', /from 1ms to 1h/],
    [[{ ...good, onFailures: 'open' }], 'hooks[0].onFailures', /is not a key of a hook/],
    [[good, good], 'hooks[1].name', /hooks\[0\] already has this name/],
  ])('may not be %j', (hooks, place, message) => {
    expect(checkHooks(hooks, 'hooks')).toEqual([
      { place, message: expect.stringMatching(message), remedy: expect.stringMatching(/^[A-Z"].*[.?]$/) },
    ])
  })

  it('has all its problems reported together, each with its place', () => {
    const problems = checkHooks([{ nam: 'x', on: 7, onFailure: 1, timeout: 'soon' }], '.ai-agent.json: hooks')
    expect(problems.map(({ place }) => place)).toEqual(
      ['nam', 'name', 'on', 'command', 'onFailure', 'timeout'].map((key) => `.ai-agent.json: hooks[0].${key}`),
    )
    expect(problems[0]?.remedy).toBe('Did you mean "name"?')
  })
})
