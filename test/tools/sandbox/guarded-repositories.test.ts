import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { guardShared } from '../../../src/tools/sandbox/workspace-guard.ts'
import { later } from './later.ts'
import { repositoryIn, writeIn } from './workspace-files.ts'

// What a command makes for Git to run or to believe outside.

let base: string
let root: string
let outside: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'troupe-repositories-'))
  ;[root, outside] = [join(base, 'workspace'), join(base, 'outside')]
  for (const folder of [root, outside]) mkdirSync(folder)
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const write = (name: string, text = ''): string => writeIn(root, name, text)
const repository = (name: string, config = ''): string => repositoryIn(root, name, config)

function hook(name: string): string {
  const file = write(name, '#!/bin/sh\n')
  chmodSync(file, 0o755)
  return file
}

const evil = '[core]\n\tfsmonitor = evil\n'
const guarded = () => guardShared({ folder: root })
const there = (...names: readonly string[]): readonly boolean[] => names.map((name) => existsSync(join(root, name)))

describe('an entry that leads out of the workspace', () => {
  it('is put aside, and nothing is changed where it leads', async () => {
    const keys = join(outside, 'keys')
    mkdirSync(join(keys, 'hooks'), { recursive: true })
    writeFileSync(join(keys, 'config'), 'Host mine\n')
    hook('../outside/other/.git/hooks/pre-push')
    const { undo } = await guarded()
    for (const name of ['a', 'c']) mkdirSync(join(root, name))
    symlinkSync(keys, join(root, 'a/.git'))
    write('b/.git', `gitdir: ${outside}/other/.git\n`)
    write('c/file', `gitdir: ${outside}/other/.git\n`)
    symlinkSync('file', join(root, 'c/.git'))
    expect((await undo()).toSorted()).toEqual(['a', 'b', 'c'].map((name) => expect.stringContaining(`/${name}/.git.refused"`)))
    expect([readdirSync(keys), readdirSync(join(outside, 'other/.git'))]).toEqual([['config', 'hooks'], ['hooks']])
    expect(['a', 'b', 'c'].map((name) => readdirSync(join(root, name)))).toEqual([
      ['.git.refused'],
      ['.git.refused'],
      ['.git.refused', 'file'],
    ])
  })

  it('stays where it was there before, and where somebody makes later what it leads to', async () => {
    hook('../outside/other/.git/hooks/pre-push')
    write('sub/.git', `gitdir: ${outside}/other/.git\n`)
    write('early/.git', `gitdir: ${outside}/later\n`)
    const { undo } = await guarded()
    mkdirSync(join(outside, 'later/hooks'), { recursive: true })
    write('twin/.git', `gitdir: ${outside}/other/.git\n`)
    expect(await undo()).toEqual([])
    expect(there('sub/.git', 'early/.git', 'twin/.git')).toEqual([true, true, true])
  })

  it('is as good as one that leads to what commands can not write to', async () => {
    hook('.claude/hooks/check')
    const { undo } = await guarded()
    mkdirSync(join(root, 'a'))
    symlinkSync('../.claude', join(root, 'a/.git'))
    expect(await undo()).toEqual([expect.stringContaining('/a/.git.refused"')])
    expect(readdirSync(join(root, '.claude'))).toEqual(['hooks'])
  })

  it('is read as Git reads it: from where it is, and through links', async () => {
    repository('.git')
    const { undo } = await guarded()
    repository('.git/objects/far/one', evil)
    mkdirSync(join(root, '.git/objects/far/deep'))
    repository('v/one')
    symlinkSync('../.git/objects/far/deep', join(root, 'v/way'))
    write('v/.git', 'gitdir: way/../one\n')
    repository('.git/objects/two', evil)
    repository('a/.git/objects/two')
    write('a/b/file', 'gitdir: ../.git/objects/two\n')
    mkdirSync(join(root, 'x'))
    symlinkSync('../a/b/file', join(root, 'x/.git'))
    // A name that is no text, beside one that is taken for it.
    const odd = Buffer.concat([Buffer.from(`${root}/odd`), Buffer.from([0xff])])
    mkdirSync(odd)
    mkdirSync(join(root, 'y'))
    repository('odd\ufffd')
    symlinkSync(odd, join(root, 'y/.git'))
    const told = (await undo()).join('\n')
    for (const path of ['.git/objects/far/one/config', '.git/objects/two/config', 'y/.git'])
      expect(told).toContain(`"${join(root, path)}" came to be`)
  })
})

