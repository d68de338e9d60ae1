import { describe, expect, test } from 'vitest'
import { grantedTools } from './granted-tools.ts'
import { permissionRules, toolPermissions } from './permission-rules.ts'

const judge = (value: unknown): ReturnType<typeof toolPermissions> =>
  toolPermissions(permissionRules(value) ?? expect.unreachable('no rules'))
const known = ['shell', 'read_file', 'write_file', 'edit_file', 'apply_patch', 'list_files', 'search_files', 'web_fetch', 'x/a', 'y/a']
const left = (value: unknown): readonly string[] => grantedTools(judge(value), known)

describe('a list of denials is not a list of permissions', () => {
  test.each<[value: unknown, gone: readonly string[]]>([
    [{ edit: 'deny' }, ['write_file', 'edit_file', 'apply_patch']],
    [{ write: false, bash: false, read: true }, ['write_file', 'edit_file', 'apply_patch', 'shell']],
    [{ write: 'deny', patch: 'allow' }, ['write_file', 'edit_file', 'apply_patch']],
    [{ patch: 'allow', 'wr*': 'deny' }, ['write_file', 'edit_file', 'apply_patch']],
    [{ edit: 'deny', write: 'allow', patch: 'allow' }, ['write_file', 'edit_file', 'apply_patch']],
    [{ patch: false }, ['write_file', 'edit_file', 'apply_patch']],
    [{ patch: 'deny', edit: 'allow' }, []],
    [{ apply_patch: false }, ['write_file', 'edit_file', 'apply_patch']],
    [[{ action: 'write', resource: 'src/*', effect: 'deny' }], ['write_file', 'edit_file', 'apply_patch']],
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
  expect(judge({ read: { '*': 'deny', 'src/*': 'allow' } })).toMatchObject({ deniedTools: ['read_file'], narrowed: ['read'] })
  expect(judge({ edit: { '*': 'allow', '*.env': 'deny' } }).deniedTools).toEqual(['write_file', 'edit_file', 'apply_patch'])
  expect(judge({ read: { '*.env': 'deny', '*': 'allow' } }).deniedTools).toEqual([])
  // Nobody knows which of two names counts.
  expect(judge({ bash: { 'rm *': 'deny' }, shell: { 'git *': 'allow' } })).toMatchObject({
    deniedTools: ['shell'],
    narrowed: ['bash', 'shell'],
  })
})

describe('rules about commands', () => {
  const reason = 'The agent file denies it.'
  test.each<[value: unknown, expected: object]>([
    [
      { '*': 'deny', 'git log*': 'allow' },
      { deniedTools: [], commandRules: [{ deny: ['shell'], reason }, { allow: ['shell(git log*)'] }] },
    ],
    [
      { '*': 'allow', 'rm *': 'deny' },
      { deniedTools: [], commandRules: [{ deny: ['shell(rm)', 'shell(rm *)'], reason }] },
    ],
    [
      { '*': 'ask', 'git diff': 'allow' },
      { askTools: ['shell'], commandRules: [{ allow: ['shell(git diff)'] }] },
    ],
    [
      { '*': 'deny', 'git *': 'ask' },
      { deniedTools: [], askTools: [], commandRules: [{ deny: ['shell'], reason }, { ask: ['shell(git)', 'shell(git *)'] }] },
    ],
    // Stars before everything else fit scripts: good enough to deny, never to loosen.
    [{ '*--force*': 'deny' }, { commandRules: [{ deny: ['shell(*--force*)'], reason }] }],
    [{ '*': 'deny', '* --version': 'allow' }, { deniedTools: ['shell'] }],
    [
      { '*': 'deny', '*push*': 'ask' },
      { commandRules: undefined, deniedTools: ['shell'] },
    ],
    // What is no plain command holds for all of them where it tightens, and is left out where it loosens.
    [
      { '*': 'allow', 'rm "a b"': 'deny' },
      { commandRules: undefined, deniedTools: ['shell'] },
    ],
    [
      { '*': 'allow', 'A=1 rm *': 'ask' },
      { commandRules: undefined, askTools: ['shell'] },
    ],
    [{ '*': 'deny', 'git log > x': 'allow' }, { deniedTools: ['shell'] }],
    [{ 'rm ?': 'deny' }, { commandRules: undefined, deniedTools: ['shell'] }],
    [
      { 'rm ?': 'ask', 'git *': 'allow' },
      { askTools: ['shell'], commandRules: [{ allow: ['shell(git)', 'shell(git *)'] }] },
    ],
    [{ 'time rm *': 'deny' }, { commandRules: undefined, deniedTools: ['shell'] }],
    [
      { 'rm *': 'deny', 'touch ?': 'ask' },
      { commandRules: undefined, deniedTools: ['shell'] },
    ],
    [{ 'git * *': 'deny' }, { commandRules: [{ deny: ['shell(git *)', 'shell(git * *)'], reason }] }],
    [{ '*': 'ask', 'git * *': 'allow' }, { commandRules: [{ allow: ['shell(git * *)'] }] }],
  ])('%j', (bash, expected) => {
    const { commandRules, ...verdicts } = judge({ bash })
    expect({ ...verdicts, commandRules }).toMatchObject(expected)
    expect(verdicts).toMatchObject({ narrowed: [], notes: expect.any(Array) })
  })

  test('one that a later "*" overrides is reported', () => {
    expect(judge({ bash: { 'git *': 'allow', '*': 'ask' } })).toMatchObject({
      askTools: ['shell'],
      notes: [
        { message: '`allow` for "git *" is taken back by `ask` for "*" behind it', remedy: expect.stringContaining('put "*" first') },
      ],
    })
    expect(judge({ bash: { 'rm *': 'deny' }, '*': 'allow' }).notes).toHaveLength(1)
  })

  test('for an agent without other permissions', () => {
    expect(left({ '*': 'deny', bash: { 'git *': 'allow' } })).toEqual(['shell'])
    expect(left({ '*': 'deny', bash: { 'git "x"': 'allow' } })).toEqual([])
  })
})

test('ask rules stay, and are named', () => {
  expect(judge({ '*': 'ask', read: 'allow' })).toMatchObject({ tools: { kind: 'all' }, askTools: ['*'] })
  expect(judge({ edit: 'ask', write: 'deny' })).toMatchObject({ deniedTools: ['write_file', 'edit_file', 'apply_patch'], askTools: [] })
  expect(judge({ patch: 'ask' })).toMatchObject({ deniedTools: [], askTools: ['write_file', 'edit_file', 'apply_patch'] })
  expect(judge({ write: 'ask' })).toMatchObject({ deniedTools: [], askTools: ['write_file', 'edit_file', 'apply_patch'] })
  expect(judge({ '*': 'ask', write: 'allow' })).toMatchObject({ askTools: ['*'], exemptTools: ['write_file'] })
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
