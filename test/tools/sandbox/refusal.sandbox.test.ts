import { lookup } from 'node:dns/promises'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defaultSandboxPolicy } from '../../../src/contracts/index.ts'
import { processSandbox } from '../../../src/tools/sandbox/index.ts'
import { isPublicAddress } from '../../../src/util/private-address.ts'
import { noSandboxHere, sandboxed } from '../../sandbox-here.ts'
import { find, path, realClock } from './ground.ts'

// These run everywhere: where there is no sandbox, no command runs.

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'troupe-refusal-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const command = () => ({ argv: ['/bin/sh', '-c', 'echo ran > trace'] as const, cwd: root, environment: { PATH: '/usr/bin:/bin' } })
const sandbox = (more: { path?: string; platform?: string; root?: string } = {}) =>
  processSandbox({ root, path, home: '/nowhere', clock: realClock, ...more })
const failureOf = async (subject: ReturnType<typeof processSandbox>) => {
  const started = await subject.start({ ...command(), argv: [...command().argv] })
  return started.ok ? undefined : started.failure
}

describe('without a sandbox', () => {
  it('nothing runs where bubblewrap is not on the path, and the refusal says how to get it', async () => {
    const failure = await failureOf(sandbox({ path: '/nowhere:relative', platform: 'linux' }))
    expect(failure).toMatchObject({
      class: 'sandbox_unavailable',
      message: 'Commands need a sandbox, and bubblewrap (bwrap) was not found on the PATH.',
    })
    expect(failure?.remedy).toMatch(/apt-get install bubblewrap.*dnf install bubblewrap.*sandbox: \{mode: off\}/)
  })

  it('nothing runs on a system that has none', async () => {
    expect(await sandbox({ platform: 'win32' }).probe()).toMatchObject({ kind: 'unavailable', failure: { class: 'sandbox_unavailable' } })
    expect((await failureOf(sandbox({ platform: 'win32' })))?.message).toContain('win32')
  })

  it('nothing runs where the workspace is everything', async () => {
    expect((await failureOf(sandbox({ root: '/', platform: 'linux' })))?.message).toContain('whole file system')
  })
})

describe.skipIf(noSandboxHere)(sandboxed('a folder for commands'), () => {
  const beside = (folder: string) => join(root, folder)
  it.each([
    ['is missing', () => [beside('gone')], /names "\/.*gone", which does not exist/],
    ['is a file', () => [beside('file')], /which is not a folder/],
    ['is relative', () => ['here'], /which is not an absolute path/],
    ['holds the folder for temporary files', () => [root], /where other programs keep temporary files and sockets/],
  ])('that %s is refused in words', async (_, writable, message) => {
    writeFileSync(beside('file'), '')
    mkdirSync(beside('work'))
    mkdirSync(beside('doors'))
    const policy = { ...defaultSandboxPolicy, writable: writable() }
    const own = { path, home: '/nowhere', clock: realClock, root: beside('work'), scratch: beside('doors') }
    const subject = processSandbox({ ...own, policy })
    expect(await failureOf(subject)).toMatchObject({ class: 'config', message: expect.stringMatching(message), remedy: expect.any(String) })
    expect(await subject.probe()).toMatchObject({ kind: 'unavailable', failure: { class: 'config' } })
    // So is a workspace that holds them.
    const shared = processSandbox({ ...own, root })
    expect((await failureOf(shared))?.message).toMatch(
      /^The workspace is "\/.*", which holds .*doors, where other programs keep temporary files and sockets/,
    )
  })
})

describe.skipIf(process.platform !== 'linux')('a bubblewrap', () => {
  const planted = (script: string): string => {
    const folder = join(tmpdir(), `troupe-planted-${process.pid}`)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'bwrap'), script)
    chmodSync(join(folder, 'bwrap'), 0o755)
    return folder
  }
  afterEach(() => rmSync(join(tmpdir(), `troupe-planted-${process.pid}`), { recursive: true, force: true }))

  it('that builds no sandbox is detected', async () => {
    // Runs what it is given as it is: everything after the two dashes.
    const folder = planted('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@" 3>&-\n')
    // Its limits are not watched: without a sandbox, all of /tmp would be counted.
    const after = (ms: number, fire: () => void) => (ms < 1000 ? () => {} : realClock.after(ms / 4, fire))
    const clock = { ...realClock, after }
    const subject = processSandbox({ root, path: `${folder}:/usr/bin:/bin`, home: '/nowhere', clock })
    const availability = await subject.probe()
    expect(availability).toMatchObject({ kind: 'unavailable', failure: { class: 'sandbox_unavailable' } })
    const message = availability.kind === 'unavailable' ? availability.failure.message : ''
    for (const way of [
      'read a secret of this machine',
      'reach a port of this machine',
      'share a namespace (pid)',
      'write to',
      'leave a process behind',
    ])
      expect(message).toContain(way)
    expect((await failureOf(subject))?.class).toBe('sandbox_unavailable')
  })

  it('that the kernel refuses is reported with its error', async () => {
    const folder = planted('#!/bin/sh\necho "bwrap: setting up uid map: Permission denied" >&2\nexit 1\n')
    const failure = await failureOf(sandbox({ path: `${folder}:/usr/bin:/bin` }))
    expect(failure?.message).toContain('setting up uid map: Permission denied')
    expect(failure?.remedy).toContain('user namespaces')
  })

  it('that fails on a missing path is tried again, three times at most', async () => {
    const tries = join(tmpdir(), `troupe-planted-${process.pid}`, 'tries')
    const folder = planted(`#!/bin/sh\necho x >> ${tries}\necho "bwrap: Can't create file at /x: Read-only file system" >&2\nexit 1\n`)
    expect((await failureOf(sandbox({ path: `${folder}:/usr/bin:/bin` })))?.message).toContain("Can't create file at /x")
    expect(readFileSync(tries, 'utf8')).toBe('x\nx\nx\n')
  })

  it('that lies in the workspace is not used', async () => {
    mkdirSync(join(root, 'bin'))
    writeFileSync(join(root, 'bin', 'bwrap'), '#!/bin/sh\nexit 0\n')
    chmodSync(join(root, 'bin', 'bwrap'), 0o755)
    expect((await failureOf(sandbox({ path: join(root, 'bin') })))?.message).toContain('not found on the PATH')
  })

  it('that a link in the workspace leads to is not used', async () => {
    const folder = planted('#!/bin/sh\nexit 0\n')
    symlinkSync(folder, join(root, 'all'))
    mkdirSync(join(root, 'bin'))
    symlinkSync(join(folder, 'bwrap'), join(root, 'bin', 'bwrap'))
    const path = [join(root, 'all'), join(root, 'bin')].join(':')
    expect((await failureOf(sandbox({ path })))?.message).toContain('not found on the PATH')
  })
})

