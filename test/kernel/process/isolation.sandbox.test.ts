// What an extension that is not trusted can reach: it tries everything.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ExtensionSandbox, extensionSandbox } from '../../../src/kernel/process/extension-sandbox.ts'
import type { ExtensionPermissions } from '../../../src/kernel/shared/kernel-types.ts'
import { noSandboxHere, sandboxed } from '../../sandbox-here.ts'
import { eventually, path, processesNamed } from '../../tools/sandbox/ground.ts'
import { extensionStage, main, realClock, runTool, type Stage, withTool } from './extension-stage.ts'

/** Runs functions, and returns for each what it returned or the code of its error. */
const attempts = (list: readonly string[], imports = ''): string =>
  withTool(
    `const results = []
     for (const attempt of [${list.map((each) => `async () => ${each}`).join(',')}])
       try { results.push(await attempt() ?? 'done') } catch (error) { results.push(error.code ?? error.message) }
     return JSON.stringify(results)`,
    `import fs from 'node:fs'\nimport net from 'node:net'\nimport { spawn } from 'node:child_process'\n${imports}`,
  )
/** A hidden file in a folder that it sees. */
const covered = expect.stringMatching(/^(?:EACCES)?$/)
const read = (file: string): string => `fs.readFileSync(${JSON.stringify(file)}, 'utf8')`
const write = (file: string): string => `fs.writeFileSync(${JSON.stringify(file)}, 'x')`

