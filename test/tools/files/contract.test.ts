import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import type { ApprovalRule, JsonObject } from '../../../src/contracts/index.ts'
import { isGranted } from '../../../src/policy/grants.ts'
import { ruling } from '../../../src/steps/approval/rules.ts'
import { toolContract } from '../../../src/testing/index.ts'
import { checkSchema } from '../../../src/util/json-schema/check-schema.ts'
import { fileTools } from './file-tools.ts'
import { scene } from './scene.ts'

const there = scene({ 'a.txt': 'a\n', 'swap.txt': 'a\nb\n' })
const missing = { path: 'missing.txt' }

const examples: { readonly [name: string]: { readonly good: JsonObject; readonly bad: JsonObject } } = {
  read_file: { good: { path: 'a.txt' }, bad: missing },
  write_file: { good: { path: 'w.txt', content: 'w\n' }, bad: { path: '../w.txt', content: '' } },
  // Each of these can be done again: the old text stands there afterwards, too.
  edit_file: { good: { path: 'swap.txt', old: 'a\n', new: 'a\nx\n' }, bad: { ...missing, old: 'a', new: 'b' } },
  apply_patch: { good: { patch: '--- a/swap.txt\n+++ b/swap.txt\n@@ -1 +1,2 @@\n a\n+y\n' }, bad: { patch: 'no patch' } },
  list_files: { good: {}, bad: missing },
  search_files: { good: { pattern: 'a' }, bad: { pattern: '(' } },
}

describe.each(fileTools(there.workspace).map((tool) => [tool.name, tool] as const))('%s', (name, tool) => {
  for (const each of toolContract(tool, examples[name] as { good: JsonObject; bad: JsonObject })) test(each.name, each.run)
  it('has a sound schema', () => expect(checkSchema(tool.inputSchema, name)).toEqual([]))
})

it('there are six, of which three only read', () => {
  expect(
    fileTools(there.workspace).map(({ name, effect, concurrency }) => [
      name,
      effect,
      typeof concurrency === 'object' ? 'by key' : concurrency,
    ]),
  ).toEqual([
    ['read_file', 'read', 'by key'],
    ['write_file', 'write', 'by key'],
    ['edit_file', 'write', 'by key'],
    ['apply_patch', 'write', 'exclusive'],
    ['list_files', 'read', 'shared'],
    ['search_files', 'read', 'shared'],
  ])
})

