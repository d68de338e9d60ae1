// One bad server costs its own tools, never the session.

import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, describe, expect, it } from 'vitest'
import type { StdioServerDefinition } from '../../src/contracts/index.ts'
import { FakeClock } from '../../src/testing/index.ts'
import { processesWith } from '../../src/tools/sandbox/process-tree.ts'
import { until } from '../hooks/processes.ts'
import { settle } from '../settle.ts'
import { hostOf, names, nodeServer, type Opened, openServer } from './support.ts'

const folder = mkdtempSync(join(tmpdir(), 'troupe-hostile-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Its processes are found by a variable: in a namespace they have other numbers. */
function hostile(mode: string, more: Partial<StdioServerDefinition> = {}) {
  const mark = randomUUID()
  const log = join(folder, mark)
  const script = join(import.meta.dirname, 'fixtures/hostile-server.mjs')
  const definition = nodeServer(script, [mode, log], { timeout: 5_000, ...more, env: { MARK: mark, ...more.env } } as never)
  const received = (): readonly string[] => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [])
  return { definition, received, left: () => processesWith(`MARK=${mark}`) }
}

/** How a promise stands, after everything that is ready has run. */
async function stateOf(promise: Promise<unknown>): Promise<'pending' | 'settled'> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  return Promise.race([
    promise.then(
      () => 'settled' as const,
      () => 'settled' as const,
    ),
    Promise.resolve('pending' as const),
  ])
}

describe('a server that hangs', () => {
  it.each([
    ['initialize', 'did not answer within 10 s'],
    ['tools/list', 'did not answer within 10 s'],
  ])('at %s fails at its deadline, and leaves no process', async (stage, message) => {
    const clock = new FakeClock()
    const { definition, received, left } = hostile(`hang ${stage}`, { timeout: 10_000 })
    const { source } = openServer(definition, { host: hostOf({ clock }) })
    const listed = source.list()
    listed.catch(() => {})
    await until(() => received().includes(stage))
    clock.advance(9_000)
    expect(await stateOf(listed)).toBe('pending')
    clock.advance(2_000)
    await expect(settle(listed, clock)).rejects.toMatchObject({ code: 'tools_unavailable', message: expect.stringContaining(message) })
    await settle(source.close(), clock)
    await until(() => left().length === 0)
  })

  it('in a call is told that the call was cancelled, and keeps running while it gives a sign of life', async () => {
    const { definition, received } = hostile('hang tools/call')
    const { call } = openServer(definition)
    await cancelledCall(call, received)
    await cancelledCall(call, received)
    expect(received().filter((method) => /initialize$|ping/.test(method))).toEqual(['initialize', 'ping'])
    await until(() => received().includes('notifications/cancelled'))
  })

  it('for good is replaced before the next call', async () => {
    const { definition, received } = hostile('freeze', { timeout: 1_500 })
    const { call } = openServer(definition)
    await cancelledCall(call, received)
    await cancelledCall(call, received)
    expect(received().filter((method) => /initialize$|ping/.test(method))).toEqual(['initialize', 'ping', 'initialize'])
  })

  async function cancelledCall(call: Opened['call'], received: () => readonly string[]): Promise<void> {
    const cancel = new AbortController()
    const calls = (): number => received().filter((method) => method === 'tools/call').length
    const before = calls()
    const ended = call('call', {}, { signal: cancel.signal })
    await until(() => calls() > before)
    cancel.abort()
    expect(await ended).toMatchObject({ ok: false, error: { class: 'cancelled' } })
  }
})

describe('a server that ends', () => {
  it('at the start is reported with what it printed', async () => {
    const { source } = openServer(hostile('exit-start').definition)
    await expect(source.list()).rejects.toMatchObject({
      code: 'tools_unavailable',
      message: expect.stringMatching(/It printed: no licence found$/),
    })
  })

  it('in a call fails the call, which is not repeated, and is started again for the next one', async () => {
    const { definition, received } = hostile('crash-call')
    const { call } = openServer(definition)
    const failed = {
      ok: false,
      error: { class: 'failed', message: expect.stringMatching(/may have taken effect\. It printed: it broke$/) },
    }
    expect(await call('call', {})).toMatchObject(failed)
    expect(received().filter((method) => method === 'tools/call')).toHaveLength(1)
    expect(await call('call', {})).toMatchObject(failed)
    expect(received().filter((method) => method === 'initialize')).toHaveLength(2)
  })

  it('again and again is started again after longer and longer delays', async () => {
    const clock = new FakeClock()
    const { definition } = hostile('exit-start')
    const { source } = openServer(definition, { host: hostOf({ clock }) })
    await source.list().catch(() => {})
    for (const delay of [250, 500, 1_000]) {
      const listed = source.list()
      listed.catch(() => {})
      clock.advance(delay - 1)
      expect(await stateOf(listed)).toBe('pending')
      clock.advance(1)
      await expect(listed).rejects.toMatchObject({ code: 'tools_unavailable' })
    }
  })

  it('in every call soon after its start is started again after longer and longer delays', async () => {
    const clock = new FakeClock()
    const { definition, received } = hostile('crash-call')
    const { call } = openServer(definition, { host: hostOf({ clock }) })
    await call('call', {})
    for (const delay of [250, 500, 1_000]) {
      const calling = call('call', {})
      clock.advance(delay - 1)
      expect(await stateOf(calling)).toBe('pending')
      clock.advance(1)
      expect(await calling).toMatchObject({ ok: false })
    }
    expect(received().filter((method) => method === 'initialize')).toHaveLength(4)
  })
})