describe.skipIf(noSandboxHere)(sandboxed('an extension that is not trusted'), () => {
  let stage: Stage
  let home: string
  let sandbox: ExtensionSandbox
  beforeAll(() => {
    // Not in /tmp, which is empty inside anyway.
    const cache = join(import.meta.dirname, '../../../node_modules/.cache')
    mkdirSync(cache, { recursive: true })
    stage = extensionStage(cache)
    home = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-home-')))
    writeFileSync(join(home, '.netrc'), 'SECRET')
    for (const file of [
      'readme.md',
      '.env',
      '.git/config',
      'docs/a.md',
      'docs/.secret/key',
      'docs/deep/.env',
      'out/old.txt',
      'extensions/other/main.js',
    ])
      stage.write(file, 'SECRET')
    symlinkSync(home, join(stage.root, 'docs/link'))
    sandbox = extensionSandbox({ workspace: stage.root, path, home, clock: realClock })
  })
  afterAll(async () => {
    await stage?.remove()
    if (home) rmSync(home, { recursive: true, force: true })
  })

  const results = async (list: readonly string[], permissions: Partial<ExtensionPermissions> = {}): Promise<unknown> => {
    const manifest = { permissions: { hosts: [], read: [], write: [], ...permissions } }
    const opened = await stage.open(attempts(list), { sandbox, manifest })
    const result = await runTool(opened.instance)
    await opened.close()
    return typeof result === 'string' ? JSON.parse(result) : result
  }
  const inside = (file: string): string => join(stage.root, file)

  it('reads its own folder, writes its data folder, and reaches no other file of people', async () => {
    const own = inside('extensions/guest/main.js')
    const data = join(stage.dataFolder, 'guest/kept.txt')
    expect(
      await results([
        `${read(own)}.length > 0`,
        write(own),
        write(data),
        read(join(home, '.netrc')),
        read(inside('readme.md')),
        read(inside('.env')),
        read(inside('extensions/other/main.js')),
        read(join(import.meta.dirname, '../../../package.json')),
        write('/usr/x'),
        `fs.readdirSync(${JSON.stringify(stage.dataFolder)}).join()`,
        `Object.keys(process.env).filter((name) => /KEY|TOKEN|SECRET/i.test(name) && !/^GIT_CONFIG_/.test(name)).join()`,
      ]),
    ).toEqual([true, 'EROFS', 'done', 'ENOENT', 'ENOENT', 'ENOENT', 'ENOENT', 'ENOENT', 'EROFS', 'guest', ''])
    expect(readFileSync(data, 'utf8')).toBe('x')
  })

  it('reads and writes the folders of its permissions, without what is hidden in them', async () => {
    expect(
      await results(
        [
          read(inside('docs/a.md')),
          write(inside('docs/a.md')),
          read(inside('docs/deep/.env')),
          read(inside('docs/.secret/key')),
          read(inside('docs/link/.netrc')),
          read(inside('out/old.txt')),
          write(inside('out/new.txt')),
          read(inside('readme.md')),
        ],
        { read: ['docs'], write: ['out'] },
      ),
    ).toEqual(['SECRET', 'EROFS', covered, 'ENOENT', 'ENOENT', 'SECRET', 'done', 'ENOENT'])
    expect(existsSync(inside('out/new.txt'))).toBe(true)
  })

  it('reads the whole project without hidden files, also those that appear later', async () => {
    const list = [read(inside('readme.md')), read(inside('.env')), read(inside('.git/config')), read(inside('docs/deep/.env'))]
    const opened = await stage.open(attempts([...list, read(inside('.later'))]), {
      sandbox,
      manifest: { permissions: { hosts: [], read: ['.'], write: [] } },
    })
    stage.write('.later', 'SECRET')
    expect(JSON.parse((await runTool(opened.instance)) as string)).toEqual(['SECRET', 'ENOENT', 'ENOENT', covered, 'ENOENT'])
  })

  it('has no network, and sees no process of this machine', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    const connect = `new Promise((resolve, reject) => net.connect(${port}, '127.0.0.1', () => resolve('connected')).on('error', reject))`
    const list = [connect, `process.kill(${process.pid}, 'SIGKILL')`, 'process.ppid < 10']
    expect(await results(list)).toEqual(['ECONNREFUSED', 'ESRCH', true])
    // The proxy is all that it gets.
    expect(await results([connect, 'typeof process.env.HTTPS_PROXY'], { hosts: ['example.org'] })).toEqual(['ECONNREFUSED', 'string'])
    server.close()
  })

  it('leaves no process behind when it is closed', async () => {
    const mark = `troupe-left-${process.pid}`
    const opened = await stage.open(
      main(
        `start() { spawn('/bin/bash', ['-c', 'trap "" TERM HUP; exec -a ${mark} sleep 600'], { detached: true, stdio: 'ignore' }).unref() }`,
        `import { spawn } from 'node:child_process'`,
      ),
      { sandbox },
    )
    await opened.instance.start?.()
    expect(await eventually(() => processesNamed(mark).length === 1)).toBe(true)
    await opened.close()
    expect(await eventually(() => processesNamed(mark).length === 0)).toBe(true)
  })

  it('does not outlive the kernel, also if that is killed', async () => {
    const mark = `troupe-orphan-${process.pid}`
    const found = stage.add(
      'orphan',
      main(
        `start() { spawn('/bin/bash', ['-c', 'trap "" TERM HUP; exec -a ${mark} sleep 600'], { detached: true, stdio: 'ignore' }).unref(); setInterval(() => {}, 1000) }`,
        `import { spawn } from 'node:child_process'`,
      ),
    )
    const subject = join(import.meta.dirname, 'fixtures/kernel-subject.mjs')
    const facts = { found, workspace: stage.root, dataDir: join(stage.dataFolder, 'orphan'), home, path }
    const kernel = spawn(process.execPath, ['--no-warnings', subject, JSON.stringify(facts)], { stdio: ['ignore', 'pipe', 'inherit'] })
    await new Promise((resolve) => kernel.stdout.once('data', resolve))
    expect(await eventually(() => processesNamed(mark).length === 1)).toBe(true)
    kernel.kill('SIGKILL')
    expect(await eventually(() => processesNamed(mark).length === 0)).toBe(true)
  })

  it.each([
    [
      'memory outside of the heap',
      `const kept = []; for (;;) { kept.push(Buffer.alloc(16 * 1024 ** 2, 1)); await new Promise(setImmediate) }`,
      /it used more than 512 MiB of memory/,
    ],
    [
      'the heap',
      `const kept = []; for (;;) kept.push(Array.from({ length: 1e5 }, () => ({})))`,
      /heap|it used more than 512 MiB of memory/,
    ],
    [
      'processes',
      `for (let n = 0; n < 200; n++) spawn('/bin/sleep', ['60']); await new Promise(() => {})`,
      /it used more than 64 processes/,
    ],
  ])('is ended if it fills %s', async (_, body, reason) => {
    const opened = await stage.open(main(`async start() { ${body} }`, `import { spawn } from 'node:child_process'`), { sandbox })
    const started = Promise.resolve(opened.instance.start?.()).catch((error: Error) => error.message)
    expect(await opened.ended).toMatch(reason)
    expect(await started).toMatch(/it used|its process ended|did not end/)
  })
})
