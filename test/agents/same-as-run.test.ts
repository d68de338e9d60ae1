import { describe, expect, test } from 'vitest'
import { troupe } from './command.ts'
import { child, folder } from './folder.ts'

// What `run` accepts, and what it reports of the configuration around it.

const agent = (settings = '') => child(settings, 'x').replace('a/b', 'rehearsal')

describe('--dry-run and doctor', () => {
  test('accept an agent with a sandbox, hooks and a configuration beside its file, as run does', async () => {
    const { path } = folder({
      'team/a.ai': child('tools: [read_file]\nsandbox: { memory: 1GB }', 'x').replace('a/b', 'fast'),
      'team/.ai-agent.json': { models: { fast: 'rehearsal' } },
      '.ai-agent.json': { agents: ['./team'] },
    })
    const [ran, dry, examined] = await Promise.all([
      troupe(path, ['run', 'team/a.ai', 'x']),
      troupe(path, ['run', 'team/a.ai', 'x', '--dry-run']),
      troupe(path, ['doctor', '--json']),
    ])
    expect([ran.code, dry.code]).toEqual([0, 0])
    expect(JSON.parse(examined.stdout)).toMatchObject({ ok: true })
  })

  test('refuse what run refuses', async () => {
    const { path } = folder({ 'a.ai': agent('limits: { maxCostUsd: 1 }').replace('rehearsal', 'openai/gpt-none-such-9') })
    const env = { OPENAI_API_KEY: 'k' }
    const [ran, dry, examined] = await Promise.all([
      troupe(path, ['run', 'a.ai', 'x'], env),
      troupe(path, ['run', 'a.ai', 'x', '--dry-run'], env),
      troupe(path, ['doctor', '--json'], env),
    ])
    expect([ran.code, dry.code, dry.stderr]).toEqual([2, 2, ran.stderr])
    const { checks } = JSON.parse(examined.stdout) as { readonly checks: readonly { readonly status: string; readonly what: string }[] }
    expect(checks.filter(({ status }) => status === 'fail').map(({ what }) => what)).toEqual(['run'])
  })
})

test('a configured key is not sent to an address from the environment, and that is reported', async () => {
  const { path } = folder({
    'a.ai': agent().replace('rehearsal', '[openai/gpt-5.4-mini, lab/x, rehearsal]'),
    'k.json': { providers: { openai: { apiKey: 'k' }, lab: { apiKey: 'k', baseURL: 'http://127.0.0.1:1/v1' } } },
    'none.json': { providers: { lab: { apiKey: 'k' } } },
  })
  const env = { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1', LAB_BASE_URL: 'http://127.0.0.1:9/v1' }
  const dry = await troupe(path, ['run', 'a.ai', 'x', '--dry-run', '--config', 'k.json'], env)
  expect(dry.code).toBe(0)
  expect(dry.stderr).toContain(
    'OPENAI_BASE_URL: This variable is ignored: the key of `providers.openai` is not sent to an address from the environment',
  )
  expect(dry.stderr).not.toContain('LAB_BASE_URL')
  const none = await troupe(path, ['run', 'a.ai', 'x', '--dry-run', '--config', 'none.json'], env)
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('providers.lab.baseURL is not set.')])
})

test('a configuration that is in the wrong place, or beside a child, is reported', async () => {
  const { path } = folder({
    'boss.ai': agent('agents: [./team/scout.ai]'),
    'team/scout.ai': agent(),
    'team/.ai-agent.json': { queues: { openai: { concurrent: 1 } } },
    '.home/.ai-agent.json': {},
  })
  const { code, stderr } = await troupe(path, ['run', 'boss.ai', 'x'])
  expect(code).toBe(0)
  expect(stderr).toContain(`${path}/.home/.ai-agent.json: This file is not read. Move it to ${path}/.home/.ai-agent/.ai-agent.json`)
  expect(stderr).toContain(`${path}/team/.ai-agent.json: This file does not apply to \`scout\` as a child`)
})

test('a misspelt model of a known provider is reported with the nearest name; a server of one’s own has its own', async () => {
  const { path } = folder({ 'a.ai': agent().replace('rehearsal', '[openai/gtp-4o, openai/gpt-4o, rehearsal]') })
  const own = { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' }
  const [told, elsewhere] = await Promise.all([troupe(path, ['validate']), troupe(path, ['validate'], own)])
  expect([told.code, told.stderr]).toEqual([
    0,
    expect.stringMatching(/^a\.ai:4:9: The model `openai\/gtp-4o` is not .* Did you mean `openai\/gpt-4o`/),
  ])
  expect([elsewhere.code, elsewhere.stderr]).toEqual([0, ''])
})

test('a misspelt bare model name is reported by validate and a dry run, too', async () => {
  const files = { 'a.ai': agent().replace('rehearsal', '[gpt-5-mni, quick, rehearsal]') }
  const { path } = folder({ ...files, '.ai-agent.json': { models: { quick: 'claude-sonet-5' } } })
  for (const words of [['validate'], ['run', 'a.ai', 'x', '--dry-run']]) {
    const { code, stderr } = await troupe(path, words, { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' })
    expect(code).toBe(0)
    expect(stderr).toMatch(/a\.ai:4:9: The model `gpt-5-mni` is not in the list of known models\. Did you mean `gpt-5-mini`/)
    expect(stderr).toMatch(/a\.ai:4:9: The model `claude-sonet-5` is not in the list of known models\. Did you mean `claude-sonnet/)
  }
  expect((await troupe(folder({ 'a.ai': agent().replace('rehearsal', 'gpt-5-mini') }).path, ['validate'])).stderr).toBe('')
})

test('a closed hook that fails exits 1, and a limit exits 5', async () => {
  const hook = (on: string) => ({ hooks: [{ name: 'g', on: [on], command: ['sh', '-c', 'exit 7'], onFailure: 'closed' }] })
  const { path } = folder({ 'a.ai': agent('tools: [list_files]'), 'before.json': hook('before_request'), 'stop.json': hook('at_stop') })
  const [before, stop, limit] = await Promise.all([
    troupe(path, ['run', 'a.ai', 'x', '--config', 'before.json', '--json']),
    troupe(path, ['run', 'a.ai', 'x', '--config', 'stop.json', '--json']),
    troupe(path, ['run', 'a.ai', 'list_files', '--override', 'limits.maxTokens=1']),
  ])
  for (const { code, stdout } of [before, stop]) expect([code, JSON.parse(stdout)]).toMatchObject([1, { status: 'failed', reason: 'hook' }])
  expect(limit.code).toBe(5)
})
