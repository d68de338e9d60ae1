import { execFileSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { noSandboxHere, sandboxed } from '../../sandbox-here.ts'
import { eventually, find, ground } from './ground.ts'

// Ordinary work with Git in the sandbox.

const own = ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'protocol.file.allow=always']
const noGit = noSandboxHere ?? (find('git') === undefined ? 'git is not installed' : undefined)

describe.skipIf(noGit)(sandboxed('Git in a command', noGit), () => {
  it("commits in the person's name, and sees nothing else of their settings", async () => {
    const here = ground()
    onTestFinished(() => here.remove())
    // The address is in a file of its own, as it may be for some folders.
    const settings = `[user]\n\tname = Ann "A" \\\\ Lee\n\tsigningkey = SECRET\n[includeIf "gitdir:${here.workspace}/"]\n\tpath = work.inc\n[url "https://x:SECRET@example.com/"]\n\tinsteadOf = https://example.com/\n[alias]\n\tx = "!f() { \\\n\t\techo; }; f"\n`
    writeFileSync(join(here.home, '.gitconfig'), settings.replace('Ann "A"', 'Ann \\"A\\"'))
    writeFileSync(join(here.home, 'work.inc'), '[user]\n\temail = ann@example.com\n')
    const ran = await here.run(
      'git init -q new && cd new && git commit -q --allow-empty -m first && git log --format="%an <%ae> %cn" && git config --global --list',
    )
    expect(ran).toMatchObject({
      exitCode: 0,
      text: 'Ann "A" \\ Lee <ann@example.com> Ann "A" \\ Lee\nuser.name=Ann "A" \\ Lee\nuser.email=ann@example.com\n',
    })
    // Settings of a repository go before those of a person, and what a command sets is gone when it ends.
    const own = 'cd new && git config user.email other@example.com && git commit -q --allow-empty -m second && git log -1 --format=%ae'
    expect(await here.run(`${own}; git config --global user.name Eve`)).toMatchObject({ text: 'other@example.com\n' })
    expect(await here.run('git config --global user.name')).toMatchObject({ text: 'Ann "A" \\ Lee\n' })
  })

  it('clones with submodules, as a mirror, in parts and with settings', async () => {
    const here = ground()
    onTestFinished(() => here.remove())
    const git = (cwd: string, ...words: readonly string[]): string => execFileSync('git', [...own, ...words], { cwd, encoding: 'utf8' })
    for (const name of ['part', 'whole']) {
      git(here.workspace, 'init', '-q', '-b', 'main', name)
      writeFileSync(join(here.workspace, name, 'file'), 'text\n')
    }
    const [part, whole] = ['part', 'whole'].map((name) => join(here.workspace, name)) as [string, string]
    for (const words of [
      ['add', '.'],
      ['commit', '-q', '-m', 'first'],
    ])
      git(part, ...words)
    git(whole, 'submodule', '--quiet', 'add', part, 'inner')
    for (const words of [
      ['add', '.'],
      ['commit', '-q', '-m', 'first'],
    ])
      git(whole, ...words)
    const clone = 'git -c protocol.file.allow=always clone -q'
    for (const [command, text] of [
      [`${clone} --recurse-submodules whole one && cat one/inner/file`, 'text\n'],
      [`${clone} whole two && cd two && git -c protocol.file.allow=always submodule --quiet update --init && cat inner/file`, 'text\n'],
      ['git -C one/inner status --short --branch; git -C two/inner remote', expect.stringMatching(/^## .*\norigin\n$/)],
      [
        'cd two/inner && git -c user.name=a -c user.email=a@example.com commit -q --allow-empty -m second && git log --format=%s -1',
        'second\n',
      ],
      [`${clone} --mirror part three.git; ${clone} --sparse part four; ${clone} --config advice.detachedHead=false part five`, ''],
      ['git -C three.git remote; git -C four remote; git -C five remote', 'origin\norigin\norigin\n'],
    ] as const)
      expect(await here.run(command)).toMatchObject({ text })
  })

  it('leaves a work tree that a person adds meanwhile, and makes some of a new clone', async () => {
    const here = ground()
    onTestFinished(() => here.remove())
    const git = (cwd: string, ...words: readonly string[]): string => execFileSync('git', [...own, ...words], { cwd, encoding: 'utf8' })
    rmSync(join(here.workspace, '.git'), { recursive: true })
    git(here.workspace, 'init', '-q', '.')
    git(here.workspace, 'commit', '-q', '--allow-empty', '-m', 'first')
    const running = here.run('touch up; until test -e stop; do sleep 0.01; done; git clone -q . k && git -C k worktree add -q ../w')
    expect(await eventually(() => existsSync(join(here.workspace, 'up')))).toBe(true)
    const mine = join(here.base, 'mine')
    git(here.workspace, 'worktree', 'add', '-q', mine)
    writeFileSync(join(mine, 'new'), '')
    git(mine, 'add', 'new')
    writeFileSync(join(here.workspace, 'stop'), '')
    expect(await running).toMatchObject({ text: '' })
    git(here.workspace, 'worktree', 'prune')
    expect(git(mine, 'status', '--short')).toBe('A  new\n')
    expect(git(join(here.workspace, 'w'), 'status', '--short')).toBe('')
  })

  it('removes what an earlier one has made', async () => {
    const here = ground()
    onTestFinished(() => here.remove())
    const git = (...words: readonly string[]): string => execFileSync('git', [...own, ...words], { cwd: here.workspace, encoding: 'utf8' })
    rmSync(join(here.workspace, '.git'), { recursive: true })
    git('init', '-q', '.')
    git('commit', '-q', '--allow-empty', '-m', 'first')
    for (const command of [
      'git worktree add -q tree -b topic',
      'git worktree remove tree',
      // Its settings stay as they are, which Git tells.
      'git branch -q -D topic 2>/dev/null',
      'git clone -q . copy',
      'git -C copy checkout -q -b topic && rm -rf copy && git clone -q . copy',
      'git -C copy -c user.name=a -c user.email=a@example.com commit -q --allow-empty -m second',
    ])
      expect([command, await here.run(`${command} && echo done`)]).toMatchObject([command, { text: 'done\n' }])
    expect(git('worktree', 'list').trim().split('\n')).toHaveLength(1)
  })

  it('makes work trees, and can not lead those that are there elsewhere', async () => {
    const here = ground()
    onTestFinished(() => here.remove())
    const git = (...words: readonly string[]): string =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...words], { cwd: here.workspace, encoding: 'utf8' })
    rmSync(join(here.workspace, '.git'), { recursive: true })
    git('init', '-q', '.')
    git('commit', '-q', '--allow-empty', '-m', 'first')
    const far = join(here.base, 'far')
    git('worktree', 'add', '-q', far)
    const ran = await here.run(
      'git worktree add -q near && git -C near status --short && echo made; echo ../../../lib > .git/worktrees/far/commondir; mv .git/worktrees .git/w; true',
    )
    expect(ran).toMatchObject({ text: expect.stringMatching(/^made\n[\s\S]*Read-only file system[\s\S]*busy/) })
    expect(execFileSync('git', ['status', '--short', '--branch'], { cwd: far, encoding: 'utf8' })).toBe('## far\n')
    expect(await here.run('git -C near status --short --branch && echo seen')).toMatchObject({ text: '## near\nseen\n' })
  })
})
