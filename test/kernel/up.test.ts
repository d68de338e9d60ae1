import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { desk } from '../cli/live-window.ts'
import { agentText, type ServeScene, serveScene } from '../cli/serve-scene.ts'
import type { Running } from '../cli/troupe.ts'
import { isAlive, until } from '../hooks/processes.ts'

// `troupe up` as it was built: supervisor, kernel, bundled extensions, and extensions of the person that misbehave.

const manifest = (id: string): string => `id: ${id}\nname: ${id}\nversion: 1.0.0\ndescription: A test\nentrypoint: main:Main\n`

/** Writes down what people are sent. Its person has written once. */
const recorder = `import { appendFileSync } from 'node:fs'
export class Main {
  initialize(context) { this.context = context }
  async start() { await this.context.onUserMessage({ userId: 'ada', text: 'hello', messageId: 'first' }) }
  sendToUser(userId, { kind, text }) { appendFileSync(this.context.dataDir + '/sent', userId + ' ' + kind + ': ' + text + '\\n') }
}`
/** Restarts the kernel once a person says so. */
const onSignal = `export class Main {
  initialize(context) {
    context.subscribe('user_message', ({ data }) => {
      if (JSON.stringify(data).includes('restart, please')) return context.requestRestart('somebody asked')
    })
  }
}`
const tool = `[{ name: 'boom', description: 'x', inputSchema: { type: 'object' }, execute() { process.exit(0) } }]`

/** Each of them takes the kernel down, at another stage. */
const hostile = {
  at_import: `process.exit(3)\nexport class Main {}`,
  at_constructor: `export class Main { constructor() { process.kill(process.pid, 'SIGKILL') } }`,
  at_initialize: `export class Main { initialize() { setImmediate(() => { throw new Error('late') }); return new Promise(() => {}) } }`,
  at_tools: `export class Main { getTools() { for (;;); } }`,
  at_start: `export class Main { start() { void Promise.reject(new Error('lost')) } }`,
  at_timer: `export class Main { start() { setTimeout(() => process.abort(), 300) } }`,
  at_call: `export class Main { getTools() { return ${tool} } }`,
}

async function put(scene: ServeScene, id: string, code: string): Promise<void> {
  await scene.put(`.ai-agent/extensions/${id}/manifest.yaml`, manifest(id))
  await scene.put(`.ai-agent/extensions/${id}/main.js`, code)
}

const started: Running[] = []
afterAll(() => {
  // The kernel ends with its supervisor.
  for (const { process } of started) process.kill('SIGKILL')
})

async function up(scene: ServeScene, args: readonly string[] = []): Promise<Running> {
  const running = scene.start(['up', ...(args.includes('--port') ? [] : ['--port', '0']), ...args])
  started.push(running)
  await Promise.race([running.says('"listening"'), running.ended])
  return running
}

