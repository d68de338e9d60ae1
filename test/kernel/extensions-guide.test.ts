import { execFile } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { findExtensions } from '../../src/kernel/index.ts'
import { testKernel } from '../../src/kernel/loader/fixtures/test-kernel.ts'
import { openInKernel } from '../../src/kernel/loader/open-in-kernel.ts'
import { manifestShape } from '../../src/kernel/manifest/manifest-shape.ts'
import type { Shape } from '../../src/project/index.ts'
import { readPage, root } from '../documentation.ts'
import { temporaryFolder } from './extension-context.ts'
import { writeExamples } from './extension-examples.ts'

const page = readPage('docs/extensions.md')
it('has examples that load together', async () => {
  const project = temporaryFolder()
  const extensions = await writeExamples('guide', project)
  const found = await findExtensions({
    places: [
      { folder: extensions, source: 'user' },
      { folder: join(root, 'extensions'), source: 'bundled' },
    ],
    workspace: project,
    trusted: 'everything',
  })
  const used = found.filter(({ id, source }) => source === 'user' || id === 'kv')
  const openTrusted = openInKernel({ enter: (_id, _stage, work) => work() })
  const kernel = testKernel(used, {}, { dataFolder: join(project, 'data'), ports: { workspace: project }, openTrusted })
  await kernel.loader.load()
  await kernel.loader.start()
  const loaded = kernel.loader.list()
  expect(loaded.flatMap(({ problems }) => problems)).toEqual([])
  expect(Object.fromEntries(loaded.map(({ found: { id }, capabilities }) => [id, [...capabilities].join()]))).toEqual({
    birthdays: 'scheduler',
    file_channel: 'channel',
    kv: 'tools',
    morning: '',
    summarizer: 'agent',
    translator: 'agent',
    units: 'tools',
  })
  await kernel.loader.stop()
})

it('has programs that type-check, and a test that passes', async () => {
  const project = temporaryFolder()
  const extensions = await writeExamples('guide', project)
  mkdirSync(join(project, 'node_modules'))
  for (const [name, target] of [
    ['troupe', root],
    ['@types', join(root, 'node_modules/@types')],
  ] as const)
    symlinkSync(target, join(project, 'node_modules', name))
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2024',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ['node'],
    allowImportingTsExtensions: true,
    erasableSyntaxOnly: true,
  }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['extensions'] }))
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }')
  const node = (...args: readonly string[]) => promisify(execFile)(process.execPath, args, { cwd: project, timeout: 60_000 })
  expect((await node(join(root, 'node_modules/typescript/bin/tsc'), '-p', '.')).stdout).toBe('')
  expect((await node('--test', join(extensions, 'birthdays/birthdays.test.ts'))).stdout).toContain('pass 1')
})

function keysOf(shape: Shape, key = ''): readonly string[] {
  if (shape.kind !== 'fields') return [key]
  return Object.entries(shape.of).flatMap(([name, inner]) => keysOf(inner, key === '' ? name : `${key}.${name}`))
}

it('names every key of a manifest', () => {
  const table = page.slice(page.indexOf('## Manifest'), page.indexOf('## Capabilities'))
  const keys = keysOf(manifestShape)
  expect(keys).toContain('agent.limits.max_turns')
  const isNamed = (key: string): boolean =>
    table.includes(`\`${key}\``) || (key.startsWith('agent.parameters.') && table.includes(`\`${key.slice('agent.parameters.'.length)}\``))
  expect(keys.filter((key) => !isNamed(key))).toEqual([])
})

it('names every member of the context', () => {
  const table = page.slice(page.indexOf('## Context'), page.indexOf('## Permissions'))
  const source = readPage('src/contracts/extension.ts')
  const context = source.slice(source.indexOf('export interface ExtensionContext {'))
  const members = [...context.matchAll(/^ {2}(?:readonly )?(\w+)[?(<:]/gm)].map(([, name = '']) => name)
  expect(members).toContain('startAgent')
  expect(members.filter((name) => !new RegExp(`\`${name}\\b`).test(table))).toEqual([])
})