describe('work trees', () => {
  it('that are there keep what they are led by', async () => {
    repository('.git')
    const parts = ['commondir', 'gitdir', 'config.worktree'].map((name) => `.git/worktrees/far/${name}`)
    for (const [index, text] of ['../..\n', `${outside}/far/.git\n`, ''].entries()) write(parts[index] ?? '', text)
    const { readOnly, fixed, undo } = await guarded()
    expect(await undo()).toEqual([])
    expect(readOnly).toEqual(expect.arrayContaining(parts.map((name) => join(root, name))))
    expect(fixed).toEqual(expect.arrayContaining(['.git/worktrees', '.git/worktrees/far'].map((name) => join(root, name))))
  })

  it('that are made meanwhile lead to a repository that is known or looked into, wherever their files are', async () => {
    repository('.git')
    repository('old/.git')
    const { undo } = await guarded()
    for (const [name, common, tree] of [
      ['good', '../..', join(root, 'good/.git')],
      ['away', '../..', join(outside, 'away/.git')],
      ['bad', '../../../lib/common', join(root, 'bad/.git')],
      ['worse', '../../../lib/common', join(outside, 'worse/.git')],
      ['blank', `${join(root, '.git')} `, join(root, 'blank/.git')],
    ] as const) {
      write(`.git/worktrees/${name}/commondir`, `${common}\n`)
      write(`.git/worktrees/${name}/gitdir`, `${tree}\n`)
    }
    expect((await undo()).toSorted()).toEqual(
      ['bad/commondir', 'blank/commondir', 'worse/commondir', 'worse/gitdir'].map((name) =>
        expect.stringContaining(`/worktrees/${name}.refused"`),
      ),
    )
    for (const name of ['good', 'away']) expect(readdirSync(join(root, '.git/worktrees', name))).toEqual(['commondir', 'gitdir'])
  })
})

describe('what was there when we looked for the first time', () => {
  const parts = (name: string): readonly string[] => {
    write(`.git/worktrees/${name}/commondir`, '../..\n')
    write(`.git/worktrees/${name}/gitdir`, `${outside}/${name}/.git\n`)
    return ['commondir', 'gitdir'].map((part) => join(root, '.git/worktrees', name, part))
  }

  it('stays bound, every work tree beyond all other repositories and names', async () => {
    repository('.git')
    for (let number = 0; number < 20; number++) repository(`r${number}/.git`)
    const far = Array.from({ length: 20 }, (_, number) => parts(`z${number}`)).flat()
    const first = await guarded()
    for (let number = 0; number < 2_100; number++) mkdirSync(join(root, `.git/worktrees/a${number}`))
    expect(await first.undo()).toEqual([expect.stringContaining('more work trees or modules than are looked at')])
    const { readOnly, fixed, undo } = await guarded()
    expect(readOnly).toEqual(expect.arrayContaining(far))
    expect(fixed).toEqual(expect.arrayContaining(far.map((part) => dirname(part))))
    expect(await undo()).toEqual([expect.stringContaining('more work trees or modules than are looked at')])
  })

  it('is bound, and what came later is only looked at, but for the repository of the place', async () => {
    repository('old/.git')
    const first = await guarded()
    await first.undo()
    repository('.git')
    repository('.git/modules/m')
    repository('new/.git')
    parts('tree')
    const { planned, undo } = await guarded()
    const isBound = (name: string): boolean => planned.has(join(root, name))
    expect(['old/.git', 'old/.git/config', '.git', '.git/config'].filter((name) => !isBound(name))).toEqual([])
    expect(['new/.git', 'new/.git/config', '.git/worktrees/tree', '.git/modules'].filter(isBound)).toEqual([])
    write('new/.git/config', evil)
    write('.git/worktrees/tree/commondir', '../../../lib\n')
    hook('.git/modules/m/hooks/pre-commit')
    expect((await undo()).map((text) => /^"(.*)" came to be/.exec(text)?.[1]).toSorted()).toEqual(
      ['.git/modules/m/hooks', '.git/worktrees/tree/commondir', '.git/worktrees/tree/gitdir', 'new/.git/config'].map((name) =>
        join(root, name),
      ),
    )
  })
})

describe('a repository that a work tree leads to', () => {
  it('is looked at though it was made to look like none', async () => {
    const first = await guarded()
    repository('bare')
    write('tree/.git/HEAD', 'ref: refs/heads/main\n')
    write('tree/.git/commondir', '../../bare\n')
    expect(await first.undo()).toEqual([])
    const second = await guarded()
    rmSync(join(root, 'bare/HEAD'))
    expect(await second.undo()).toEqual([])
    const third = await guarded()
    write('bare/config', evil)
    expect(await third.undo()).toEqual([expect.stringContaining('/bare/config.refused"')])
  })
})

