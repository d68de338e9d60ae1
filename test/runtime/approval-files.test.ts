import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ApprovalKey, ApprovalRule } from '../../src/contracts/index.ts'
import { ruling } from '../../src/steps/approval/rules.ts'
import { agent } from '../acceptance/support.ts'
import { fileTools } from '../tools/files/file-tools.ts'
import { scene } from '../tools/files/scene.ts'
import { callsOf, no, play, shell, yes } from './approval-stage.ts'

// Rules and grants about files, through the tools that read and change them.

const files = { 'secrets/a.txt': 'password=1\n', 'src/a.txt': 'password=2\n', '.env': 'password=3\n' }
const search = (path?: string) => ({ tool: 'search_files', input: { pattern: 'password', ...(path !== undefined && { path }) } })
const list = (path?: string) => ({ tool: 'list_files', input: path === undefined ? {} : { path } })
const write = (path: string, content = 'x') => ({ tool: 'write_file', input: { path, content } })

function acting(...given: readonly ApprovalRule[]) {
  const there = scene(files)
  return { ...there, tools: fileTools(there.workspace), config: { approvals: { rules: given } } }
}
type Setup = NonNullable<Parameters<typeof play>[1]>
const playing = (calls: readonly object[], rules: readonly ApprovalRule[], more: Setup = {}) => {
  const { root, tools, config } = acting(...rules)
  return play(calls, { tools, config, ...more }).then((played) => ({ ...played, root }))
}
const asked = (requests: readonly { readonly summary: string }[]) => requests.map(({ summary }) => summary)

describe('rules about files also apply to tools that search the folder above them', () => {
  it('a call that would come upon a file that a rule asks about is asked about; beside it nobody is', async () => {
    const patterns = ['search_files(secrets/*)', 'search_files(./secrets/*)', 'read_file(secrets/*)', '*(*/secrets/a.txt)']
    for (const ask of patterns) {
      const made = await playing([search(), search('missing')], [{ ask }], { decide: () => no() })
      expect(asked(made.asked), ask).toEqual(['Search .'])
    }
    const listing = await playing([list(), list('src')], [{ ask: 'list_files(secrets/*)' }], { decide: () => yes() })
    expect([asked(listing.asked), listing.told.map(({ ok }) => ok)]).toEqual([['List .'], [true, true]])
  })

  it('rules about files elsewhere, and about changing them, are no matter', async () => {
    const rules = [{ ask: ['search_files(/etc/*)', 'read_file(/etc/*)', 'list_files(/etc/*)', 'write_file(secrets/*)'] }]
    const made = await playing([search(), list()], rules)
    expect(made.told.map(({ ok }) => ok)).toEqual([true, true])
  })

  it('a file by itself holds nothing: a rule that could be about something in it is not about it', async () => {
    const made = await playing([search('src/a.txt')], [{ ask: 'search_files(*secret*)' }])
    expect(made.told[0]?.content).toContain('password=2')
  })

  it('a folder that a link leads to is known by both names', async () => {
    const { root, tools, config } = acting({ ask: ['list_files(secrets/*)', 'list_files(other/*)'] })
    symlinkSync('secrets', join(root, 'way'))
    symlinkSync('src', join(root, 'other'))
    const made = await play([list('way'), list('other')], { tools, config, decide: () => no() })
    expect(asked(made.asked)).toEqual(['List way', 'List other'])
  })

  it('a later rule that allows all of it applies; one that allows the search does not allow reading denied files', async () => {
    const free = await playing([search()], [{ ask: ['search_files(secrets/*)', 'read_file(secrets/*)'] }, { allow: '*' }])
    expect(free.told[0]?.content).toContain('password=1')
    for (const rules of [
      [{ ask: 'read_file(secrets/*)' }, { allow: 'search_files' }],
      [{ ask: 'search_files' }, { allow: 'read_file' }],
    ])
      expect((await playing([search()], rules, { decide: () => no() })).asked).toHaveLength(1)
    const denied = await playing([search('secrets')], [{ deny: 'read_file(secrets*)' }, { allow: 'search_files' }])
    expect(denied.told[0]?.content).toContain('A rule forbids this call: deny read_file(secrets*).')
  })

  it('names are not contents: what may not be read is listed', async () => {
    const made = await playing([list()], [{ deny: 'read_file(secrets/*)' }])
    expect(made.told[0]?.content).toContain('secrets/a.txt')
  })

  it('an approval to list a folder does not cover searching it', async () => {
    const rules = [{ ask: ['list_files', 'search_files'] }]
    const made = await playing([list(), search(), list()], rules, { decide: (_, n) => (n === 1 ? yes('session') : no()) })
    expect(asked(made.asked)).toEqual(['List .', 'Search .'])
  })

  it('what a rule denies is left out, and counted; nobody is asked', async () => {
    for (const deny of ['search_files(secrets/*)', 'search_files(./secrets)', 'read_file(secrets/*)', '*(*/secrets/a.txt)']) {
      const made = await playing([search()], [{ allow: '*' }, { deny }])
      expect(made.told[0]?.content, deny).not.toMatch(/password=1|secrets/)
      expect(made.told[0]?.content, deny).toContain('password=2')
      expect(made.told[0]?.content, deny).toContain('1 entry omitted: rules deny reading them.')
    }
    const { told } = await playing([list(), list('secrets')], [{ deny: 'list_files(secrets/*)' }])
    expect(told.map(({ content }) => content)).toEqual([
      '4 entries in the workspace, 2 levels deep.\n.env\nsecrets/\nsrc/\nsrc/a.txt\n1 entry omitted: rules deny reading them.',
      '0 entries in secrets, 2 levels deep.\n1 entry omitted: rules deny reading them.',
    ])
  })

  it('by each of its names, also those that it has through a link', async () => {
    const { root, tools, config } = acting({ deny: ['list_files(way/*)', 'list_files(src/*)'] })
    symlinkSync('secrets', join(root, 'way'))
    symlinkSync('src', join(root, 'other'))
    const { told } = await play([list('way'), list('other'), list('secrets')], { tools, config })
    expect(told.map(({ content }) => /a\.txt/.test(content))).toEqual([false, false, true])
  })

  it('rules of an agent and of its callers apply', async () => {
    const { tools } = acting()
    const { told } = await play([list()], { tools, config: { agents: [{ ...agent, approvals: [{ deny: 'list_files(secrets*)' }] }] } })
    expect(told[0]?.content).not.toContain('secrets')
  })
})

