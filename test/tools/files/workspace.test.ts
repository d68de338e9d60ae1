import { execFileSync } from 'node:child_process'
import { chmodSync, linkSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { protectedSettings, startFiles } from '../../../src/policy/protected-paths.ts'
import { comparingFiles, descriptorFiles, type HostFiles, isProtected, openWorkspace } from '../../../src/tools/workspace/index.ts'
import { putFiles, scene, tempFolder } from './scene.ts'

const isRoot = process.getuid?.() === 0
const hosts: readonly (readonly [string, HostFiles])[] = [
  ['by descriptor', descriptorFiles],
  ['by comparison', comparingFiles],
]

describe('a workspace', () => {
  it('takes paths from its root, absolute ones in it, and either name of a root behind a link', () => {
    const base = tempFolder()
    mkdirSync(join(base, 'real'))
    symlinkSync('real', join(base, 'named'))
    const workspace = openWorkspace(join(base, 'named'))
    const inside = (path: string): unknown => {
      const located = workspace.locate(path)
      return located.kind === 'inside' ? located.place.relative : located.failure.class
    }
    expect(workspace.root).toBe(join(base, 'real'))
    expect(['a/b', './a/../b', '.', join(base, 'real/x'), join(base, 'named/x'), 'a//b/', 'ä/😀', '..a'].map(inside)).toEqual([
      'a/b',
      'b',
      '.',
      'x',
      'x',
      'a/b',
      'ä/😀',
      '..a',
    ])
    expect(['..', '../real2/x', 'a/../../x', '/etc/passwd', `${base}/realm`, ' ', 'a\0b', 'x'.repeat(5_000)].map(inside)).toEqual([
      'denied',
      'denied',
      'denied',
      'denied',
      'denied',
      'invalid_input',
      'invalid_input',
      'invalid_input',
    ])
  })

  it('knows files that hold secrets or start programs', () => {
    expect(
      ['.env', 'a/.ENV', '.env.local', '.ai-agent.env', 'prod.env', '.git', '.git/config', 'sub/.Git/hooks/pre-commit', '.npmrc'].map(
        isProtected,
      ),
    ).not.toContain(false)
    expect([...protectedSettings, ...startFiles, 'sub/.CLAUDE/x.json', '.agents/skills/a/SKILL.md'].map(isProtected)).not.toContain(false)
    expect(['env', 'environment.ts', '.gitignore', 'git/x', 'a.env.ts', 'src/a.ts'].map(isProtected)).not.toContain(true)
  })
})

describe.each(hosts)('leaving the workspace, checked %s', (_, host) => {
  const outer = () => {
    const there = scene({ 'a.txt': 'inside\n' }, { host })
    putFiles(there.base, { 'outside/secret.txt': 'SECRET\n', 'outside/deep/x.txt': 'SECRET\n' })
    symlinkSync('../outside', join(there.root, 'folder'))
    symlinkSync('../outside/secret.txt', join(there.root, 'file'))
    symlinkSync('file', join(there.root, 'chain'))
    symlinkSync('../outside/missing.txt', join(there.root, 'dangling'))
    symlinkSync('a.txt', join(there.root, 'within'))
    mkdirSync(join(there.root, 'sub'))
    putFiles(there.root, { 'sub/b.txt': 'inside\n' })
    symlinkSync('sub', join(there.root, 'subway'))
    return there
  }
  const ways = ['../outside/secret.txt', 'folder/secret.txt', 'folder/deep/x.txt', 'file', 'chain', 'sub/../../outside/secret.txt']

  it('is refused for reading, with a remedy', async () => {
    const { base, fail } = outer()
    for (const path of [...ways, join(base, 'outside/secret.txt')]) {
      expect(await fail('read_file', { path })).toMatch(/^denied: .* is outside the workspace .* Use a path/)
      expect(await fail('search_files', { path, pattern: '.' })).toMatch(/^denied: /)
    }
    expect(await fail('list_files', { path: 'folder' })).toMatch(/^denied: /)
    expect(await fail('list_files', { path: '..' })).toMatch(/^denied: /)
    expect(await fail('read_file', { path: 'dangling' })).toMatch(/^invalid_input: dangling does not exist/)
  })

  it('is refused for changes, and nothing changes outside', async () => {
    const { base, fail } = outer()
    for (const path of [...ways, 'dangling', 'folder/new.txt', 'folder/new/deep.txt']) {
      expect(await fail('write_file', { path, content: 'gone' })).toMatch(/^(?:denied|invalid_input): /)
      expect(await fail('edit_file', { path, old: 'SECRET', new: 'gone' })).toMatch(/^(?:denied|invalid_input): /)
      expect(await fail('apply_patch', { patch: `*** Begin Patch\n*** Add File: ${path}\n+gone\n*** End Patch` })).toMatch(
        /^(?:denied|invalid_input): /,
      )
      expect(await fail('apply_patch', { patch: `*** Begin Patch\n*** Delete File: ${path}\n*** End Patch` })).toMatch(
        /^(?:denied|invalid_input): /,
      )
    }
    const move = '*** Begin Patch\n*** Update File: a.txt\n*** Move to: folder/a.txt\n*** End Patch'
    expect(await fail('apply_patch', { patch: move })).toMatch(/^denied: /)
    expect((readdirSync(join(base, 'outside'), { recursive: true }) as string[]).sort()).toEqual(['deep', 'deep/x.txt', 'secret.txt'])
    expect(readFileSync(join(base, 'outside/secret.txt'), 'utf8')).toBe('SECRET\n')
  })

  it('is not what a link within does: it is read, shown as a link, and named for changes', async () => {
    const { say, fail } = outer()
    expect(await say('read_file', { path: 'within' })).toContain('1\tinside')
    expect(await say('read_file', { path: 'subway/b.txt' })).toContain('sub/b.txt: lines 1-1')
    expect(await fail('write_file', { path: 'within', content: '' })).toBe(
      'invalid_input: within is a symbolic link to a.txt. Writing through links is not allowed. Use the path of its target.',
    )
    expect(await fail('edit_file', { path: 'subway/b.txt', old: 'inside', new: '' })).toMatch(
      /invalid_input: subway .*(?:Use the path sub\.|begins with sub\.)/,
    )
    const joinNames = await say('list_files', {})
    for (const row of ['folder -> ../outside', 'file -> ../outside/secret.txt', 'within -> a.txt', 'subway -> sub'])
      expect(joinNames).toContain(row)
    expect(joinNames).not.toContain('folder/')
    expect(await say('search_files', { pattern: 'SECRET|inside' })).toContain('2 hits')
  })
})

describe.each(hosts)('a folder that is swapped for a link at the worst moment, checked %s', (_, host) => {
  /** Swaps just before the system call that opens a path with these letters. */
  const swapping = (before: (path: string) => boolean) => {
    let swap: (() => void) | undefined
    const racing: HostFiles = {
      ...host,
      open(path, flags, mode) {
        const act = before(path) ? swap : undefined
        if (act) {
          swap = undefined
          act()
        }
        return host.open(path, flags, mode)
      },
    }
    const there = scene({ 'sub/a.txt': 'inside\n' }, { host: racing })
    putFiles(there.base, { 'outside/a.txt': 'SECRET\n' })
    swap = () => {
      renameSync(join(there.root, 'sub'), join(there.root, 'away'))
      symlinkSync('../outside', join(there.root, 'sub'))
    }
    return there
  }
  const outside = (base: string) => readdirSync(join(base, 'outside')).map((name) => readFileSync(join(base, 'outside', name), 'utf8'))

  it.each([
    ['its folder is opened', (path: string) => path.endsWith('/sub')],
    ['the file is opened', (path: string) => path.endsWith('/a.txt')],
  ])('is not read through, when %s', async (_when, before) => {
    const there = swapping(before)
    const output = await there.call('read_file', { path: 'sub/a.txt' })
    expect(output.ok).toBe(false)
    expect(JSON.stringify(output)).not.toContain('SECRET')
  })

  it.each([
    ['its folder is opened', (path: string) => path.endsWith('/sub')],
    ['the new content is made', (path: string) => path.endsWith('.tmp')],
  ])('is not written through, when %s', async (_when, before) => {
    const there = swapping(before)
    const written = await there.call('write_file', { path: 'sub/b.txt', content: 'GONE' })
    expect(outside(there.base)).toEqual(['SECRET\n'])
    if (written.ok) expect(readFileSync(join(there.root, 'away/b.txt'), 'utf8')).toBe('GONE')
  })

  it('is not searched through', async () => {
    const there = swapping((path) => path.endsWith('/a.txt'))
    expect(JSON.stringify(await there.call('search_files', { pattern: 'SECRET' }))).not.toContain('1: SECRET')
  })
})

describe('a path that is not a regular file', () => {
  it('is refused immediately: pipes, sockets, devices, folders', async () => {
    const { root, say, fail } = scene({ 'a.txt': '' })
    execFileSync('mkfifo', [join(root, 'pipe')])
    const server = createServer().listen(join(root, 'socket'))
    await new Promise((resolve) => server.once('listening', resolve))
    try {
      for (const [path, kind] of [
        ['pipe', 'a named pipe'],
        ['socket', 'a socket'],
      ] as const) {
        expect(await fail('read_file', { path })).toBe(`invalid_input: ${path} is ${kind}, not a regular file. Use a regular file.`)
        expect(await fail('write_file', { path, content: 'x' })).toContain(kind)
        expect(await fail('edit_file', { path, old: 'a', new: 'b' })).toContain(kind)
      }
      expect(await say('search_files', { pattern: '.' })).toContain('No hits')
      expect(await say('list_files', {})).toContain('pipe (not a regular file)')
    } finally {
      await new Promise((resolve) => server.close(resolve))
    }
    expect(await fail('read_file', { path: '.' })).toContain('is a folder')
    expect(await fail('write_file', { path: '.', content: '' })).toContain('is the workspace itself')
    expect(await fail('list_files', { path: 'a.txt' })).toContain('a.txt is a file, not a folder. Use read_file')
    expect(await fail('write_file', { path: 'a.txt/b', content: '' })).toContain('a part of the path is a file')
  })

  it.skipIf(!isRoot)('is refused: a device (making one needs root)', async () => {
    const { root, fail } = scene()
    execFileSync('mknod', [join(root, 'zero'), 'c', '1', '5'])
    expect(await fail('read_file', { path: 'zero' })).toContain('zero is a device')
    expect(await fail('write_file', { path: 'zero', content: 'x' })).toContain('zero is a device')
  })
})

describe('permissions', () => {
  it.skipIf(isRoot)('missing ones are reported, and read-only files stay (root may do everything)', async () => {
    const { root, fail, read } = scene({ 'no.txt': 'x', 'ro.txt': 'x' })
    chmodSync(join(root, 'no.txt'), 0)
    chmodSync(join(root, 'ro.txt'), 0o444)
    expect(await fail('read_file', { path: 'no.txt' })).toBe(
      'failed: no.txt: permission denied. Ask the user to change the permissions, or use another file.',
    )
    expect(await fail('write_file', { path: 'ro.txt', content: 'y' })).toContain('permission denied')
    expect(read('ro.txt')).toBe('x')
  })
})

describe('a hard link', () => {
  it('is not written through: the other name keeps the former content', async () => {
    const { base, root, say, read } = scene()
    writeFileSync(join(base, 'other.txt'), 'former\n')
    linkSync(join(base, 'other.txt'), join(root, 'a.txt'))
    await say('edit_file', { path: 'a.txt', old: 'former', new: 'latter' })
    expect([read('a.txt'), readFileSync(join(base, 'other.txt'), 'utf8')]).toEqual(['latter\n', 'former\n'])
  })
})
