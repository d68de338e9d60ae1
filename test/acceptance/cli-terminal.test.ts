/* Issue 3, Deliver 6: the live tree on a pseudo-terminal, plain lines elsewhere, and Ctrl-C once and twice. */
// biome-ignore-all lint/complexity/useMaxParams: the columns of a table of cases
import path from 'node:path'
import { spawn } from '@lydell/node-pty'
import xterm from '@xterm/headless'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createAgentRuntime } from '../../src/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { gatedServer, ScriptedModel } from '../../src/testing/index.ts'
import { bin, documentOf, esc, place } from './command.ts'
import { agent, bounded, until } from './support.ts'
import { lab, provider, reply } from './wire.ts'

interface Terminal {
  /** Every byte that came. */
  bytes(): string
  /** What a person sees now. */
  screen(): Promise<string>
  write(keys: string): void
  readonly exit: Promise<number>
}
function terminal(args: readonly string[], where: { cwd: string }, env: NodeJS.ProcessEnv = {}, cols = 100): Terminal {
  let bytes = ''
  const view = new xterm.Terminal({ cols, rows: 40, allowProposedApi: true, convertEol: false })
  const child = spawn(process.execPath, [bin, ...args], {
    cwd: where.cwd,
    cols,
    rows: 40,
    name: env.TERM ?? 'xterm-256color',
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HOME: where.cwd,
      XDG_STATE_HOME: path.join(where.cwd, '.state'),
      TERM: 'xterm-256color',
      ...env,
    } as never,
  })
  child.onData((data) => {
    bytes += data
    view.write(data)
  })
  const exit = new Promise<number>((resolve) => child.onExit(({ exitCode }) => resolve(exitCode)))
  onTestFinished(() => {
    try {
      child.kill('SIGKILL')
    } catch {
      // it is gone
    }
  })
  return {
    bytes: () => bytes,
    async screen() {
      await new Promise<void>((resolve) => view.write('', resolve))
      const { buffer } = view
      return Array.from({ length: buffer.active.length }, (_, row) => buffer.active.getLine(row)?.translateToString(true) ?? '').join('\n')
    },
    write: (keys) => child.write(keys),
    exit: bounded(exit, 'the command', 15_000),
  }
}
/** A server that has begun to answer and goes on when told to. */
async function begun() {
  const server = await gatedServer()
  onTestFinished(() => server.close())
  const { list } = lab.events({ text: 'Oslo is the capital.', usage: { input: 321, output: 45 } })
  const exchange = server.reply({ chunks: [...list.slice(0, 2), ...list.slice(2).map((held) => ({ held }))] })
  return { exchange, goOn: () => exchange.release(list.length), env: { LAB_BASE_URL: `${server.url}/v1` } }
}

describe('on a terminal', () => {
  test('a live tree shows the agent, the model and the step while the run goes on; at the end the answer stands there', async () => {
    const { goOn, env } = await begun()
    const where = place()
    const term = terminal(['run', where.agent('geo.ai', 'models: lab/tiny-1'), 'Where?'], where, env)
    await until('the tree is drawn', async () => (await term.screen()).includes('lab/tiny-1'), 30_000)
    expect(await term.screen()).toContain('geo')
    goOn()
    expect(await term.exit).toBe(0)
    const screen = await term.screen()
    expect(screen).toContain('Oslo is the capital.')
    expect(screen).toMatch(/321/)
    expect(screen).toMatch(/45/)
    expect(screen.split('lab/tiny-1').length - 1, 'one tree is left, not a trail of them').toBeLessThanOrEqual(2)
  })
  test('the cursor is shown again at the end, colours are reset and nothing else is left behind', async () => {
    const { goOn, env } = await begun()
    goOn()
    const where = place()
    const term = terminal(['run', where.agent('geo.ai', 'models: lab/tiny-1'), 'Where?'], where, env)
    expect(await term.exit).toBe(0)
    const bytes = term.bytes()
    expect(bytes.lastIndexOf(`${esc}[?25h`)).toBeGreaterThanOrEqual(bytes.lastIndexOf(`${esc}[?25l`))
    expect(bytes).not.toContain(`${esc}[?1049h`)
  })
  test.each([
    ['NO_COLOR', { NO_COLOR: '1' }],
    ['TERM=dumb', { TERM: 'dumb' }],
  ])('%s: no escape byte', async (_, more) => {
    const { goOn, env } = await begun()
    goOn()
    const where = place()
    const term = terminal(['run', where.agent('geo.ai', 'models: lab/tiny-1'), 'Where?'], where, { ...env, ...more })
    expect(await term.exit).toBe(0)
    expect(term.bytes()).toContain('Oslo is the capital.')
    expect(term.bytes()).not.toContain(esc)
  })
  test('--quiet: only the answer', async () => {
    const { goOn, env } = await begun()
    goOn()
    const where = place()
    const term = terminal(['run', where.agent('geo.ai', 'models: lab/tiny-1'), 'Where?', '--quiet'], where, env)
    expect(await term.exit).toBe(0)
    expect(term.bytes()).toBe('Oslo is the capital.\r\n')
  })
  test('the tree keeps to a narrow terminal: no line is wrapped', async () => {
    const { goOn, env } = await begun()
    const where = place()
    const name = `a-rather-long-name-${'x'.repeat(60)}.ai`
    const term = terminal(['run', where.agent(name, 'models: lab/tiny-1'), 'Where?'], where, env, 40)
    await until('something is drawn', async () => (await term.screen()).trim() !== '', 30_000)
    goOn()
    expect(await term.exit).toBe(0)
    expect((await term.screen()).split('\n').every((line) => line.length <= 40)).toBe(true)
    expect(await term.screen()).toContain('Oslo is the capital.')
  })
  test('without a prompt it says how to give one instead of waiting for ever', async () => {
    const where = place()
    const term = terminal(['run', where.agent('geo.ai', 'models: rehearsal')], where)
    expect(await term.exit).toBe(2)
    expect(term.bytes()).toMatch(/prompt/i)
  })
  test('a single Ctrl-C on the keyboard ends the run with 130 and gives the terminal back', async () => {
    const { exchange, env } = await begun()
    const where = place()
    const term = terminal(['run', where.agent('geo.ai', 'models: lab/tiny-1'), 'Where?'], where, env)
    await exchange.arrived()
    await until('the tree is drawn', () => term.bytes().includes('lab/tiny-1'), 30_000)
    term.write('\u0003')
    expect(await term.exit).toBe(130)
    expect(await bounded(exchange.over)).toBe('left')
    const bytes = term.bytes()
    expect(bytes.lastIndexOf(`${esc}[?25h`)).toBeGreaterThanOrEqual(bytes.lastIndexOf(`${esc}[?25l`))
  })
})