describe('settings that run something, of a repository that is not bound', () => {
  it('are put aside, and all others stay', async () => {
    const plain = '[remote "origin"]\n\turl = ../up.git\n'
    const { undo } = await guarded()
    repository('k/.git', `${plain}[core]\n\tbare = false\n\tpager = evil\n`)
    expect(await undo()).toEqual([expect.stringContaining('/k/.git/config.refused"')])
    expect(readFileSync(join(root, 'k/.git/config'), 'utf8')).toBe(`${plain}[core]\n\tbare = false\n\n`)
    expect(await (await guarded()).undo()).toEqual([])
  })
})

describe('modules of a repository', () => {
  it('are looked into one by one, led to or not', async () => {
    repository('.git')
    const { undo } = await guarded()
    repository('.git/modules/good', '[core]\n\tworktree = ../../../good\n')
    write('good/.git', 'gitdir: ../.git/modules/good\n')
    repository('.git/modules/a/named', evil)
    hook('.git/modules/a/named/modules/deep/hooks/pre-commit')
    for (const name of ['objects', 'refs', 'HEAD']) mkdirSync(join(root, '.git/modules/a/named/modules/deep', name))
    repository('.git/modules/elsewhere', '[core]\n\tworktree = ../../..\n')
    // It looks like a repository to us, and not to Git.
    write('.git/modules/hull/HEAD')
    for (const name of ['objects', 'refs']) mkdirSync(join(root, '.git/modules/hull', name))
    repository('.git/modules/hull/objects/inner', evil)
    expect((await undo()).map((text) => /now "(.*)"/.exec(text)?.[1]).toSorted()).toEqual(
      ['a/named/config', 'a/named/modules/deep/hooks', 'elsewhere/config', 'hull/objects/inner/config'].map((name) =>
        join(root, `.git/modules/${name}.refused`),
      ),
    )
    expect(there('.git/modules/good/config', 'good/.git')).toEqual([true, true])
  })

  it('are no link, nor are work trees', async () => {
    for (const name of ['.git', 'k/.git']) repository(name)
    const { undo } = await guarded()
    mkdirSync(join(root, 'lib'))
    for (const name of ['.git', 'k/.git'])
      for (const part of ['worktrees', 'modules']) symlinkSync(join(root, 'lib'), join(root, name, part))
    await undo()
    for (const name of ['.git', 'k/.git']) expect(there(`${name}/worktrees`, `${name}/modules`)).toEqual([false, false])
  })
})

