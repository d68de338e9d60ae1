// Whose connection it is, how long it lives, and what is started ahead.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import type { SessionId, StdioServerDefinition } from '../../src/contracts/index.ts'
import { type McpHost, type McpServerSource, mcpToolSource } from '../../src/tools/mcp/index.ts'
import { processesWith } from '../../src/tools/sandbox/process-tree.ts'
import { until } from '../hooks/processes.ts'
import { contextOf, hostOf, nodeServer } from './support.ts'

const folder = mkdtempSync(join(tmpdir(), 'troupe-connections-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const script = join(import.meta.dirname, 'fixtures/hostile-server.mjs')

/** Counts its calls: the number shows which process answered. */
function counting(more: Partial<StdioServerDefinition> = {}, host: McpHost = hostOf()) {
  const mark = randomUUID()
  const log = join(folder, mark)
  const definition = nodeServer(script, ['count', log], { ...more, env: { MARK: mark, ...more.env } } as never)
  const source = mcpToolSource('srv', definition, host)
  onTestFinished(() => source.close?.())
  const started = (): number => (existsSync(log) ? readFileSync(log, 'utf8').split('notifications/initialized').length - 1 : 0)
  return { source, definition, host, started, running: () => processesWith(`MARK=${mark}`).length }
}

function session(source: McpServerSource, id: string, overlay: { readonly [name: string]: string } = {}) {
  const opened = source.open({ sessionId: id as SessionId, overlay, report: () => {} })
  onTestFinished(() => opened.close())
  const count = async (): Promise<unknown> => {
    const [tool] = await opened.list()
    return (await tool?.execute({}, contextOf())) as unknown
  }
  return { opened, count }
}
const counted = (count: number) => ({ ok: true, content: String(count) })

describe('a connection', () => {
  it('belongs to one session, and ends with it', async () => {
    const { source, running } = counting()
    const [one, other] = [session(source, 'one'), session(source, 'two')]
    expect(running()).toBe(0)
    expect(await one.count()).toEqual(counted(1))
    expect(await one.count()).toEqual(counted(2))
    expect(await other.count()).toEqual(counted(1))
    await one.opened.close()
    expect(await other.count()).toEqual(counted(2))
    await expect(one.opened.list().then(() => one.opened.facts())).rejects.toMatchObject({ code: 'tools_unavailable' })
    await other.opened.close()
    await source.close?.()
    await until(() => running() === 0)
  })

  it('is shared by the sources of one session with the same definition and values', async () => {
    const { source, definition, host } = counting()
    const again = mcpToolSource('srv', definition, host)
    const [one, other] = [session(source, 'one'), session(again, 'one')]
    expect(await one.count()).toEqual(counted(1))
    await one.opened.close()
    expect(await other.count()).toEqual(counted(1))
    const third = session(source, 'one')
    expect(await third.count()).toEqual(counted(2))
  })

  it('that is closed while it opens leaves no process', async () => {
    const { source, running } = counting({ connect: 'eager' })
    for (let count = 0; count < 5; count++) {
      const { opened } = session(source, `early-${count}`)
      for (let turn = 0; turn < count * 3; turn++) await new Promise((resolve) => setImmediate(resolve))
      await opened.close()
    }
    await source.close?.()
    await until(() => running() === 0)
  })

  it('is not shared if a value differs', async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder
    const { source } = counting({ env: { USER_TOKEN: '${TOKEN}' }, share: 'process' })
    const [one, other] = [session(source, 'one', { TOKEN: 'a' }), session(source, 'two', { TOKEN: 'b' })]
    expect(await one.count()).toEqual(counted(1))
    expect(await other.count()).toEqual(counted(1))
  })

  it('with `share: process` serves all sessions, until the last one closes', async () => {
    const { source, running } = counting({ share: 'process' })
    const [one, other] = [session(source, 'one'), session(source, 'two')]
    expect(await one.count()).toEqual(counted(1))
    expect(await other.count()).toEqual(counted(2))
    await one.opened.close()
    expect(await other.count()).toEqual(counted(3))
    await other.opened.close()
    await until(() => running() === 0)
  })
})

describe('a process that is started ahead', () => {
  it('exists from the second session on, is used by the next one, and ends with the source', async () => {
    const { source, running } = counting()
    await session(source, 'one').count()
    const one = running()
    await session(source, 'two').count()
    await until(() => running() === 3 * one)
    expect(await session(source, 'three').count()).toEqual(counted(1))
    await until(() => running() === 4 * one)
    await source.close?.()
    await until(() => running() === 3 * one)
  })

  it('is started by `prepare`, and with `connect: eager` by the first session', async () => {
    const { source, started } = counting({ connect: 'eager' })
    source.prepare({})
    await until(() => started() === 1)
    const first = session(source, 'one')
    await until(() => started() === 2)
    expect(await first.count()).toEqual(counted(1))
    expect(started()).toBe(2)
  })

  it('ends if no session takes it', async () => {
    const expiries: (() => void)[] = []
    const { clock } = hostOf()
    const after = (ms: number, fire: () => void): (() => void) => {
      if (ms !== 300_000) return clock.after(ms, fire)
      expiries.push(fire)
      return () => {}
    }
    const { source, running } = counting({}, hostOf({ clock: { ...clock, after } }))
    source.prepare({})
    await until(() => running() > 0)
    for (const expire of expiries) expire()
    await until(() => running() === 0)
  })
})

describe('SIGKILL of this program', () => {
  it.each([
    ['in a namespace', process.env.PATH ?? ''],
    ['with a watcher', ''],
  ])('ends a server %s, which ignores SIGTERM, and its child', async (_, path) => {
    const mark = randomUUID()
    const child = spawn(process.execPath, [join(import.meta.dirname, 'fixtures/killed-subject.ts'), script, mark, path])
    await new Promise((resolve) => child.stdout.once('data', resolve))
    const servers = (): number => processesWith(`MARK=${mark}`).length
    await until(() => servers() >= 2)
    child.kill('SIGKILL')
    await until(() => servers() === 0)
  })
})