it('a rule names files from the root of the workspace, and lets them be changed', async () => {
  for (const allow of ['write_file(notes/*)', 'write_file(./notes/*)', 'write_file(*.md)']) {
    const made = await playing([write('notes/a.md'), write('./src/../notes/b.md')], [{ allow }])
    expect(
      made.told.map(({ ok }) => ok),
      allow,
    ).toEqual([true, true])
  }
  const beside = await playing([write('src/notes/a.md')], [{ allow: 'write_file(notes/*)' }], { decide: () => no() })
  expect(beside.asked).toHaveLength(1)
})

describe('a protected file has to be named', () => {
  const protectedPaths = ['.git/hooks/pre-commit', '.env', '.ai-agent.json']

  it('a rule for the whole tool, for anything, or for an ending does not allow it; one that names it does', async () => {
    const broad = ['write_file', '*', 'write_file(*)', '*(*)', 'write_file(*pre-commit)', 'write_file(*/*)', 'write_file(p*)']
    for (const allow of broad) {
      const made = await playing([write('.git/hooks/pre-commit')], [{ allow }], { decide: () => no() })
      expect([made.asked.length, made.told[0]?.ok], allow).toEqual([1, false])
    }
    for (const allow of ['write_file(protected *)', 'write_file(protected*)', '*(protected *)', 'write_file(protected */pre-commit)']) {
      const made = await playing([write('.git/hooks/pre-commit')], [{ allow: ['write_file', allow] }])
      expect(made.told[0]?.ok, allow).toBe(true)
    }
  })

  it('rules that ask or deny need not name it', async () => {
    for (const deny of ['write_file', 'write_file(*)', '*', 'write_file(.git/*)'])
      expect((await playing([write('.git/config')], [{ allow: 'write_file(protected *)' }, { deny }])).told[0]?.content).toContain(
        'forbids',
      )
  })

  it('an approval of any call of the tool does not cover it, and is not offered with it', async () => {
    const made = await playing([write('a.txt'), ...protectedPaths.map((path) => write(path))], [], {
      decide: ({ wider = [] }, n) => (n === 1 ? yes('session', wider.at(-1)?.key) : yes()),
    })
    expect(asked(made.asked)).toEqual([
      'Write a.txt, a new file',
      'Write .git/hooks/pre-commit, a new file',
      'Overwrite .env',
      'Write .ai-agent.json, a new file',
    ])
    expect(made.asked[0]?.wider?.at(-1)?.key).toBe('tool:write_file')
    expect(made.asked.slice(1).map(({ wider }) => wider)).toEqual([undefined, undefined, undefined])
    expect(callsOf(made.events).every(({ approved }) => approved?.by === 'ann')).toBe(true)
  })

  it('an approval of this file for the session covers only this file', async () => {
    const calls = [write('.env', '1'), write('.env', '2'), write('sub/.env')]
    const made = await playing(calls, [], { decide: () => yes('session') })
    expect(asked(made.asked)).toEqual(['Overwrite .env', 'Write sub/.env, a new file'])
    expect(JSON.stringify(made.outcome.snapshot.approvalKeys)).not.toContain('mustBeNamed')
  })

  it('whatever a tool offers beside it: what only begins like it does not cover it', async () => {
    const key: ApprovalKey = { key: 'safe:1', label: 'one', mustBeNamed: true }
    const tool = {
      ...acting().tools[1]!,
      approval: () => ({ summary: 'Open', keys: [key], wider: [{ key: 'safe:', label: 'all', isPrefix: true }] }),
    }
    const made = await play([write('a'), write('b')], { tools: [tool], decide: () => yes('session', 'safe:') })
    expect(made.asked).toHaveLength(2)
  })

  it('is named by the first word at least of what rules call it', () => {
    const said = (use: string, allow: string) =>
      ruling([{ rules: [{ allow }] }], { names: ['t'], keys: [{ key: `x:${use}`, label: '', mustBeNamed: true }] })?.verdict
    expect(said('one two', 't(one*)')).toBe('allow')
    expect(said('one two', 't(on*)')).toBeUndefined()
    expect(said('one', 't(one)')).toBe('allow')
    expect(said('one', 't(o*)')).toBeUndefined()
  })
})