describe('a server that sends too much', () => {
  const mostGrowth = 64 * 1024 * 1024

  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void

  /** Without garbage: when it is collected depends on everything else in this process. */
  function memoryInUse(): number {
    collectGarbage()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }

  /** The most memory that was in use meanwhile, besides what was in use before. */
  async function growthOf(run: () => Promise<unknown>): Promise<number> {
    const before = memoryInUse()
    let most = before
    const timer = setInterval(() => {
      most = Math.max(most, memoryInUse())
    }, 50)
    await run().finally(() => clearInterval(timer))
    return Math.max(most, memoryInUse()) - before
  }

  it('returns 100 MB: the call fails, and the next one works', async () => {
    const { definition } = hostile('huge-result', { timeout: 30_000 })
    const { source, call } = openServer(definition)
    await source.list()
    const growth = await growthOf(async () => {
      const error = { class: 'failed', message: 'The MCP server "srv" sent a message of more than 8 MB, which was dropped.' }
      expect(await call('call', {})).toMatchObject({ ok: false, error })
    })
    console.log(`100 MB from a server: +${Math.round(growth / 1024 ** 2)} MB`)
    expect(growth).toBeLessThan(mostGrowth)
    expect(await source.prompts()).toEqual([])
  })

  it.each(['flood-garbage', 'flood-line', 'flood-stderr'])('%s: other work goes on, and memory stays', async (mode) => {
    const { definition, left } = hostile(mode, { timeout: 1_500 })
    const { source } = openServer(definition)
    const growth = await growthOf(async () => {
      const listed = await source.list().catch((error: unknown) => error)
      if (mode === 'flood-stderr') expect(listed).toHaveLength(1)
      else expect(listed).toMatchObject({ code: 'tools_unavailable' })
    })
    expect(growth).toBeLessThan(mostGrowth)
    await source.close()
    await until(() => left().length === 0)
  })

  it('floods a call with notifications: they are limited, and the call can be cancelled', async () => {
    const { definition } = hostile('flood-call')
    const lines: string[] = []
    const { source, call } = openServer(definition, { host: hostOf({ log: (_, line) => lines.push(line) }) })
    await source.list()
    const shown: string[] = []
    const cancel = new AbortController()
    const progress = (text: string): void => {
      if (shown.push(text) === 15) cancel.abort()
    }
    const growth = await growthOf(() => call('call', {}, { signal: cancel.signal, progress }))
    expect(growth).toBeLessThan(mostGrowth)
    expect(lines.length).toBeLessThan(100)
  })

  it('sends 500 progress notifications at once: ten are shown', async () => {
    const { call } = openServer(hostile('progress').definition)
    const shown: string[] = []
    expect(await call('call', {}, { progress: (text) => shown.push(text) })).toMatchObject({ ok: true })
    expect(shown.length).toBeLessThanOrEqual(10)
  })

  it.each([
    ['pages', 100],
    ['same-page', 2],
    ['many-tools', 1_000],
    ['two-pages', 1_000],
  ])('%s: the list ends', async (mode, most) => {
    const { source, reports } = openServer(hostile(mode).definition)
    expect((await source.list()).length).toBeLessThanOrEqual(most)
    expect(reports.at(-1)?.message).toMatch(/lists too many tools|another tool of the server has this name/)
  })

  it('has long instructions, which are cut', async () => {
    const { source } = openServer(hostile('none').definition)
    await source.list()
    expect(source.instructions()?.length).toBeLessThan(8_100)
  })
})

