// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
import { describe, expect, test } from 'vitest'
import { type Problem, TroupeError } from '../../contracts/index.ts'
import { readConfigFile } from './read-config-file.ts'

function problemsOf(content: string | object): readonly Problem[] {
  try {
    readConfigFile(typeof content === 'string' ? content : JSON.stringify(content), {
      path: '/x.json',
      role: 'settings',
      layer: 'user',
      isRequired: false,
    })
  } catch (error) {
    if (error instanceof TroupeError) return error.problems
    throw error
  }
  return []
}
const told = (content: string | object) => problemsOf(content).map(({ place, message }) => `${place.replace('/x.json:', '')} ${message}`)
const hook = { name: 'a', on: ['before_call'], command: ['./a'], onFailure: 'closed' }

describe('invalid rules in a section', () => {
  test.each<[string | object, readonly string[]]>([
    [{ approvals: [] }, ['1:14 `approvals` must be an object, not a list']],
    [{ approvals: { rule: [] } }, ['1:15 unknown key `rule` in `approvals`']],
    [{ approvals: { rules: {} } }, ['1:23 `approvals.rules` must be a list of rules, not a map']],
    [{ approvals: { rules: [{ alow: 'x' }] } }, ['1:25 unknown key `alow` in a rule']],
    [{ approvals: { rules: [{ deny: 'a b' }] } }, ['1:32 `a b` is not a valid rule pattern']],
    [{ approvals: { rules: [{ deny: 'shell(${X})' }] } }, ['1:23 `approvals.rules` cannot have placeholders']],
    [{ approvals: { onUnavailable: 'wait' } }, ['1:31 `approvals.onUnavailable` must be one of `suspend`, `deny`, not "wait"']],
    [{ sandbox: true }, ['1:12 `sandbox` must be an object, not a boolean']],
    [{ sandbox: { mod: 'off' } }, ['1:13 unknown key `mod` in `sandbox`']],
    [{ sandbox: { mode: 'none' } }, ['1:20 `sandbox.mode` must be one of `required`, `off`, not "none"']],
    [{ sandbox: { hosts: ['http://x'] } }, ['1:22 `http://x` is not a valid host']],
    [{ sandbox: { writable: ['${HOME}'] } }, ['1:24 `sandbox.writable` cannot have placeholders']],
    [{ sandbox: { environment: ['A B'] } }, ['1:28 `A B` is not a valid variable name']],
    [{ sandbox: { memory: '1KB' } }, ['1:22 `sandbox.memory` must be a size of at least 16MB, not "1KB"']],
    [{ sandbox: { processes: 1.5 } }, ['1:25 `sandbox.processes` must be an integer of at least 1, not the number 1.5']],
    [{ hooks: {} }, ['1:10 `hooks` must be a list, not a map']],
    [{ hooks: ['x'] }, ['1:11 `hooks.0` must be an object, not text']],
    [{ hooks: [{}] }, ['1:11 "name", "on", "onFailure" are missing in `hooks.0`', '1:11 `hooks.0` has neither `command` nor `module`']],
    [{ hooks: [{ ...hook, nme: 'b' }] }, [expect.stringContaining('unknown key `nme` in `hooks.0`')]],
    [{ hooks: [{ ...hook, name: '' }] }, ['1:19 `hooks.0.name` must be text, not empty text']],
    [{ hooks: [{ ...hook, on: [] }] }, ['1:28 `hooks.0.on` is an empty list']],
    [
      { hooks: [{ ...hook, on: ['before'] }] },
      ['1:29 `hooks.0.on.0` must be one of `before_call`, `after_call`, `before_request`, `at_stop`, not "before"'],
    ],
    [{ hooks: [{ ...hook, command: './a' }] }, [expect.stringContaining('`hooks.0.command` must be a list, not text')]],
    [{ hooks: [{ ...hook, module: './b.mjs' }] }, [expect.stringContaining('`hooks.0` has both `command` and `module`')]],
    [{ hooks: [{ ...hook, onFailure: 'maybe' }] }, [expect.stringContaining('`hooks.0.onFailure` must be one of `closed`, `open`')]],
    [{ hooks: [{ ...hook, timeout: '2h' }] }, [expect.stringContaining('`hooks.0.timeout` must be a duration from 1ms to 1h, not "2h"')]],
    [{ hooks: [{ ...hook, timeout: true }] }, [expect.stringContaining('`hooks.0.timeout` must be a duration from 1ms to 1h, not')]],
    [{ hooks: [{ ...hook, timeout: 5 }] }, []],
    [{ hooks: [{ ...hook, name: 'a\0' }] }, [expect.stringContaining('`hooks.0.name` cannot have a NUL character')]],
    [
      { hooks: [{ ...hook, tools: ['shell'], on: ['at_stop'] }] },
      [expect.stringContaining('`hooks.0` has `tools`, which is only for hooks before and after calls')],
    ],
    [{ hooks: [{ ...hook, command: ['echo', '${HOME}'] }] }, [expect.stringContaining('`hooks.0.command.1` cannot have placeholders')]],
    [{ hooks: [hook, hook] }, [expect.stringContaining('`hooks` has two entries with the same `name`')]],
    [{ skills: ['pdf'] }, ['1:11 `skills` must be an object, not a list']],
    [{ skills: { directory: [] } }, ['1:12 unknown key `directory` in `skills`']],
    [{ skills: { directories: './a' } }, ['1:26 `skills.directories` must be a list, not text']],
    [{ skills: { disabled: ['PDF'] } }, [expect.stringContaining('`skills.disabled.0` must be the name of a skill')]],
    [{ skills: { disabled: ['git-*'] } }, [expect.stringContaining('`skills.disabled.0` must be the name of a skill')]],
    [{ context: { agentsMd: 'no' } }, ['1:24 `context.agentsMd` must be `true` or `false`, not text']],
    [{ context: { agentsMD: false } }, ['1:13 unknown key `agentsMD` in `context`']],
  ])('%j', (content, expected) => {
    expect(told(content)).toEqual(expected)
  })
})