describe('what is asked before a change', () => {
  const { workspace, root, tool } = scene({ 'src/deep/a.ts': '' })
  const namesOf = (path: string): readonly string[] => [`${root}/${path}`, path, `./${path}`]
  const patch = (...files: readonly string[]): string =>
    ['*** Begin Patch', ...files.flatMap((file) => [`*** Add File: ${file}`, '+x']), '*** End Patch'].join('\n')

  it('is nothing for reading, unless rules want to: they know the file by its real path, and by other names', async () => {
    symlinkSync('src/deep', join(root, 'way'))
    expect(await tool('read_file').approval?.({ path: 'way/../way/./a.ts' })).toEqual({
      summary: 'Read way/a.ts',
      keys: [
        {
          key: `read:${root}/src/deep/a.ts`,
          label: 'src/deep/a.ts',
          use: namesOf('src/deep/a.ts'),
          aliases: namesOf('way/a.ts'),
        },
      ],
      asks: false,
    })
    expect(await tool('read_file').approval?.({ path: '../x' })).toBeUndefined()
  })

  it('is all that is in a folder, where one is looked through; a search reads it', async () => {
    const use = namesOf('src')
    const within = [`${root}/src/`, 'src/', './src/']
    expect(await tool('list_files').approval?.({ path: 'src/' })).toEqual({
      summary: 'List src',
      keys: [{ key: `list:${root}/src`, label: 'src', use, within }],
      asks: false,
    })
    expect(await tool('search_files').approval?.({ path: 'src', pattern: 'x' })).toEqual({
      summary: 'Search src',
      keys: [{ key: `read:${root}/src`, label: 'src', use, within, tools: ['read_file'] }],
      asks: false,
    })
    const keysOf = async (name: string, path?: string) => (await tool(name).approval?.({ ...(path && { path }) }))?.keys
    expect(await keysOf('list_files')).toMatchObject([{ key: `list:${root}`, within: [`${root}/`, '', './'] }])
    for (const path of ['src/deep/a.ts', 'missing']) {
      expect(await keysOf('search_files', path)).toMatchObject([{ key: `read:${root}/${path}`, tools: ['read_file'] }])
      expect((await keysOf('search_files', path))?.[0]).not.toHaveProperty('within')
    }
    expect((await keysOf('search_files', 'way'))?.[0]?.within).toEqual([
      ...[`${root}/src/deep/`, 'src/deep/', './src/deep/'],
      ...[`${root}/way/`, 'way/', './way/'],
    ])
  })

  it('is denied by any name that leads to it, however the call writes it; allowed by those of the file itself', async () => {
    const verdict = async (name: string, path: string, rule: ApprovalRule) =>
      ruling([{ rules: [rule] }], { names: [name], keys: (await tool(name).approval?.({ path, content: '' }))?.keys ?? [] })?.verdict
    for (const path of ['src/deep/a.ts', './src/deep/a.ts', 'x/../src/deep/a.ts', `${root}/src/deep/a.ts`]) {
      for (const name of ['read_file', 'write_file']) {
        expect(await verdict(name, path, { deny: `${name}(src/deep/*)` })).toBe('deny')
        expect(await verdict(name, path, { ask: `${name}(./src/*)` })).toBe('ask')
        expect(await verdict(name, path, { allow: `${name}(src/*)` })).toBe('allow')
        expect(await verdict(name, path, { allow: `${name}(./src/deep/a.ts)` })).toBe('allow')
        expect(await verdict(name, path, { allow: `${name}(deep/*)` })).toBeUndefined()
        expect(await verdict(name, path, { allow: `${name}(${root}/src/*)` })).toBe('allow')
      }
    }
    expect(await verdict('read_file', 'way/a.ts', { deny: 'read_file(src/*)' })).toBe('deny')
    expect(await verdict('read_file', 'way/a.ts', { deny: 'read_file(way/*)' })).toBe('deny')
    expect(await verdict('read_file', 'way/a.ts', { allow: 'read_file(src/*)' })).toBe('allow')
    expect(await verdict('read_file', 'way/a.ts', { allow: ['read_file(way/*)', `read_file(${root}/way/*)`] })).toBeUndefined()
    expect(await verdict('write_file', 'protected x/a.ts', { allow: 'write_file(protected *)' })).toBeUndefined()
  })

  it('is the file, or the folders around it up to the root', async () => {
    expect(await tool('write_file').approval?.({ path: 'src/deep/../deep/a.ts', content: '' })).toEqual({
      summary: 'Overwrite src/deep/a.ts',
      keys: [{ key: `path:${root}/src/deep/a.ts`, label: 'src/deep/a.ts', use: namesOf('src/deep/a.ts') }],
      wider: [
        { key: `path:${root}/src/deep/`, label: 'any file in src/deep/', isPrefix: true },
        { key: `path:${root}/src/`, label: 'any file in src/', isPrefix: true },
        { key: `path:${root}/`, label: 'any file in the workspace', isPrefix: true },
      ],
    })
    expect((await tool('edit_file').approval?.({ path: `${root}/b.ts`, old: 'a', new: 'b' }))?.wider?.map(({ key }) => key)).toEqual([
      `path:${root}/`,
    ])
  })

  it('is each file of a patch once, and the folders that hold all of them', async () => {
    const wish = await tool('apply_patch').approval?.({ patch: patch('src/a/x.ts', 'src/b/y.ts', 'src/a/x.ts') })
    expect([wish?.summary, wish?.keys.map(({ key }) => key), wish?.wider?.map(({ key }) => key)]).toEqual([
      'Add src/a/x.ts, add src/b/y.ts',
      [`path:${root}/src/a/x.ts`, `path:${root}/src/b/y.ts`],
      [`path:${root}/src/`, `path:${root}/`],
    ])
    const move = '*** Begin Patch\n*** Update File: a.ts\n*** Move to: b.ts\n*** End Patch'
    expect((await tool('apply_patch').approval?.({ patch: move }))?.keys.map(({ key }) => key)).toEqual([
      `path:${root}/a.ts`,
      `path:${root}/b.ts`,
    ])
  })

  it('is the protected file by itself: no folder covers it', async () => {
    for (const path of ['.env', '.ai-agent.json', '.git/hooks/pre-commit', 'sub/.git/config']) {
      expect(await tool('write_file').approval?.({ path, content: '' })).toEqual({
        summary: `Write ${path}, a new file`,
        keys: [
          { key: `path:${root}/${path}`, label: path, use: namesOf(path) },
          {
            key: `path:protected ${root}/${path}`,
            label: `the protected file ${path}`,
            use: namesOf(path).map((name) => `protected ${name}`),
            mustBeNamed: true,
          },
        ],
      })
    }
    const mixed = await tool('apply_patch').approval?.({ patch: patch('src/a.ts', '.env') })
    expect([mixed?.keys.map(({ key }) => key), mixed?.wider]).toEqual([
      [`path:${root}/src/a.ts`, `path:${root}/.env`, `path:protected ${root}/.env`],
      undefined,
    ])
  })

  it('is asked about a protected file in spite of a rule or a grant for its folder or for the tool; what such a rule denies stays denied', async () => {
    const wish = await tool('write_file').approval?.({ path: '.env', content: '' })
    const keys = wish?.keys ?? []
    const verdict = (rule: ApprovalRule) => ruling([{ rules: [rule] }], { names: ['write_file'], keys })?.verdict
    for (const allow of [`write_file(${root}/*)`, 'write_file', '*', 'write_file(*)', 'write_file(*.env)', 'write_file(p*)'])
      expect(verdict({ allow }), allow).toBeUndefined()
    expect(verdict({ deny: `write_file(${root}/*)` })).toBe('deny')
    expect(verdict({ allow: [`write_file(${root}/*)`, `write_file(protected ${root}/.env)`] })).toBe('allow')
    expect(verdict({ allow: ['write_file(.env)', 'write_file(protected .env)'] })).toBe('allow')
    expect(verdict({ allow: 'write_file(protected .env)' })).toBeUndefined()
    const folder = [{ key: `path:${root}/`, label: '', isPrefix: true }]
    expect(keys.map(({ key }) => isGranted(folder, key))).toEqual([true, false])
  })

  it('is nothing where it is refused anyhow, by its letters alone', async () => {
    for (const path of ['../x', '/etc/passwd', ' ']) {
      expect(await tool('write_file').approval?.({ path, content: '' })).toBeUndefined()
      expect(await tool('apply_patch').approval?.({ patch: patch('a.ts', path === ' ' ? '../y' : path) })).toBeUndefined()
    }
    expect(await tool('apply_patch').approval?.({ patch: 'no patch' })).toBeUndefined()
    // What is on the disk makes no difference: it may be another when the call runs.
    mkdirSync(join(root, 'later'))
    expect((await tool('write_file').approval?.({ path: 'later', content: '' }))?.keys).toHaveLength(1)
    expect(workspace.root).toBe(root)
  })
})

