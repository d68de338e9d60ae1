import { globSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type FoundExtension, findExtensions } from '../../src/kernel/index.ts'
import { testKernel } from '../../src/kernel/loader/fixtures/test-kernel.ts'
import { openInKernel } from '../../src/kernel/loader/open-in-kernel.ts'
import { bundledExtensions } from '../../src/project/setup/extension-folders.ts'
import { workspaceTools } from '../../src/tools.ts'
import { importsOf, skeleton } from '../source-scanner.ts'
import { temporaryFolder } from './extension-context.ts'

const root = join(import.meta.dirname, '../..')
const ids = [
  'builder_agent',
  'chat_platforms',
  'cli_channel',
  'code_reviewer',
  'file_manager',
  'kv',
  'price_monitor',
  'scheduler',
  'shell_exec',
  'web_fetch',
]

const find = (folder: string): Promise<readonly FoundExtension[]> =>
  findExtensions({ places: [{ folder, source: 'bundled' }], workspace: root, trusted: 'everything' })

/** Optional peer dependencies of Troupe, which one extension uses: decision 0060. */
const packages: { readonly [id: string]: RegExp } = { chat_platforms: /^(?:chat|@chat-adapter\/\w+)$/ }

/** `file` is relative to the folder of its extension. What it imports besides types of `troupe/extension`, Node and its own files. */
function importProblems(file: string, source: string, id = ''): readonly string[] {
  const bones = skeleton(source)
  // Without them, the rest of the code has only imports that are left at run time.
  const typesOnly = /\bimport\s+type\s+(?:\{[^}]*\}|[\w$]+|\*\s*as\s+[\w$]+)\s*from\s*"(\d+)"/g
  const types = new Set([...bones.code.matchAll(typesOnly)].map(([, index]) => Number(index)))
  const own = importsOf({ code: bones.code.replace(typesOnly, ''), strings: bones.strings })
  const foreign = [...types].map((index) => bones.strings[index] ?? '').filter((from) => from !== 'troupe/extension')
  const isAllowed = (from: string): boolean =>
    packages[id]?.test(from) ||
    (from.startsWith('.')
      ? !posix.normalize(posix.join(posix.dirname(file), from)).startsWith('..')
      : from.startsWith('node:') && isBuiltin(from))
  const computed = /\bimport\s*\(\s*(?!"\d+"\s*[,)])/.test(bones.code) ? ['a computed import'] : []
  return [...own, ...foreign].filter((from) => !isAllowed(from)).concat(computed)
}

describe('the sources of bundled extensions', () => {
  it('import types of troupe/extension, Node and their own files, and nothing else', () => {
    const files = globSync('*/**/*.{ts,js,mjs}', { cwd: join(root, 'extensions') })
    expect(files.length).toBeGreaterThanOrEqual(8)
    const problems = files.flatMap((path) => {
      const [id = '', ...file] = path.split('/')
      return importProblems(file.join('/'), readFileSync(join(root, 'extensions', path), 'utf8'), id).map((from) => `${id}: ${from}`)
    })
    expect(problems).toEqual([])
  })

  it.each<[string, string, readonly string[]]>([
    ['main.ts', `import type { Tool } from 'troupe/extension'\nimport { join } from 'node:path'\nimport { a } from './lib/a.ts'`, []],
    ['lib/a.ts', `import type { B } from '../main.ts'\nimport type { C } from 'node:fs'`, []],
    ['main.ts', `import { Tool } from 'troupe/extension'`, ['troupe/extension']],
    ['main.ts', `import { type Tool } from 'troupe/extension'`, ['troupe/extension']],
    ['main.ts', `import 'troupe/extension'`, ['troupe/extension']],
    ['main.ts', `export { x } from 'troupe/extension'`, ['troupe/extension']],
    ['main.ts', `import type { Kernel } from 'troupe'`, ['troupe']],
    ['main.ts', `import type { Tool } from 'troupe/extension'\nconst x = await import('troupe')`, ['troupe']],
    ['main.ts', `import { a } from '../kv/main.ts'`, ['../kv/main.ts']],
    ['lib/a.ts', `import { a } from '../../../src/index.ts'`, ['../../../src/index.ts']],
    ['main.ts', `import type { A } from '../../src/contracts/index.ts'`, ['../../src/contracts/index.ts']],
    ['main.ts', `import yaml from 'yaml'`, ['yaml']],
    ['main.ts', `import { join } from 'path'`, ['path']],
    ['main.ts', `const name = 'yaml'\nawait import(name)`, ['a computed import']],
    ['main.ts', `const yaml = require('yaml')`, ['yaml']],
  ])('%s with %o is refused for %o', (file, source, expected) => {
    expect(importProblems(file, source)).toEqual(expected)
  })
})