describe('a server that sends nonsense', () => {
  it.each(['garbage', 'none'])('%s among its messages is ignored', async (mode) => {
    const { call } = openServer(hostile(mode).definition)
    expect(await call('call', {})).toEqual({ ok: true, content: 'done' })
  })

  it('answers with other ids: the call waits for its own answer', async () => {
    const { definition, received } = hostile('wrong-ids')
    const { call } = openServer(definition)
    const cancel = new AbortController()
    const ended = call('call', {}, { signal: cancel.signal })
    await until(() => received().includes('tools/call'))
    cancel.abort()
    expect(await ended).toMatchObject({ ok: false, error: { class: 'cancelled' } })
  })

  it('lists invalid tools: they are left out and reported, the others stay', async () => {
    const { source, reports } = openServer(hostile('bad-tools').definition)
    const tools = await source.list()
    expect(names(tools)).toEqual(['bad-type', 'good', 'long-text', 'n'.repeat(120), 'twin.a'])
    expect(tools.every(({ description }) => description.length <= 8_000)).toBe(true)
    expect(reports.map(({ message }) => message)).toEqual([
      expect.stringContaining('a tool is not an object'),
      expect.stringContaining('no-schema: its input schema is not an object'),
      expect.stringContaining('not-an-object: its input schema is not valid'),
      expect.stringContaining('too-large: its input schema is larger than 64 KB'),
      expect.stringMatching(/^\d more tools of the MCP server "srv" are left out\.$/),
    ])
  })

  it.each([['no-list', 'sent no list of tools']])('%s fails the source', async (mode, message) => {
    await expect(openServer(hostile(mode).definition).source.list()).rejects.toMatchObject({ message: expect.stringContaining(message) })
  })

  it.each([
    ['deep-result', { ok: true }],
    ['bad-result', { ok: false, error: { class: 'failed', message: expect.stringContaining('sent an invalid result') } }],
    ['error-result', { ok: false, error: { class: 'failed', message: 'it went wrong' } }],
    ['many-parts', { ok: true, content: expect.stringMatching(/\[900 more parts were dropped\]$/) }],
  ])('%s', async (mode, expected) => {
    const { call } = openServer(hostile(mode).definition)
    expect(await call('call', {})).toMatchObject(expected)
  })

  it('returns structured content that does not match its own schema: the call fails', async () => {
    const { call } = openServer(hostile('schemas-checked').definition)
    expect(await call('call', {})).toMatchObject({ ok: true, value: { n: 1 }, content: '{"n":1}' })
    expect(await call('call', {})).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining('does not match the output schema') },
    })
  })
})

describe('a server that changes its tools', () => {
  it('is listed again once for many changes, and the change is reported if there is one', async () => {
    const { definition, received } = hostile('changing-tools')
    const { source, call } = openServer(definition)
    expect(names(await source.list())).toEqual(['call', 'version-1'])
    const changed = new Promise<void>((resolve) => source.onChange(resolve))
    await call('call', {})
    await changed
    expect(names(await source.list())).toEqual(['call', 'version-2'])
    expect(received().filter((method) => method === 'tools/list')).toHaveLength(2)
  })

  it('offers only what a person has accepted, where descriptions are pinned', async () => {
    const pins = {
      check: (_: string, tools: readonly { name: string }[]) => ({
        withheld: tools.map(({ name }) => name).filter((name) => name !== 'call'),
        remedy: 'Run `troupe mcp show srv`.',
      }),
    }
    const { source, reports } = openServer(hostile('changing-tools').definition, { host: hostOf({ pins }) })
    expect(names(await source.list())).toEqual(['call'])
    expect(source.instructions()).toBeUndefined()
    expect(reports).toMatchObject([{ code: 'tools_withheld', remedy: 'Run `troupe mcp show srv`.' }])
  })
})

describe('the process of a server', () => {
  it.each([
    ['in a namespace', process.env],
    ['with a watcher', { PATH: '' }],
  ])('%s: ends with its own processes even if it ignores signals', async (_, environment) => {
    const { definition, left } = hostile('ignore-signals')
    const { source } = openServer(definition, { host: hostOf({ environment }) })
    await source.list()
    expect(left().length).toBeGreaterThanOrEqual(2)
    await source.close()
    await until(() => left().length === 0)
  })

  it('gets PATH, HOME and the like, its own variables, and nothing else', async () => {
    const { definition } = hostile('environment', { env: { OWN: 'mine' } })
    const environment = { ...process.env, SECRET_TOKEN: 'secret', HOME: '/home/somebody' }
    const output = await openServer(definition, { host: hostOf({ environment }) }).call('call', {})
    const got = JSON.parse((output as { content: string }).content)
    expect(got).toMatchObject({ OWN: 'mine', HOME: '/home/somebody', PATH: process.env.PATH })
    expect(got).not.toHaveProperty('SECRET_TOKEN')
  })

  it.each([
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder
    [{ env: { KEY: '${MISSING}' } }, 'needs the variable MISSING, which is not set'],
    [{ command: 'no-such-program' }, 'was not found: no-such-program'],
  ])('is not started with %j', async (more, message) => {
    const { source } = openServer(hostile('none', more).definition)
    await expect(source.list()).rejects.toMatchObject({ code: 'config_invalid', message: expect.stringContaining(message) })
  })
})
