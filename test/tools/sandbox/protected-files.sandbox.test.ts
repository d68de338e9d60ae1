import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defaultSandboxPolicy } from '../../../src/contracts/index.ts'
import { processSandbox } from '../../../src/tools/sandbox/index.ts'
import { WritableFolder } from '../../../src/tools/sandbox/protected-files.ts'
import { noSandboxHere, sandboxed } from '../../sandbox-here.ts'
import { path, realClock } from './ground.ts'

// What commands can read but not change in a workspace, and what docs/sandbox.md says is not protected.

let root: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-protected-')))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const write = (name: string, text = ''): string => {
  mkdirSync(dirname(join(root, name)), { recursive: true })
  writeFileSync(join(root, name), text)
  return join(root, name)
}
const repository = (name: string, config = ''): void => {
  write(`${name}/HEAD`, 'ref: refs/heads/main\n')
  write(`${name}/config`, config)
  for (const folder of ['objects', 'refs', 'hooks']) mkdirSync(join(root, name, folder))
}
const found = (folder = new WritableFolder(root), guarded: readonly string[] = []) => {
  const { readOnly, pinned, hidden } = folder.protectedFiles({ home: undefined, guarded, hidden: [] })
  const short = (paths: readonly string[]): readonly string[] => paths.map((each) => each.slice(root.length + 1)).toSorted()
  return { readOnly: short(readOnly), pinned: short(pinned), hidden: short(hidden) }
}

describe('protected files', () => {
  it('are those that exist: settings of programs, and what decides what Git runs', () => {
    repository('.git')
    write('.envrc')
    write('.vscode/tasks.json')
    write('docs/.ai-agent.env')
    expect(found()).toEqual({
      readOnly: ['.envrc', '.git/config', '.git/hooks', '.vscode'],
      pinned: ['.git', 'docs'],
      hidden: ['docs/.ai-agent.env'],
    })
    expect(readdirSync(root).toSorted()).toEqual(['.envrc', '.git', '.vscode', 'docs'])
  })

  it('include what links and Git settings lead to in the workspace, and programs of hooks', () => {
    repository('.git', '[alias]\n\ta = !b \\\n\t\tc\n[core]\n\thooksPath = tools/hooks ; ours\n[include]\n\tpath = ../shared/gitconfig\n')
    write('.git/config.worktree', '[core]\n\thooksPath = "tree hooks"\n')
    write('shared/gitconfig', '[include]\n\tpath = more\n')
    for (const name of ['tools/hooks/pre-commit', 'tree hooks/pre-commit', 'shared/more', 'conf/editor/tasks.json', 'scripts/check.mjs'])
      write(name)
    symlinkSync('conf/editor', join(root, '.vscode'))
    symlinkSync('/etc', join(root, '.idea'))
    const { readOnly, pinned } = found(undefined, [join(root, 'scripts/check.mjs'), '/etc/passwd'])
    expect(readOnly).toEqual(
      [
        ...['.git/config', '.git/config.worktree', '.git/hooks', 'conf/editor', 'scripts/check.mjs', 'shared/gitconfig', 'shared/more'],
        ...['tools/hooks', 'tree hooks'],
      ].toSorted(),
    )
    expect(pinned).toEqual(['.git', 'conf', 'scripts', 'shared', 'tools'])
  })

  it('include nested repositories, work trees and submodules that existed at the first look', () => {
    const folder = new WritableFolder(root)
    repository('.git')
    repository('.git/modules/group/lib')
    write('.git/worktrees/far/commondir', '../..\n')
    write('lib/.git', 'gitdir: ../.git/modules/group/lib\n')
    repository('vendor/own/.git')
    repository('bare.git')
    write('far/.git', 'gitdir: /elsewhere/.git/worktrees/far\n')
    const { readOnly, pinned } = found(folder)
    expect(readOnly).toEqual(
      [
        ...['.git/config', '.git/hooks', '.git/modules/group/lib/config', '.git/modules/group/lib/hooks', '.git/worktrees/far/commondir'],
        ...['bare.git/config', 'bare.git/hooks', 'far/.git', 'lib/.git', 'vendor/own/.git/config', 'vendor/own/.git/hooks'],
      ].toSorted(),
    )
    expect(pinned).toEqual(
      [
        ...['.git', '.git/modules', '.git/modules/group', '.git/modules/group/lib', '.git/worktrees', '.git/worktrees/far'],
        ...['bare.git', 'vendor/own/.git'],
      ].toSorted(),
    )
    repository('new/.git')
    // A command can remove these, so that Git folders are not found again.
    for (const name of ['bare.git', '.git/modules/group/lib']) rmSync(join(root, name, 'HEAD'))
    write('.git/worktrees/near/commondir', '../..\n')
    expect(found(folder).readOnly).toEqual(readOnly)
  })
})

const everything = (): readonly string[] => readdirSync(root, { recursive: true, encoding: 'utf8' }).toSorted()

