import { spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { guardShared } from '../../../src/tools/sandbox/workspace-guard.ts'
import { noSandboxHere, sandboxed } from '../../sandbox-here.ts'
import { eventually, path } from './ground.ts'
import { later } from './later.ts'
import { repositoryIn, writeIn } from './workspace-files.ts'

// What is guarded inside of a workspace, also where nobody is left to put anything right.

let base: string
let root: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'troupe-guard-'))
  root = join(base, 'workspace')
  mkdirSync(root)
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const write = (name: string, text = ''): string => writeIn(root, name, text)
const repository = (name: string, config = ''): string => repositoryIn(root, name, config)

describe('a guard', () => {
  it('makes what is not there, empty, for as long as somebody holds it', async () => {
    const [one, two] = [await guardShared({ folder: root }), await guardShared({ folder: root })]
    expect(one.readOnly).toContain(join(root, '.vscode'))
    expect(two.readOnly).toEqual(one.readOnly)
    expect(readdirSync(join(root, '.vscode'))).toEqual([])
    await one.undo()
    expect(existsSync(join(root, '.vscode'))).toBe(true)
    expect(await two.undo()).toEqual([])
    expect(readdirSync(root)).toEqual([])
  })

  it('knows what an earlier one could not take away, and leaves to a person what is theirs', async () => {
    const forgotten = await guardShared({ folder: root })
    expect(forgotten.readOnly.length).toBeGreaterThan(10)
    mkdirSync(join(root, '.idea-of-mine'))
    write('.vscode/settings.json', '{}')
    const next = await guardShared({ folder: root })
    await next.undo()
    await forgotten.undo()
    expect(readdirSync(root).toSorted()).toEqual(['.idea-of-mine', '.vscode'])
  })

  it('puts aside what was made in the place of what it had made', async () => {
    const guarded = await guardShared({ folder: root })
    rmSync(join(root, '.vscode'), { recursive: true })
    write('.vscode/tasks.json', 'evil')
    expect(await guarded.undo()).toEqual([expect.stringContaining('.vscode.refused')])
    expect(readdirSync(root)).toEqual(['.vscode.refused'])
  })

  it('puts aside all that could not be bound', async () => {
    const guarded = await guardShared({ folder: root })
    write('.mcp.json', 'evil')
    write('.ai-agent.json', 'evil')
    const told = await guarded.undo()
    expect(told).toHaveLength(2)
    expect(readdirSync(root).toSorted()).toEqual(['.ai-agent.json.refused', '.mcp.json.refused'])
  })

  it('does nothing where a link leads that was put in the place of a folder', async () => {
    const outside = join(base, 'outside')
    mkdirSync(join(outside, '.git/hooks'), { recursive: true })
    writeFileSync(join(outside, '.git/config'), 'mine')
    mkdirSync(join(outside, 'keys'), { mode: 0o700 })
    for (const name of ['sub/.git', 'd/keys'])
      for (const part of ['objects', 'refs']) mkdirSync(join(root, name, part), { recursive: true })
    for (const name of ['sub/.git', 'd/keys']) write(`${name}/HEAD`, 'ref: refs/heads/main\n')
    chmodSync(join(root, 'd/keys'), 0o777)
    const guarded = await guardShared({ folder: root })
    for (const name of ['sub', 'd']) {
      renameSync(join(root, name), join(root, `old-${name}`))
      symlinkSync('../outside', join(root, name))
    }
    await guarded.undo()
    expect(readdirSync(join(outside, '.git')).toSorted()).toEqual(['config', 'hooks'])
    expect(readdirSync(join(outside, 'keys'))).toEqual([])
    expect(statSync(join(outside, 'keys')).mode & 0o777).toBe(0o700)
  })

  it('puts an empty folder aside that only looks like one of its own', async () => {
    const guarded = await guardShared({ folder: root })
    for (const name of ['.mcp.json', '.ai-agent.json', '.husky']) mkdirSync(join(root, name), { mode: 0o1700 })
    expect(await guarded.undo()).toHaveLength(3)
    expect(readdirSync(root).toSorted()).toEqual(['.ai-agent.json.refused', '.husky.refused', '.mcp.json.refused'])
  })

  it('finds a repository whose parts are elsewhere, and one behind a file that Git reads otherwise than most', async () => {
    repository('.git')
    const guarded = await guardShared({ folder: root })
    write('lib/HEAD', 'ref: refs/heads/main\n')
    write('lib/commondir', '../y\n')
    for (const part of ['y/objects', 'y/refs', '.git/objects/evil ']) mkdirSync(join(root, part), { recursive: true })
    write('y/config', '[core]\n\tfsmonitor = evil\n')
    repository('.git/objects/a\nb', '[core]\n\tfsmonitor = evil\n')
    repository('.git/objects/evil /x ', '[core]\n\tfsmonitor = evil\n')
    write('a/.git', 'gitdir: ../.git/objects/a\nb\n')
    write('b/.git', 'gitdir: ../.git/objects/evil /x \n')
    mkdirSync(join(root, 'c'))
    writeFileSync(join(root, 'c/.git'), Buffer.from('gitdir: ../.git/objects/\xff\n', 'latin1'))
    const told = (await guarded.undo()).join('\n')
    for (const path of ['lib/commondir', '.git/objects/a\nb/config', '.git/objects/evil /x /config', 'c/.git']) {
      expect(told).toContain(`"${join(root, path)}" came to be`)
      expect(existsSync(join(root, path))).toBe(false)
    }
  })

  it('tells of what a program outside has replaced, and puts aside what came into the settings of Git by that', async () => {
    repository('.git', '[user]\n\tname = a\n')
    for (const name of ['.vscode/tasks.json', '.envrc']) write(name, 'mine')
    await later(join(root, '.envrc'))
    const guarded = await guardShared({ folder: root })
    write('new', '[core]\n\tfsmonitor = evil\n')
    renameSync(join(root, 'new'), join(root, '.git/config'))
    write('other', 'evil')
    renameSync(join(root, 'other'), join(root, '.envrc'))
    expect(await guarded.undo()).toEqual([
      expect.stringContaining('.git/config" came to be'),
      expect.stringMatching(/\.envrc" was replaced by some program while the command ran/),
    ])
    expect([existsSync(join(root, '.git/config')), readFileSync(join(root, '.envrc'), 'utf8')]).toEqual([false, 'evil'])
  })

  it('says where a command has made more folders than are searched', async () => {
    const guarded = await guardShared({ folder: root })
    for (let number = 0; number < 2_010; number++) mkdirSync(join(root, `d${number}`))
    expect(await guarded.undo()).toEqual([expect.stringContaining('more folders than are searched')])
    expect(await (await guardShared({ folder: root })).undo()).toEqual([])
  })

  it('is not made by what our own programs would stumble over', async () => {
    const guarded = await guardShared({ folder: root })
    for (const name of ['.ai-agent.json', '.ai-agent.env', '.mcp.json']) expect(existsSync(join(root, name))).toBe(false)
    await guarded.undo()
  })

  it('also covers what settings of Git, links and others lead to, and the folders above', async () => {
    repository('.git', '[core]\n\thooksPath = tools/hooks\n[include]\n\tpath = ../shared/gitconfig\n[user]\n\tname = a\n')
    const files = ['tools/hooks/pre-commit', 'shared/gitconfig', 'conf/editor/tasks.json', 'scripts/check/hook.mjs'].map((name) =>
      write(name),
    )
    symlinkSync('conf/editor', join(root, '.vscode'))
    const { readOnly, fixed, undo } = await guardShared({ folder: root, guarded: [files[3]!, '/etc/passwd'] })
    await undo()
    expect(readOnly).toEqual(
      expect.arrayContaining(['tools/hooks', 'shared/gitconfig', 'conf/editor', 'scripts/check/hook.mjs'].map((name) => join(root, name))),
    )
    expect(readOnly).not.toContain('/etc/passwd')
    expect(fixed).toEqual(expect.arrayContaining(['tools', 'shared', 'conf', 'scripts', 'scripts/check'].map((name) => join(root, name))))
    expect(fixed.indexOf(join(root, 'scripts'))).toBeLessThan(fixed.indexOf(join(root, 'scripts/check')))
  })

  it('binds nothing that a link leads out of the folder to, and what it binds under the name that it has without links', async () => {
    repository('.git', '[core]\n\thooksPath = out/hooks\n[include]\n\tpath = ../in/gitconfig\n')
    const [file, beyond] = [write('real/gitconfig'), mkdtempSync(join(tmpdir(), 'troupe-beyond-'))]
    mkdirSync(join(beyond, 'hooks'))
    symlinkSync(beyond, join(root, 'out'))
    symlinkSync('real', join(root, 'in'))
    const { readOnly, fixed, planned, undo } = await guardShared({ folder: root })
    await undo()
    rmSync(beyond, { recursive: true })
    expect([...planned.keys()].toSorted()).toEqual([...readOnly, ...fixed].toSorted())
    expect(readOnly).toContain(realpathSync(file))
    expect([...planned.keys()].filter((path) => /\/(?:in|out)\b/.test(path) || !path.startsWith(`${root}/`))).toEqual([])
  })

  it('works off what an earlier one had no time for', async () => {
    repository('.git')
    const guarded = await guardShared({ folder: root })
    // The command did this, and nobody was left to see it.
    writeFileSync(join(root, 'HEAD'), 'ref: refs/heads/main\n')
    for (const name of ['objects', 'refs']) mkdirSync(join(root, name))
    writeFileSync(join(root, 'config'), '[core]\nfsmonitor = evil\n')
    writeFileSync(join(root, '.git/commondir'), '../evil\n')
    const told = await (await guardShared({ folder: root })).undo()
    expect(told).toHaveLength(2)
    expect([existsSync(join(root, 'config')), existsSync(join(root, '.git/commondir'))]).toEqual([false, false])
    await guarded.undo()
  })

  it('leaves a new repository alone that runs nothing, and one that was there as it is', async () => {
    repository('.git', '[core]\n\tfsmonitor = mine\n')
    repository('old/.git', '[core]\n\tfsmonitor = mine\n')
    const guarded = await guardShared({ folder: root })
    repository('new/.git', '[remote "origin"]\n\turl = https://example.com/a.git\n')
    write('new/.git/hooks/pre-push.sample', '#!/bin/sh\n')
    chmodSync(join(root, 'new/.git/hooks/pre-push.sample'), 0o755)
    // A person may change their own meanwhile: a command can not.
    write('old/.git/config', '[core]\n\tfsmonitor = mine\n\tpager = mine\n')
    expect(await guarded.undo()).toEqual([])
    expect(readdirSync(join(root, 'new/.git')).toSorted()).toEqual(['HEAD', 'config', 'hooks', 'objects', 'refs'])
  })

  it('trusts a work tree of a repository that was there, and no other', async () => {
    repository('.git')
    const guarded = await guardShared({ folder: root })
    for (const [name, common] of [
      ['good', '../..'],
      ['bad', '../../../evil'],
    ] as const) {
      write(`${name}/.git`, `gitdir: ${join(root, '.git/worktrees', name)}\n`)
      write(`.git/worktrees/${name}/commondir`, `${common}\n`)
    }
    expect(await guarded.undo()).toEqual([expect.stringContaining('worktrees/bad/commondir')])
    expect(existsSync(join(root, '.git/worktrees/good/commondir'))).toBe(true)
  })
})

const subject = join(import.meta.dirname, 'crash-subject.mjs')
const start = (command: string, uid?: number) =>
  spawn(process.execPath, ['--no-warnings', subject, JSON.stringify({ root, path, home: '/nowhere', command })], {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  })

describe.skipIf(noSandboxHere)(sandboxed('what a command plants'), () => {
  it('is not there where we are killed before it ends', async () => {
    repository('.git')
    rmSync(join(root, '.git/hooks'), { recursive: true })
    const plant = 'mkdir -p .vscode .git/hooks; echo evil > .envrc; echo evil > .vscode/tasks.json; echo evil > .git/hooks/post-checkout'
    const killed = start(`${plant}; echo ready; sleep 600`)
    await new Promise((ready) => killed.stdout?.once('data', ready))
    killed.kill('SIGKILL')
    await new Promise((gone) => killed.once('close', gone))
    expect(readdirSync(root).flatMap((name) => (name === '.git' ? [] : readdirSync(join(root, name))))).toEqual([])
    expect(readdirSync(join(root, '.git/hooks'))).toEqual([])
    const next = start('true')
    await new Promise((gone) => next.once('close', gone))
    expect(await eventually(() => readdirSync(root).length === 1 && !existsSync(join(root, '.git/hooks')))).toBe(true)
  })

  it('does not stay because the folder was locked, whoever we are', async ({ skip }) => {
    const nobody = 65_534
    const uid = process.getuid?.() === 0 ? nobody : undefined
    if (uid !== undefined) {
      chmodSync(base, 0o755)
      chownSync(root, uid, uid)
    }
    const { mode } = statSync(root)
    const locking = start('echo evil > .mcp.json; mkdir .vscode; echo evil > .envrc; echo done; chmod 555 .', uid)
    let text = ''
    for (const stream of [locking.stdout, locking.stderr])
      stream?.on('data', (piece: Buffer) => {
        text += piece
      })
    await new Promise((gone) => locking.once('close', gone))
    if (!text.includes('done\n') && /EACCES|Cannot find module|does not let bubblewrap/.test(text))
      skip('another user can not run this here')
    expect(text).toContain('done\n')
    expect({ names: readdirSync(root), mode: statSync(root).mode }).toEqual({ names: ['.mcp.json.refused'], mode })
    expect(readFileSync(join(root, '.mcp.json.refused'), 'utf8')).toBe('evil\n')
  })
})