describe('hooks of a new repository', () => {
  it('are none where they are a link, wherever it leads', async () => {
    const { undo } = await guarded()
    rmSync(join(repository('x/.git'), 'hooks'), { recursive: true })
    symlinkSync('../../fill', join(root, 'x/.git/hooks'))
    expect(await undo()).toEqual([expect.stringContaining('/x/.git/hooks.refused"')])
  })

  it('are none of one that was made to look like no repository either', async () => {
    // More than are bound.
    for (let number = 0; number < 20; number++) repository(`r${number}/.git`)
    repository('z/bare')
    const { undo } = await guarded()
    rmSync(join(root, 'z/bare/HEAD'))
    hook('z/bare/hooks/post-checkout')
    expect(await undo()).toEqual([expect.stringContaining('/z/bare/hooks.refused"')])
  })

  it('are found among many others', async () => {
    const { undo } = await guarded()
    for (const [name, count] of [
      ['some', 300],
      ['countless', 1_100],
    ] as const) {
      repository(`${name}/.git`)
      for (let number = 0; number < count; number++) write(`${name}/.git/hooks/a${number}`)
      hook(`${name}/.git/hooks/pre-commit`)
    }
    expect(await undo()).toHaveLength(2)
    expect(there('some/.git/hooks', 'countless/.git/hooks')).toEqual([false, false])
  })

  it('are put aside whatever else can not be looked at', async () => {
    const { undo } = await guarded()
    repository('x/.git')
    hook('x/.git/hooks/pre-commit')
    const long = `${`${'d'.repeat(200)}/`
      .repeat(30)
      .slice(0, 4_080 - root.length - 1)
      .replace(/\/$/, 'd')}`
    mkdirSync(join(root, long, '.git'), { recursive: true })
    mkdirSync(join(root, 'loop'))
    symlinkSync('.git', join(root, 'loop/.git'))
    expect(await undo()).toEqual([
      expect.stringContaining('/x/.git/hooks.refused"'),
      expect.stringMatching(/dd\/\.git" came to be while the command ran/),
      expect.stringContaining('more folders than are searched'),
    ])
    expect(there('x/.git/hooks', join(long, '.git'))).toEqual([false, false])
  })

  it('do not keep the next command from being started where their path is too long to be bound', async () => {
    const long = `${'d'.repeat(200)}/`.repeat(30).slice(0, 4_040 - root.length - 1)
    mkdirSync(join(root, long, '.git'), { recursive: true })
    const { planned, undo } = await guarded()
    expect([...planned.keys()].filter((path) => path.includes('ddd'))).toEqual([])
    hook(join(long, '.git/hooks/pre-commit'))
    expect(await undo()).toHaveLength(1)
  })
})

describe('what one command makes', () => {
  it('is not given for another one that makes it anew when it was put aside', async () => {
    repository('sub/.git')
    const plant = (): void => {
      for (const name of ['.mcp.json', '.ai-agent.json']) write(name, 'evil')
      write('lib/config', evil)
      write('sub/.git/commondir', '../../lib\n')
    }
    const one = await guarded()
    plant()
    const two = await guarded()
    expect(await one.undo()).toHaveLength(3)
    plant()
    expect((await two.undo()).flatMap((text) => /now "(.*)"/.exec(text)?.[1] ?? []).toSorted()).toEqual(
      ['.ai-agent.json', '.mcp.json', 'sub/.git/commondir'].map((name) => join(root, `${name}.refused-2`)),
    )
    expect(there('.mcp.json', '.ai-agent.json', 'sub/.git/commondir')).toEqual([false, false, false])
  })

  it('is told from what a person saves twice, also where a command that runs on was there before', async () => {
    repository('.git', '[alias]\n\tst = status\n')
    const save = (text: string): void => {
      renameSync(write('new', text), join(root, '.envrc'))
      renameSync(write('new', `[alias]\n\tst = status\n[branch "${text}"]\n\tremote = origin\n`), join(root, '.git/config'))
    }
    save('first')
    const server = await guarded()
    save('second')
    const next = await guarded()
    save('third')
    for (const { undo } of [next, server])
      expect((await undo()).toSorted()).toEqual(['.envrc', '.git/config'].map((name) => expect.stringContaining(`/${name}" was replaced`)))
    expect(there('.envrc', '.git/config')).toEqual([true, true])
  })

  it('is told from what ran before in repositories beyond those that are bound', async () => {
    const mine = '[alias]\n\tst = status\n'
    const names = Array.from({ length: 20 }, (_, number) => `r${number}/.git`)
    for (const name of names) hook(join(repository(name, mine).slice(root.length + 1), 'hooks/pre-commit'))
    await later(join(root, 'r19/.git/hooks/pre-commit'))
    const bound = (await guarded()).planned
    const [one, two, three, four] = names.filter((name) => !bound.has(join(root, name))) as [string, string, string, string]
    const server = await guarded()
    const tracking = '[branch "f"]\n\tremote = origin\n'
    const change = async (): Promise<readonly string[]> => {
      const { undo } = await guarded()
      write(`${one}/config`, `${mine}${tracking}`)
      write(`${two}/config`, `${mine}[core]\n\tpager = evil\n`)
      hook(`${three}/hooks/post-checkout`)
      write(`${four}/hooks/pre-commit`, 'evil')
      return undo()
    }
    const planted = [`${two}/config`, `${three}/hooks`, `${four}/hooks`]
    expect((await change()).map((text) => /^"(.*)" came to be/.exec(text)?.[1]).toSorted()).toEqual(
      planted.map((name) => join(root, name)).toSorted(),
    )
    expect(there(`${one}/config`, `${one}/hooks`, `${two}/hooks`, `${three}/config`)).toEqual([true, true, true, true])
    // What one puts aside is not given for another one that was there.
    write(`${two}/config`, mine)
    expect((await server.undo()).filter((text) => text.includes('came to be'))).toEqual([expect.stringContaining(`${two}/config`)])
  })

  it('is told where it may have been made by another one that still runs', async () => {
    const mine = '[alias]\n\tst = status\n'
    const names = Array.from({ length: 20 }, (_, number) => `r${number}/.git`)
    for (const name of names) repository(name)
    const server = await guarded()
    const name = names.find((each) => !server.planned.has(join(root, each))) ?? ''
    write(`${name}/config`, mine)
    const { undo } = await guarded()
    write(`${name}/config`, `${mine}[branch "f"]\n\tremote = origin\n`)
    expect(await undo()).toEqual([expect.stringMatching(/config" makes Git run something, and was changed while commands ran/)])
    expect(await server.undo()).toEqual([expect.stringMatching(/config" came to be/)])
  })

  it('is told from what a person has changed: settings of Git that run the same are theirs', async () => {
    const mine = '[core]\n\thooksPath = mine\n'
    await later(join(repository('.git', mine), 'config'))
    for (const [added, isLeft] of [
      ['[branch "a"]\n\tremote = origin\n', true],
      ['[core]\n\tpager = evil\n', false],
    ] as const) {
      const { undo } = await guarded()
      renameSync(write('new', `${mine}${added}`), join(root, '.git/config'))
      expect(await undo()).toEqual([expect.stringMatching(isLeft ? /config" was replaced by some program/ : /config" came to be/)])
      expect(there('.git/config')).toEqual([isLeft])
    }
  })
})