describe.skipIf(noSandboxHere)(sandboxed('a command'), () => {
  const sandbox = () => processSandbox({ root, path, home: '/nowhere', clock: realClock })
  const run = async (command: string, subject = sandbox()): Promise<string> => {
    const started = await subject.start({
      argv: ['/bin/sh', '-c', command],
      cwd: root,
      environment: { PATH: path },
      policy: defaultSandboxPolicy,
    })
    if (!started.ok) throw new Error(started.failure.message)
    let text = ''
    started.running.listen((piece) => {
      text += Buffer.from(piece).toString()
    })
    const { startFault } = await started.running.ended
    return startFault ?? text
  }

  /** Root can search every folder. */
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  const subject = join(import.meta.dirname, 'crash-subject.mjs')
  const isReadable = spawnSync(process.execPath, ['-e', `fs.accessSync(${JSON.stringify(subject)})`], user).status === 0

  it.each(['an empty workspace', 'a repository'])('creates and leaves nothing by itself in %s', async (what) => {
    if (what === 'a repository') repository('.git')
    const before = everything()
    expect(await run('ls -A; find . | sort')).toEqual(what === 'a repository' ? expect.stringContaining('.git/config') : '.\n')
    expect(everything()).toEqual(before)
  })

  it('leaves nothing where Troupe is killed meanwhile', async () => {
    repository('.git')
    rmSync(join(root, '.git/hooks'), { recursive: true })
    write('.envrc', 'mine')
    const before = everything()
    const command = 'echo evil > .envrc; echo ready; sleep 600'
    const killed = spawn(process.execPath, ['--no-warnings', subject, JSON.stringify({ root, path, home: '/nowhere', command })], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    await new Promise<void>((ready) => killed.stdout.on('data', (piece: Buffer) => piece.includes('ready') && ready()))
    killed.kill('SIGKILL')
    await new Promise((gone) => killed.once('close', gone))
    expect(everything()).toEqual(before)
    expect(readFileSync(join(root, '.envrc'), 'utf8')).toBe('mine')
  })

  it.skipIf(!isReadable)('cannot lock a folder to have the next command find it unprotected', () => {
    repository('.git')
    write('docs/.ai-agent.env', 'SECRET')
    if (user.uid !== undefined) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, root])
    const runAsUser = (command: string): string => {
      const given = JSON.stringify({ root, path: '/usr/bin:/bin', home: '/nowhere', command })
      return execFileSync(process.execPath, ['--no-warnings', subject, given], { encoding: 'utf8', ...user })
    }
    runAsUser('chmod 0 .git docs')
    const text = runAsUser('chmod 700 .git docs; cat docs/.ai-agent.env; echo evil >> .git/config; echo ran')
    for (const folder of ['.git', 'docs']) chmodSync(join(root, folder), 0o700)
    expect(text).toMatch(/ran\n$/)
    expect(text).not.toContain('SECRET')
    expect(readFileSync(join(root, '.git/config'), 'utf8')).toBe('')
  })

  it('can work in a workspace where files are protected', async () => {
    execFileSync('git', ['init', '-q', '-b', 'main', '.'], { cwd: root })
    write('.vscode/settings.json', '{}')
    write('package.json', '{ "name": "a", "version": "1.0.0", "dependencies": { "b": "file:b" }, "scripts": { "test": "node -e 0" } }')
    write('b/package.json', '{ "name": "b", "version": "1.0.0" }')
    const subject = sandbox()
    const git = 'git -c user.name=a -c user.email=a@example.com'
    for (const command of [
      `git add -A && ${git} commit -qm one && git checkout -qb topic && ${git} commit -q --allow-empty -m two`,
      `git checkout -q main && ${git} merge -q --no-ff -m merge topic && git stash -q -u 2>/dev/null; ${git} rebase -q topic`,
      'git clone -q . copy && git -C copy remote add fork ../elsewhere && git -C copy checkout -q -b other origin/topic',
      'git checkout -q -b tracked copy/topic 2>/dev/null; git fetch -q ./copy other && git branch -q from-copy FETCH_HEAD',
      'git worktree add -q tree && cd tree && touch new && git add new',
      'rm -rf copy && git worktree remove --force tree',
      'npm install --offline --no-audit --no-fund --loglevel=error && npm test --silent',
    ])
      expect([command, await run(`{ ${command}; } >/tmp/log 2>&1 && echo done || cat /tmp/log`, subject)]).toEqual([command, 'done\n'])
    expect(execFileSync('git', ['log', '--format=%s', '-1', 'topic'], { cwd: root, encoding: 'utf8' })).toBe('two\n')
  })

  // Each of these is in the list "What is not protected" of docs/sandbox.md.
  it.each([
    ['create a repository', 'git init -q new && echo evil >> new/.git/config'],
    ['create a hook folder that is missing', 'rm -rf .git/hooks; mkdir .git/hooks && echo evil > .git/hooks/pre-commit'],
    ['create settings that are missing', 'mkdir .claude && echo evil > .mcp.json'],
    ['lead Git to other settings', 'mkdir evil && echo ../evil > .git/commondir'],
    ['prepare a rebase that runs programs', 'mkdir .git/rebase-merge && echo "exec evil" > .git/rebase-merge/git-rebase-todo'],
    ['replace a symbolic link', 'rm .vscode && mkdir .vscode'],
    ['move a nested repository away', 'mv vendor old && mkdir -p vendor/own/.git'],
  ])('can %s: a known limit', async (_, command) => {
    repository('.git')
    repository('vendor/own/.git')
    rmSync(join(root, '.git/hooks'), { recursive: true })
    symlinkSync('editor', join(root, '.vscode'))
    expect(await run(`{ ${command}; } 2>&1 && echo done`)).toBe('done\n')
  })
})