describe.concurrent('troupe up', () => {
  it('quarantines what takes the kernel down, at every stage, and tells the person', async () => {
    const scene = await serveScene()
    await scene.put('orchestrator.ai', agentText('You help.'))
    await put(scene, 'recorder', recorder)
    for (const [id, code] of Object.entries(hostile)) await put(scene, id, code)
    scene.reply = ({ last }) => (last === 'hello' ? { call: { name: 'at_call__boom', input: {} } } : { text: 'I am back.' })
    const running = await up(scene, ['--data-dir', 'data'])
    const [sent = ''] = await found(() => globSync('data/kernel/*/extensions/recorder/sent', { cwd: scene.folder }))
    const texts = (): string => readFileSync(join(scene.folder, sent), 'utf8')
    await until(() => Object.keys(hostile).every((id) => texts().includes(`ada notice: Extension ${id} was stopped because `)))
    await until(() => texts().includes('ada answer: I am back.'))
    running.process.kill('SIGTERM')
    const { code, stderr } = await running.ended
    expect(code).toBe(143)
    const restarts = stderr.match(/Restarting without \w+/g)?.map((text) => text.split(' ').at(-1))
    expect(restarts?.toSorted()).toEqual(Object.keys(hostile).toSorted())
  })

  it('talks in its terminal, before and after a restart, and ends with Ctrl-C', async () => {
    const { folder, troupe } = await desk()
    await writeFile(join(folder, 'orchestrator.ai'), agentText('You help.').replace('lab/model', 'rehearsal'))
    const restarter = join(folder, '.ai-agent', 'extensions', 'restarter')
    await mkdir(restarter, { recursive: true })
    await writeFile(join(restarter, 'manifest.yaml'), manifest('restarter'))
    await writeFile(join(restarter, 'main.js'), onSignal)
    const window = troupe(['up', '--port', '0'])
    await window.shows(/Troupe runs at http[\s\S]*Running [\s\S]*restarter[\s\S]*Stop with Ctrl-C[\s\S]*> $/)
    window.pty.write('hello\r')
    await window.writes('not an AI model')
    window.pty.write('restart, please\r')
    await window.writes('Restarting: restarter: somebody asked')
    await window.writes('Type a message.')
    window.pty.write('hello again\r')
    await window.writes('not an AI model')
    window.pty.write('\u0003')
    expect(await window.ended).toBe(130)
    // The log of the server does not disturb the conversation.
    expect(window.raw()).not.toMatch(/listening|Stopping|GET |POST /)
  })

  it.runIf(process.platform === 'linux')('tells the person and /ready that the disk is full, and that it works again', async () => {
    const scene = await serveScene()
    await scene.put('agents/orchestrator.ai', agentText('You help.'))
    await put(scene, 'recorder', recorder)
    const port = await freePort()
    const running = await up(scene, ['--data-dir', 'data', '--port', `${port}`])
    const [sent = ''] = await found(() => globSync('data/kernel/*/extensions/recorder/sent', { cwd: scene.folder }))
    const texts = (): string => readFileSync(join(scene.folder, sent), 'utf8')
    await until(() => texts().includes('ada answer:'))
    const [kernel = ''] = childrenOf(running.process.pid)
    // What is written beyond it fails as on a full disk.
    execFileSync('prlimit', ['--pid', kernel, '--fsize=32768:'])
    expect(await (await fetch(`http://127.0.0.1:${port}/ready`)).json()).toMatchObject({
      problems: [expect.stringContaining('Cannot write to the store')],
    })
    await until(() => texts().includes('ada error: Nothing can be stored. Cannot write to the store'))
    execFileSync('prlimit', ['--pid', kernel, '--fsize=unlimited:'])
    await until(() => texts().includes('ada error: The store works again.'))
    running.process.kill('SIGTERM')
    expect(await running.ended).toMatchObject({ code: 143 })
  })

  it('loads changed extensions again: with --watch, and when a person asks for it', async () => {
    const scene = await serveScene()
    await scene.put('agents/orchestrator.ai', agentText('You help.'))
    await put(scene, 'words', 'export class Main { initialize({ logger }) { logger.info("one") } }')
    const running = await up(scene, ['--watch'])
    await put(scene, 'words', 'export class Main { initialize({ logger }) { logger.info("two") } }')
    await running.says('Restarting: changed extensions: words')
    await running.says('words: two')
    await scene.put('extensions/README.md', 'Extensions')
    const reload = scene.start(['extensions', 'reload'])
    expect(await reload.ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ +words +running/) })
    await running.says('Restarting: the extensions are loaded again.')
    running.process.kill('SIGTERM')
    expect(await running.ended).toMatchObject({ code: 143 })
    const { code, stderr } = await scene.start(['extensions', 'reload']).ended
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('No `troupe up` runs in this folder.') })
  })

  it('ends with its terminal', async () => {
    const { folder, troupe } = await desk()
    await writeFile(join(folder, 'orchestrator.ai'), agentText('You help.').replace('lab/model', 'rehearsal'))
    const { pty, writes } = troupe(['up', '--port', '0'])
    await writes('Type a message.')
    const processes = [pty.pid, ...childrenOf(pty.pid).map(Number)]
    expect(processes.map(isAlive)).toEqual([true, true])
    ;(pty as unknown as { destroy(): void }).destroy()
    await until(() => !processes.some(isAlive))
  })

  it('stops cleanly with the code of the signal, also when the kernel gets it', async () => {
    const scene = await serveScene()
    await scene.put('orchestrator.ai', agentText('You help.'))
    const first = await up(scene)
    const second = await up(scene)
    expect(await second.ended).toMatchObject({ code: 2, stderr: expect.stringContaining('Another `troupe up` runs in this folder.') })
    first.process.kill('SIGTERM')
    expect(await first.ended).toMatchObject({ code: 143, stderr: expect.stringContaining('Stopping') })
    const third = await up(scene)
    const [kernel] = childrenOf(third.process.pid)
    process.kill(Number(kernel), 'SIGTERM')
    expect(await third.ended).toMatchObject({ code: 0, stderr: expect.stringContaining('Stopping') })
  })

  it('starts without an agent whose tools cannot exist, reports it, and keeps one that runs', async () => {
    const scene = await serveScene()
    const trip = (tools: string): Promise<void> =>
      scene.put('trip.ai', agentText('You plan.', `tools: [${tools}]\noutput: { format: text }\n`))
    await scene.put('orchestrator.ai', agentText('You help.', 'agents: [./desk.ai, ./trip.ai]\n'))
    await scene.put('desk.ai', agentText('You answer.', 'output: { format: text }\n'))
    await trip('no_such_tool')
    const running = scene.start(['up', '--port', '0'])
    started.push(running)
    let log = ''
    running.process.stderr?.on('data', (text) => (log += text))
    await running.says('"msg":"listening"')
    const listening = log.split('\n').find((line) => line.includes('"msg":"listening"')) ?? '{}'
    const ready = async (): Promise<unknown> => (await fetch(`${JSON.parse(listening).url}/ready`)).json()
    const reason = 'The agent trip is left out. trip.ai:5:9: There is no tool `no_such_tool`.'
    expect(log).toContain(reason)
    expect(await ready()).toMatchObject({ status: 'ready', warnings: [expect.stringContaining(reason)] })
    await trip('read_file')
    await running.says('Reloaded. Agents:')
    expect(await ready()).toEqual({ status: 'ready' })
    await trip('no_such_tool')
    await running.says('Not reloaded: trip.ai:5:9')
    running.process.kill('SIGTERM')
    await running.ended
  })

  it('does not start again what cannot be started', async () => {
    const scene = await serveScene()
    const { code, stderr } = await (await up(scene, ['--drain', 'soon'])).ended
    expect({ code, times: stderr.split('Expected a duration').length - 1 }).toEqual({ code: 2, times: 1 })
  })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function found(find: () => readonly string[]): Promise<readonly string[]> {
  await until(() => find().length > 0)
  return find()
}

/** Ids of the processes that it has started. */
const childrenOf = (pid: number | undefined): readonly string[] =>
  execFileSync('ps', ['-A', '-o', 'ppid=,pid='])
    .toString()
    .split('\n')
    .flatMap((line) => {
      const [parent, child] = line.trim().split(/\s+/)
      return parent === String(pid) && child !== undefined ? [child] : []
    })