describe('how a change looks', () => {
  const { root, tool } = scene({ 'a.ts': 'a\n' })

  it('is a change of files, with what happens to each', async () => {
    const write = tool('write_file')
    expect(await write.view?.({ path: 'a.ts', content: '' })).toEqual({
      type: 'file_change',
      details: { changes: [{ path: 'a.ts', kind: 'update' }] },
    })
    expect(await write.view?.({ path: 'b.ts', content: '' })).toEqual({
      type: 'file_change',
      details: { changes: [{ path: 'b.ts', kind: 'add' }] },
    })
    expect(await write.view?.({ path: '../b.ts', content: '' })).toMatchObject({ type: 'file_change' })
    const patch = '*** Begin Patch\n*** Update File: a.ts\n*** Move to: b.ts\n*** Delete File: c.ts\n*** Add File: d.ts\n+x\n*** End Patch'
    expect(await tool('apply_patch').view?.({ patch })).toEqual({
      type: 'file_change',
      details: {
        changes: [
          { path: 'a.ts', kind: 'move', to: 'b.ts' },
          { path: 'c.ts', kind: 'delete' },
          { path: 'd.ts', kind: 'add' },
        ],
      },
    })
    expect(await tool('apply_patch').view?.({ patch: 'none' })).toEqual({ type: 'file_change', details: { changes: [] } })
  })

  it('has one lane for one file, however its path is written', async () => {
    const lanes = await Promise.all(
      ['a.ts', './x/../a.ts', `${root}/a.ts`].map((path) => {
        const { concurrency } = tool('edit_file')
        return typeof concurrency === 'object' ? concurrency.key({ path }) : ''
      }),
    )
    expect(new Set(lanes)).toEqual(new Set([`path:${root}/a.ts`]))
  })
})