describe('Ctrl-C', () => {
  const hanging = async (flags: readonly string[] = []) => {
    const server = await provider(() => undefined)
    const where = place()
    const file = where.agent('geo.ai', 'models: lab/tiny-1')
    const started = where.start(['run', file, 'Where?', '--data-dir', 'journal', ...flags], { LAB_BASE_URL: `${server.url}/v1` })
    await until('it is asked', () => server.asked.length === 1, 10_000)
    return { ...started, server, where }
  }
  test('once: 130 within two seconds, the request is given up, the journal is kept', async () => {
    const { child, ended, server, where } = await hanging()
    const at = performance.now()
    child.kill('SIGINT')
    expect(await ended).toMatchObject({ code: 130, stdout: '' })
    expect(performance.now() - at).toBeLessThan(20_000)
    await bounded(server.left)
    const store = sqliteStore({ path: path.join(where.cwd, 'journal') })
    const runtime = createAgentRuntime({ config: { agents: [agent] }, adapter: new ScriptedModel([]), store })
    onTestFinished(async () => {
      await runtime.close()
      await store.close()
    })
    expect(await runtime.sessions.list()).toMatchObject([{ status: 'interrupted' }])
  })
  test('once with --json: the document says so', async () => {
    const { child, ended } = await hanging(['--json'])
    child.kill('SIGINT')
    const done = await ended
    expect(done.code).toBe(130)
    expect(documentOf(done)).toMatchObject({ ok: false, status: 'interrupted', exitCode: 130 })
  })
  test('SIGTERM stops the process and leaves the turn open', async () => {
    const { child, ended } = await hanging(['--json'])
    child.kill('SIGTERM')
    const done = await ended
    expect(done.code).toBe(143)
    expect(documentOf(done)).toMatchObject({ ok: false, status: 'suspended', reason: 'released', exitCode: 143 })
  })
  test('twice: at once', async () => {
    const { child, ended } = await hanging()
    const at = performance.now()
    child.kill('SIGINT')
    child.kill('SIGINT')
    const { code, signal } = await ended
    expect(code === 130 || signal === 'SIGINT').toBe(true)
    expect(performance.now() - at).toBeLessThan(20_000)
  })
  test('while it waits for the next attempt', async () => {
    const server = await provider(
      { status: 429, headers: { 'content-type': 'application/json', 'retry-after': '50' }, body: '{}' },
      reply(lab, { text: 'late' }),
    )
    const where = place()
    const { child, ended } = where.start(['run', where.agent('geo.ai', 'models: lab/tiny-1'), 'Where?'], {
      LAB_BASE_URL: `${server.url}/v1`,
    })
    let told = ''
    child.stderr?.on('data', (chunk) => (told += chunk))
    await until('it waits', () => /rate_limit|429|limit/.test(told), 10_000)
    child.kill('SIGINT')
    expect(await ended).toMatchObject({ code: 130, stdout: '' })
    expect(server.asked).toHaveLength(1)
  })
})
