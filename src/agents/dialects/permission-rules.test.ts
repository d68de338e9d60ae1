import { describe, expect, test } from 'vitest'
import { grantedTools } from './granted-tools.ts'
import { judgeTools, permissionRules } from './permission-rules.ts'

const judge = (value: unknown): ReturnType<typeof judgeTools> => judgeTools(permissionRules(value) ?? expect.unreachable('no rules'))
const known = ['shell', 'read_file', 'write_file', 'edit_file', 'apply_patch', 'list_files', 'search_files', 'web_fetch', 'x/a', 'y/a']
const left = (value: unknown): readonly string[] => grantedTools(judge(value), known)

describe('a list of denials is no list of what is allowed', () => {
  test.each<[value: unknown, gone: readonly string[]]>([
    [{ edit: 'deny' }, ['write_file', 'edit_file', 'apply_patch']],
    [{ write: false, bash: false, read: true }, ['write_file', 'apply_patch', 'shell']],
    [{ write: 'deny', patch: 'allow' }, ['write_file', 'apply_patch']],
    [{ patch: 'allow', 'wr*': 'deny' }, ['write_file', 'apply_patch']],
    [{ edit: 'deny', write: 'allow', patch: 'allow' }, ['write_file', 'edit_file', 'apply_patch']],
    [{ patch: 'deny' }, ['apply_patch']],
    [{ apply_patch: false }, ['apply_patch']],
    [[{ action: 'write', resource: 'src/*', effect: 'deny' }], ['write_file', 'apply_patch']],
    [{ bash: 'allow', read: 'allow' }, []],
    [{ 'x_*': 'deny' }, ['x/a']],
    ['allow', []],
    [[{ action: 'shell', resource: '*', effect: 'deny' }], ['shell']],
    [{}, []],
  ])('%j', (value, gone) => {
    expect(judge(value).tools).toEqual({ kind: 'all' })
    expect(left(value)).toEqual(known.filter((name) => !gone.includes(name)))
  })
})

describe('everything denied but', () => {
  test.each<[value: unknown, rest: readonly string[]]>([
    [{ '*': 'deny', read: 'allow', grep: 'ask' }, ['read_file', 'search_files']],
    [{ '*': false, bash: true }, ['shell']],
    [{ '*': 'deny', write: 'allow' }, ['write_file']],
    [{ '*': 'deny', patch: 'allow' }, ['apply_patch']],
    [{ '*': 'deny', patch: 'allow', write: 'deny' }, []],
    [{ read: 'allow', '*': 'deny' }, []],
    [{ '*': 'deny', 'x_*': 'allow' }, ['x/a']],
    ['deny', []],
    [
      [
        { action: '*', resource: '*', effect: 'deny' },
        { action: 'read', resource: '*', effect: 'allow' },
      ],
      ['read_file'],
    ],
  ])('%j', (value, rest) => {
    expect(left(value)).toEqual(rest)
  })
})

test('rules about a part tighten for the whole and never loosen', () => {
  expect(judge({ bash: { '*': 'deny', 'git log*': 'allow' } })).toMatchObject({ deniedTools: ['shell'], narrowed: ['bash'] })
  expect(judge({ bash: { '*': 'allow', 'rm *': 'deny' } }).deniedTools).toEqual(['shell'])
  expect(judge({ bash: { 'rm *': 'deny', '*': 'allow' } }).deniedTools).toEqual([])
  expect(judge({ bash: { '*': 'ask', 'git log*': 'allow' } })).toMatchObject({ deniedTools: [], askTools: ['shell'] })
})

test('what is asked about stays, and is named', () => {
  expect(judge({ '*': 'ask', read: 'allow' })).toMatchObject({ tools: { kind: 'all' }, askTools: ['*'] })
  expect(judge({ edit: 'ask', write: 'deny' })).toMatchObject({ deniedTools: ['write_file', 'apply_patch'], askTools: ['edit_file'] })
  expect(judge({ write: 'ask' })).toMatchObject({ deniedTools: [], askTools: ['write_file', 'apply_patch'] })
  expect(judge({ '*': 'ask', write: 'allow' })).toMatchObject({ askTools: ['*'], freeTools: ['write_file'] })
  expect(judge({ lsp: 'deny' }).unknown).toEqual(['lsp'])
})

test.each([5, null, 'perhaps', ['edit'], { edit: 'perhaps' }, { edit: ['deny'] }, { bash: { a: { b: 'deny' } } }])(
  '%j is no set of rules',
  (value) => {
    expect(permissionRules(value)).toBeUndefined()
  },
)

test('patterns cost no more than their length', () => {
  const pattern = 'a*'.repeat(2000)
  const rules = Array.from({ length: 100 }, (_, index) => [`${'a'.repeat(2000)}${index}b`, 'deny'] as const)
  expect(judge(Object.fromEntries([...rules, [pattern, 'deny']])).unknown).toHaveLength(101)
})