describe('why a call is made', () => {
  const because = (reason?: string) => ({
    tool: 'write_file',
    input: { path: 'a.txt', content: 'x', ...(reason !== undefined && { reason }) },
  })

  it('is shown to the approver, and is the title of the call afterwards', async () => {
    const made = await playing([because('  To have it  ')], [], { decide: () => yes() })
    expect(made.asked[0]).toMatchObject({
      summary: 'Write a.txt, a new file',
      reason: 'To have it',
      input: { path: 'a.txt', content: 'x' },
    })
    expect(callsOf(made.events).map(({ title }) => title)).toEqual(['To have it'])
  })

  it('is shown again when the call asks to leave the sandbox', async () => {
    const blocked = { ...shell([]), execute: () => ({ ok: false, error: { class: 'sandbox', message: 'blocked' } }) as const }
    const call = { tool: 'shell', input: { command: 'make', reason: 'To build it' } }
    const sandbox = { confinement: { kind: 'sandbox', name: 'box' } } as const
    const made = await play([call], { tools: [blocked], sandbox, decide: (_, n) => (n === 1 ? yes() : no()) })
    expect(made.asked.map(({ scope, reason }) => [scope, reason])).toEqual([
      ['call', 'To build it'],
      ['unsandboxed', 'To build it'],
    ])
  })

  it('may be missing: then the title is what was asked', async () => {
    const made = await playing([because()], [], { decide: () => yes() })
    expect(made.asked[0]).not.toHaveProperty('reason')
    expect(callsOf(made.events).map(({ title }) => title)).toEqual(['Write a.txt, a new file'])
  })
})

it.each([
  ['No', 'This call was declined: No.'],
  ['No.', 'This call was declined: No.'],
  ['No!', 'This call was declined: No!'],
  ['Why?', 'This call was declined: Why?'],
])('what a person says is one sentence: %j', async (feedback, sentence) => {
  const made = await playing([write('a.txt')], [], { decide: () => no(feedback) })
  expect(made.told[0]?.content).toBe(`Error (denied): ${sentence} Continue without it, or try something else.`)
})
