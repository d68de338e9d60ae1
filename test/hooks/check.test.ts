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
    [{}, 'hooks', /expected a list, found \{\}/],
    [['x'], 'hooks[0]', /expected an object, found a value of type string/],
    [[null], 'hooks[0]', /expected an object, found a value of type null/],
    [[{ ...good, name: '' }], 'hooks[0].name', /expected text, found ""/],
    [[{ ...good, name: 'a\0' }], 'hooks[0].name', /cannot have a NUL character/],
    [[{ ...good, on: [] }], 'hooks[0].on', /expected a list of at least one, found \[\]/],
    [[{ ...good, on: 'before_call' }], 'hooks[0].on', /expected a list of at least one, found "before_call"/],
    [
      [{ ...good, on: ['sometimes'] }],
      'hooks[0].on[0]',
      /expected one of before_call, after_call, before_request, at_stop, found "sometimes"/,
    ],
    [[{ ...good, tools: [] }], 'hooks[0].tools', /expected a list of at least one, found \[\]/],
    [[{ ...good, tools: [7] }], 'hooks[0].tools[0]', /expected text, found 7/],
    [[{ ...good, on: ['at_stop'], tools: ['shell'] }], 'hooks[0].tools', /only for hooks before and after calls/],
    [[{ ...good, command: undefined }], 'hooks[0].command', /has neither `command` nor `module`/],
    [[{ ...good, command: [' ', 'a'] }], 'hooks[0].command', /has a `command` without a program/],
    [[{ ...good, module: './a.mjs' }], 'hooks[0].module', /has both `command` and `module`/],
    [[{ ...good, command: 'rm -rf /' }], 'hooks[0].command', /expected a list of at least one, found "rm -rf \/"/],
    [[{ ...good, command: [] }], 'hooks[0].command', /expected a list of at least one, found \[\]/],
    [[{ ...good, command: ['a', 'b\0c'] }], 'hooks[0].command[1]', /cannot have a NUL character/],
    [[{ ...good, command: undefined, module: 7 }], 'hooks[0].module', /expected text, found 7/],
    [[{ ...good, onFailure: undefined }], 'hooks[0].onFailure', /expected one of closed, open, found nothing/],
    [[{ ...good, onFailure: 'maybe' }], 'hooks[0].onFailure', /expected one of closed, open, found "maybe"/],
    [[{ ...good, timeout: '30' }], 'hooks[0].timeout', /from 1ms to 1h, found "30"/],
    [[{ ...good, timeout: '0s' }], 'hooks[0].timeout', /from 1ms to 1h, found "0s"/],
    [[{ ...good, timeout: 0.5 }], 'hooks[0].timeout', /from 1ms to 1h, found 0.5/],
    [[{ ...good, timeout: '2h' }], 'hooks[0].timeout', /from 1ms to 1h, found "2h"/],
    [[{ ...good, timeout: 3_600_001 }], 'hooks[0].timeout', /from 1ms to 1h, found 3600001/],
    [[{ ...good, timeout: -1 }], 'hooks[0].timeout', /from 1ms to 1h/],
    [[{ ...good, onFailures: 'open' }], 'hooks[0].onFailures', /unknown key/],
    [[good, good], 'hooks[1].name', /hooks\[0\] already has this name/],
  ])('may not be %j', (hooks, place, message) => {
    expect(checkHooks(hooks, 'hooks')).toEqual([
      { place, message: expect.stringMatching(message), remedy: expect.stringMatching(/^[A-Z"].*[.?]$/) },
    ])
  })

  it('has all its problems reported together, each with its place', () => {
    const problems = checkHooks([{ nam: 'x', on: 7, onFailure: 1, timeout: 'soon' }], '.ai-agent.json: hooks')
    expect(problems.map(({ place }) => place)).toEqual(
      ['nam', 'name', 'on', 'onFailure', 'timeout'].map((key) => `.ai-agent.json: hooks[0].${key}`),
    )
    expect(problems[0]?.remedy).toBe('Did you mean "name"?')
  })
})
