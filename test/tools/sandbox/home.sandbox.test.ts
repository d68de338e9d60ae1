import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defaultSandboxPolicy } from '../../../src/contracts/index.ts'
import { processSandbox } from '../../../src/tools/sandbox/index.ts'
import { noSandboxHere, sandboxed } from '../../sandbox-here.ts'
import { path, realClock } from './ground.ts'

// A home that is a link to another disk, in a place that is seen from inside; and a home that is the workspace.

describe.skipIf(noSandboxHere)(sandboxed('a home'), () => {
  let base: string
  const at = (...names: string[]): string => join(base, ...names)
  beforeAll(() => {
    const cache = join(import.meta.dirname, '..', '..', '..', 'node_modules', '.cache')
    mkdirSync(cache, { recursive: true })
    base = realpathSync(mkdtempSync(join(cache, 'troupe-home-')))
    for (const folder of ['disk/ann/.ssh', 'disk/ann/.local/bin', 'project/inner']) mkdirSync(at(folder), { recursive: true })
    writeFileSync(at('disk/ann/.ssh/id_rsa'), 'SECRET-OF-HOME\n')
    writeFileSync(at('disk/ann/.bashrc'), 'own start file\n')
    writeFileSync(at('disk/ann/.local/bin/own-tool'), '#!/bin/sh\necho own tool\n', { mode: 0o755 })
    writeFileSync(at('project/.ai-agent.env'), 'SECRET-OF-PROVIDER\n')
    symlinkSync(at('disk/ann'), at('home'))
    symlinkSync(at('disk/ann/.ssh'), at('project/inner/bin'))
    symlinkSync(at('project/inner/bin'), at('bin'))
  })
  afterAll(() => rmSync(base, { recursive: true, force: true }))

  interface Try {
    readonly home: string
    readonly command: string
    /** On the path. */
    readonly folder?: string
    readonly writable?: readonly string[]
  }
  const run = async (root: string, { home, command, folder = join(home, '.local/bin'), writable = [] }: Try): Promise<string> => {
    const started = await processSandbox({ root, path: `${folder}:${path}`, home, clock: realClock }).start({
      argv: ['/bin/sh', '-c', command],
      cwd: root,
      environment: { PATH: `${join(home, '.local/bin')}:/usr/bin:/bin` },
      policy: { ...defaultSandboxPolicy, writable },
    })
    if (!started.ok) throw new Error(started.failure.message)
    let text = ''
    started.running.listen((piece) => {
      text += Buffer.from(piece).toString()
    })
    await started.running.ended
    return text
  }

  it('that is a link is hidden under both of its names, except for its programs; so are keys above the workspace', async () => {
    const command = `cat ${at('home')}/.ssh/id_rsa ${at('disk/ann')}/.ssh/id_rsa ${at('project')}/.ai-agent.env; own-tool`
    const text = await run(at('project/inner'), { home: at('home'), command })
    expect(text).not.toContain('SECRET')
    // Where the sources lie below /tmp, commands see nothing of this at all.
    expect(text).toContain(/^\/(?:var\/)?tmp\//.test(base) ? 'own-tool: not found' : 'own tool\n')
  })

  it.each([
    ['a link in the workspace', 'project/inner/bin'],
    ['a link to one in the workspace', 'bin'],
    ['itself', 'home'],
  ])('is not shown by a path that leads there over %s', async (_, folder) => {
    const text = await run(at('project/inner'), {
      home: at('home'),
      folder: at(folder),
      command: `cat ${at('disk/ann')}/.ssh/id_rsa; echo ran`,
    })
    expect(text).toContain('ran\n')
    expect(text).not.toContain('SECRET')
  })

  it('that sandbox.writable lists can be written to, without its secrets', async () => {
    const home = at('disk/ann')
    const command = `cat ${home}/.ssh/id_rsa; echo fine > ${home}/more && cat ${home}/more`
    const text = await run(at('project/inner'), { home, writable: [home], command })
    expect(text).not.toContain('SECRET')
    expect(text).toContain('fine\n')
  })

  it('that is the workspace keeps what other programs trust hidden, also empty folders and repositories', async () => {
    for (const folder of ['bare/.config', 'bare/.claude', 'bare/.password-store/.git/objects', 'bare/.password-store/.git/refs'])
      mkdirSync(at(folder), { recursive: true })
    for (const file of ['bare/.claude/settings.json', 'bare/.password-store/.git/config']) writeFileSync(at(file), 'SECRET\n')
    writeFileSync(at('bare/.password-store/.git/HEAD'), 'ref: refs/heads/main\n')
    const command = 'mkdir -p .config/git; echo x > .config/git/config; cat .claude/settings.json .password-store/.git/config; echo ran'
    const text = await run(at('bare'), { home: at('bare'), command })
    expect(text).toContain('ran\n')
    expect(text).not.toContain('SECRET')
    expect(readdirSync(at('bare')).toSorted()).toEqual(['.claude', '.config', '.password-store'])
    expect(readdirSync(at('bare/.config'))).toEqual([])
  })

  it('that is the workspace runs commands when keys of providers are in a folder that is hidden as a whole', async () => {
    mkdirSync(at('keys/.ai-agent'), { recursive: true })
    for (const file of ['keys/.ai-agent/.ai-agent.env', 'keys/.ai-agent.env']) writeFileSync(at(file), 'SECRET\n')
    const text = await run(at('keys'), { home: at('keys'), command: 'cat .ai-agent/.ai-agent.env .ai-agent.env; echo ran' })
    expect(text).toContain('ran\n')
    expect(text).not.toContain('SECRET')
  })

  it('that is the workspace keeps hidden what is hidden, whatever a command does to the folders above', async () => {
    mkdirSync(at('own/.cargo'), { recursive: true })
    writeFileSync(at('own/.cargo/credentials.toml'), 'SECRET\n')
    const first = await run(at('own'), { home: at('own'), command: 'mv .cargo c; cat c/credentials.toml; echo ran' })
    const next = await run(at('own'), { home: at('own'), command: 'cat c/credentials.toml .cargo/credentials.toml; echo ran' })
    expect([first, next].filter((text) => text.includes('SECRET') || !text.includes('ran\n'))).toEqual([])
    expect(readdirSync(at('own'))).toEqual(['.cargo'])
  })

  it.each(['home', 'disk/ann'])('that is the workspace works, called %s, without its secrets and start files', async (name) => {
    const text = await run(at('disk/ann'), {
      home: at(name),
      command: 'cat .ssh/id_rsa; echo evil > .bashrc; echo fine > notes; cat notes .bashrc',
    })
    expect(text).not.toContain('SECRET')
    expect(text).toContain('fine\n')
    expect(text).toContain('.bashrc: Read-only file system')
    expect(text).toContain('fine\nown start file\n')
  })
})
