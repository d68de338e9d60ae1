import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Problem } from '../../src/contracts/index.ts'
import { troupe } from './command.ts'
import { child, folder } from './folder.ts'

interface Told {
  readonly code?: string
  readonly remedy?: string
  readonly problems: readonly Problem[]
}

const errorIn = (document: string): Told => (JSON.parse(document) as { readonly error: Told }).error

/** A project whose agent cannot be run without something that nobody has trusted. */
const starts: {
  readonly [why: string]: { readonly files: Parameters<typeof folder>[0]; readonly withheld: string; readonly code: number }
} = {
  'a provider': {
    files: {
      'a.ai': child().replace('a/b', 'lab/m'),
      '.ai-agent.json': { providers: { lab: { baseURL: 'http://127.0.0.1:9/v1' } } },
    },
    withheld: '.ai-agent.json',
    code: 3,
  },
  'a key': {
    files: { 'a.ai': child().replace('a/b', 'openai/gpt-5.4-mini'), '.ai-agent.env': 'OPENAI_API_KEY=sk-abcdefgh12345' },
    withheld: '.ai-agent.env',
    code: 3,
  },
  'agents elsewhere': {
    files: { 'here/a.ai': child('agents: [q]'), 'here/.ai-agent.json': { agents: ['../q.ai'] }, 'q.ai': child() },
    withheld: 'here/.ai-agent.json',
    code: 2,
  },
}

describe.each(Object.entries(starts))('a start that fails for want of trust in %s', (_, { files, withheld, code }) => {
  const file = Object.keys(files ?? {})[0] ?? ''

  test('says so first, with what is withheld and how to trust it', async () => {
    const { path } = folder(files)
    const said = await troupe(path, ['run', file, 'Hi', '-q'])
    expect(said).toMatchObject({ code, stdout: '' })
    expect(said.stderr).toContain(join(path, withheld))
    const remedies = said.stderr.split('\n').filter((line) => line.includes('→'))
    expect(remedies[0]).toContain(`troupe trust ${join(path, withheld)}`)
  })

  test('says so to programs, whatever was asked for', async () => {
    const { path } = folder(files)
    const expected = { place: expect.stringContaining(join(path, withheld)), remedy: expect.stringContaining('troupe trust ') }
    for (const more of [['--json'], ['--json', '--dry-run']]) {
      const { stdout } = await troupe(path, ['run', file, 'Hi', ...more])
      const { problems, remedy } = errorIn(stdout)
      expect(problems[0]).toMatchObject(expected)
      if (remedy !== undefined) expect(remedy).toMatch(/^Untrusted files may be the cause \(.*troupe trust .*\)\. Otherwise: /)
    }
    const { stdout } = await troupe(path, ['run', file, 'Hi', '--stream-json'])
    expect(errorIn(stdout).problems[0]).toMatchObject(expected)
    const { stderr } = await troupe(path, ['run', file, 'Hi', '--log-format', 'json'])
    expect((JSON.parse(stderr) as Told).problems[0]).toMatchObject(expected)
  })
})

describe('other commands that fail', () => {
  test('say what waits for trust, and variables that nobody knows', async () => {
    const { path } = folder({
      'a.ai': child('agents: [q]'),
      '.ai-agent.json': { agents: ['../q.ai'], providers: { lab: { baseURL: 'http://127.0.0.1:9/v1' } } },
    })
    const env = { TROUPE_NONSENSE: '1' }
    for (const words of [
      ['run', 'a.ai', '--help'],
      ['config', 'show', 'a.ai'],
    ]) {
      const { code, stderr } = await troupe(path, words, env)
      expect(code).toBe(2)
      expect(stderr).toContain(`troupe trust ${join(path, '.ai-agent.json')}`)
      expect(stderr).toContain('TROUPE_NONSENSE')
    }
    const { stderr } = await troupe(path, ['config', 'show'], { TROUPE_LIMITS_MAX_TOKENS: 'many' })
    expect(stderr).toContain(`troupe trust ${join(path, '.ai-agent.json')}`)
  })
})

describe('a run that continues without untrusted settings', () => {
  const files = {
    'a.ai': child().replace('a/b', 'rehearsal'),
    '.ai-agent.json': { approvals: { rules: [{ allow: 'shell' }] }, sandbox: { mode: 'off' } },
  }
  const env = { TROUPE_NONSENSE: '1' }
  const untrusted = { code: 'config_untrusted', severity: 'warning', message: expect.stringContaining('sandbox.mode') }
  const unknown = { code: 'variable_unused', severity: 'warning', place: 'TROUPE_NONSENSE' }

  test('has it in its document and in the last line of its stream', async () => {
    const { path } = folder(files)
    const whole = await troupe(path, ['run', 'a.ai', 'Hi', '-q', '--json'], env)
    expect(JSON.parse(whole.stdout)).toMatchObject({ ok: true, diagnostics: [untrusted, unknown] })
    const streamed = await troupe(path, ['run', 'a.ai', 'Hi', '-q', '--stream-json'], env)
    const last: unknown = JSON.parse(streamed.stdout.trimEnd().split('\n').at(-1) ?? '')
    expect(last).toMatchObject({ type: 'run.completed', outcome: { diagnostics: [untrusted, unknown] } })
  })

  test('reports it even with --quiet, but nothing else', async () => {
    const { path } = folder(files)
    const { stderr } = await troupe(path, ['run', 'a.ai', 'Hi', '-q'], env)
    expect(stderr).toContain(`troupe trust ${join(path, '.ai-agent.json')}`)
    expect(stderr).not.toContain('TROUPE_NONSENSE')
    const logged = await troupe(path, ['run', 'a.ai', 'Hi', '-q', '--log-format', 'json'], env)
    expect(JSON.parse(logged.stderr.split('\n')[0] ?? '')).toMatchObject({ level: 'warn', msg: expect.stringContaining('sandbox.mode') })
  })

  test('has what an agent of another program loses, as well', async () => {
    const { path } = folder({ '.claude/agents/ro.md': '---\nname: ro\ndescription: D\ntools: Read, Write\n---\nReview.\n' })
    const { stdout, stderr } = await troupe(path, ['run', '.claude/agents/ro.md', 'Hi', '--model', 'rehearsal', '-q', '--json'])
    const { diagnostics } = JSON.parse(stdout) as { readonly diagnostics: readonly object[] }
    expect(diagnostics).toContainEqual(expect.objectContaining({ code: 'agent_untrusted' }))
    expect(stderr).toContain('troupe trust .claude/agents/ro.md')
  })
})

describe('--dry-run with --trust', () => {
  test('treats files as trusted for this command, the programs of their hooks, too, and stores nothing', async () => {
    const { path } = folder({
      'a.ai': child().replace('a/b', 'lab/m'),
      'hook.mjs': 'export const beforeCall = () => undefined\n',
      '.ai-agent.json': {
        providers: { lab: { baseURL: 'https://lab.example/v1' } },
        hooks: [{ name: 'spy', on: ['before_call'], module: './hook.mjs', onFailure: 'open' }],
      },
    })
    const { code, stdout } = await troupe(path, ['run', 'a.ai', 'Hi', '--trust', '--dry-run', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, notices: [] })
    expect(code).toBe(0)
    expect(existsSync(join(path, '.state'))).toBe(false)
    expect((await troupe(path, ['run', 'a.ai', 'Hi', '--dry-run'])).code).toBe(3)
  })
})