describe.skipIf(noSandboxHere)(sandboxed('a policy'), () => {
  const run = async (script: string, policy: Partial<typeof defaultSandboxPolicy>) => {
    const started = await sandbox().start({ ...command(), argv: ['/bin/sh', '-c', script], policy: { ...defaultSandboxPolicy, ...policy } })
    if (!started.ok) return started.failure
    let text = ''
    started.running.listen((piece) => {
      text += Buffer.from(piece).toString()
    })
    return { ...(await started.running.ended), text }
  }

  it('opens further folders, and protects files in them', async () => {
    const further = mkdtempSync(join(tmpdir(), 'troupe-further-'))
    writeFileSync(join(further, '.mcp.json'), '{}')
    try {
      expect(
        await run(`echo yes > ${further}/file && cat ${further}/file; echo evil > ${further}/.mcp.json`, { writable: [further] }),
      ).toMatchObject({
        text: expect.stringMatching(/^yes\n.*Read-only file system/),
      })
      expect(await run(`cat ${further}/file`, {})).toMatchObject({ exitCode: 1 })
    } finally {
      rmSync(further, { recursive: true })
    }
  })

  it('with a folder that is not there is refused before anything runs', async () => {
    expect(await run('true', { writable: ['/not/there'] })).toMatchObject({
      class: 'config',
      message: expect.stringContaining('/not/there'),
    })
  })

  it('with a folder that has become a link is refused before anything runs, with what it leads to', async () => {
    const further = mkdtempSync(join(tmpdir(), 'troupe-further-'))
    const secret = mkdtempSync(join(tmpdir(), 'troupe-secret-'))
    try {
      // As a command does that may write to all of it, before an agent names a part.
      expect(await run(`ln -s ${secret} ${further}/part`, { writable: [further] })).toMatchObject({ exitCode: 0 })
      expect(await run(`echo evil > ${secret}/file`, { writable: [join(further, 'part')] })).toMatchObject({
        class: 'config',
        message: expect.stringContaining('leads over a link'),
        remedy: expect.stringContaining(secret),
      })
      expect(readdirSync(secret)).toEqual([])
    } finally {
      for (const folder of [further, secret]) rmSync(folder, { recursive: true })
    }
  })

  it.skipIf(find('curl') === undefined)('with hosts gives a proxy, which refuses the others and remembers them', async () => {
    const asked = await run('curl -sS -m 5 https://elsewhere.test/; curl -sS -m 5 http://169.254.169.254/; echo $http_proxy', {
      hosts: ['*.example.com'],
    })
    expect(asked).toMatchObject({
      refusedHosts: ['elsewhere.test:443 is not listed in sandbox.hosts', '169.254.169.254:80 is not listed in sandbox.hosts'],
      text: expect.stringMatching(/403[\s\S]*169\.254\.169\.254:80 is not listed in sandbox\.hosts[\s\S]*http:\/\/127\.0\.0\.1:\d+/),
    })
  })

  it.skipIf(find('curl') === undefined)('with hosts lets a name resolve to a private address where it says so', async () => {
    const name = hostname()
    const address = (await lookup(name).catch(() => undefined))?.address
    if (address === undefined || isPublicAddress(address)) return
    const ask = (privateHosts: readonly string[]) => run(`curl -sS -m 5 http://${name}/`, { hosts: [name], privateHosts })
    expect(await ask([])).toMatchObject({
      refusedHosts: [expect.stringMatching(/:80 resolves to a private address; sandbox\.privateHosts/)],
    })
    expect(await ask([name])).toMatchObject({ refusedHosts: [] })
  })

  it.skipIf(find('npm') === undefined)('without hosts lets npm give up at once', async () => {
    const begun = performance.now()
    const asked = await run('npm view troupe --registry=https://registry.invalid/; echo "$PIP_RETRIES"', {})
    expect(asked).toMatchObject({ text: expect.stringMatching(/(?:EAI_AGAIN|ENOTFOUND)[\s\S]*\n0\n$/) })
    // By itself it tries again after 10 and after 60 seconds more.
    expect(performance.now() - begun).toBeLessThan(50_000)
    expect(await run('echo "<$npm_config_fetch_retries>"', { hosts: ['example.com'] })).toMatchObject({ text: '<>\n' })
  })
})