describe('bundled extensions', () => {
  it('have valid manifests', async () => {
    const found = await find(bundledExtensions())
    expect(found.flatMap(({ problems }) => problems)).toEqual([])
    expect(found.map(({ id }) => id)).toEqual(ids)
    expect(found.filter(({ manifest }) => manifest?.enabled === false).map(({ id }) => id)).toEqual(['chat_platforms', 'price_monitor'])
  })

  it('give agents tools of extensions that exist, under names that exist', async () => {
    const found = await find(bundledExtensions())
    for (const { id, manifest } of found) {
      const named = [...(manifest?.agent?.usesTools ?? []), ...(manifest?.dependsOn ?? [])]
      expect(named.filter((name) => !ids.includes(name))).toEqual([])
      const prompted = [...(manifest?.agent?.instructions ?? '').matchAll(/`(\w+?)__\w+`/g)].map(([, owner = '']) => owner)
      const examples = id === 'builder_agent' ? ['agent', 'kv', 'units'] : []
      expect(prompted.filter((owner) => ![...named, id, ...examples].includes(owner))).toEqual([])
    }
  })

  it.each(['extensions', 'dist/extensions'])('load together from %s, each with its capabilities', async (folder) => {
    const workspace = temporaryFolder()
    const builtinTools = (names: readonly string[], place: string) =>
      workspaceTools({ workspace: place }).tools.filter(({ name }) => names.includes(name))
    const extensions = {
      folder: join(workspace, 'extensions'),
      list: () => [],
      validate: async () => [],
      sandboxProblem: async () => undefined,
    }
    const found = await find(join(root, folder))
    const kernel = testKernel(
      found,
      {},
      {
        ports: { workspace, extensions, builtinTools },
        dataFolder: join(workspace, 'data'),
        isDisabled: () => false,
        openTrusted: openInKernel({ enter: (_id, _stage, work) => work() }),
      },
    )
    await kernel.loader.load()
    await kernel.loader.start()
    const loaded = kernel.loader.list()
    expect(loaded.flatMap(({ problems }) => problems)).toEqual([])
    expect(Object.fromEntries(loaded.map(({ found: { id }, capabilities }) => [id, [...capabilities].join()]))).toEqual({
      builder_agent: 'tools,agent',
      chat_platforms: 'channel,setup',
      cli_channel: 'channel',
      code_reviewer: 'agent',
      file_manager: 'tools',
      kv: 'tools',
      price_monitor: 'scheduler,agent,setup',
      scheduler: 'tools',
      shell_exec: 'tools',
      web_fetch: 'tools,setup',
    })
    const resolved = kernel.loader.get('price_monitor')?.resolvedTools.map(({ name }) => name)
    expect(resolved).toEqual(['web_fetch__web_fetch', 'kv__get', 'kv__set', 'kv__delete', 'kv__list'])
    expect(kernel.scheduled.get('price_monitor')?.schedule).toEqual({ cron: '0 */4 * * *' })
    await kernel.loader.stop()
  })
})

describe('the build', () => {
  it('has the same extensions, compiled', async () => {
    const [sources, built] = [await find(join(root, 'extensions')), await find(join(root, 'dist/extensions'))]
    expect(built.map(({ manifest }) => manifest)).toEqual(sources.map(({ manifest }) => manifest))
    expect(globSync('dist/extensions/**/*.ts', { cwd: root })).toEqual([])
  })
})
