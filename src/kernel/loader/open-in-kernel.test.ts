import { execFile } from 'node:child_process'
import { existsSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { TroupeError } from '../../contracts/index.ts'
import type { ExtensionManifest, FoundExtension } from '../shared/kernel-types.ts'
import { findExtensions } from './find-extensions.ts'
import { testProject } from './fixtures/test-kernel.ts'
import { openInKernel } from './open-in-kernel.ts'

let project: ReturnType<typeof testProject>
beforeEach(() => {
  project = testProject()
})
afterEach(() => project.remove())

const stages: string[] = []
const open = openInKernel({
  enter(id, stage, work) {
    stages.push(`${id} ${stage}`)
    return work()
  },
})

async function found(files: { readonly [name: string]: string }): Promise<FoundExtension & { readonly manifest: ExtensionManifest }> {
  project.write('extensions/e/manifest.yaml', 'id: e\nname: E\nversion: "1"\ndescription: D\nentrypoint: main:Main\n')
  for (const [name, text] of Object.entries(files)) project.write(`extensions/e/${name}`, text)
  const places = [{ folder: join(project.root, 'extensions'), source: 'project' as const }]
  const [extension] = await findExtensions({ places, workspace: project.root, trusted: 'everything' })
  if (!extension?.manifest) throw new Error('it was not found')
  return { ...extension, manifest: extension.manifest }
}

const fault = async (files: { readonly [name: string]: string }): Promise<string> => {
  const error: unknown = await open(await found(files)).catch((each: unknown) => each)
  if (!(error instanceof TroupeError)) throw new Error('it was opened')
  return `${error.message}. ${error.remedy}`
}

test('the class is found and made', async () => {
  stages.length = 0
  const { instance, runs } = await open(await found({ 'main.js': 'export class Main { getTools() { return [] } }' }))
  expect([instance.getTools?.(), runs, stages]).toEqual([[], 'kernel', ['e import', 'e constructor']])
})

test('TypeScript runs as it is, and JavaScript is preferred', async () => {
  const typed = await open(await found({ 'main.ts': 'export class Main { readonly name: string = "typed" }' }))
  expect(typed.instance).toEqual({ name: 'typed' })
  const plain = await open(await found({ 'main.js': 'export class Main { name = "plain" }' }))
  expect(plain.instance).toEqual({ name: 'plain' })
})

test.each<[string, { readonly [name: string]: string }, RegExp]>([
  ['no file', {}, /^there is neither main\.js nor main\.ts\. Add the file/],
  ['a syntax error', { 'main.js': 'export class Main {\n  x( {\n}' }, /^it cannot be imported: .*/],
  ['an error while it is imported', { 'main.js': '\nthrow new Error("no disk")' }, /^it cannot be imported: no disk \(main\.js:2\)/],
  ['a missing import', { 'main.js': 'import "./none.js"' }, /^it cannot be imported: .*none\.js/],
  ['another class', { 'main.js': 'export class Mian {}' }, /`Main`. It exports: Mian. Did you mean `Mian`\?$/],
  ['nothing exported', { 'main.js': 'class Main {}' }, /^it does not export the class `Main`. Write `export class Main`\.$/],
  ['no class', { 'main.js': 'export const Main = 3' }, /^it does not export the class `Main`/],
  [
    'a constructor that throws',
    { 'main.js': 'export class Main {\n constructor() { throw new Error("no") } }' },
    /^`new Main\(\)` failed: no/,
  ],
])('%s', async (_what, files, expected) => {
  expect(await fault(files)).toMatch(expected)
})

test('content that changes after the check is not run', async () => {
  const checked = await found({ 'main.js': 'export class Main {}' })
  const mark = join(project.root, 'mark')
  project.write(
    'extensions/e/main.js',
    `import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(mark)}, '')\nexport class Main {}`,
  )
  await expect(open(checked)).rejects.toThrow('its files have changed since they were checked')
  expect(existsSync(mark)).toBe(false)
})

test('in a real process: the place of a syntax error, and no files that nobody has trusted', async () => {
  const add = (id: string, text: string): void => {
    project.write(`extensions/${id}/manifest.yaml`, `id: ${id}\nname: E\nversion: "1"\ndescription: D\nentrypoint: main:Main\n`)
    project.write(`extensions/${id}/main.js`, `${text}\nexport class Main {}`)
  }
  project.write('evil.js', '')
  add('fine', "import './lib.js'")
  project.write('extensions/fine/lib.js', '')
  add('wrong', '\nlet = = 3')
  add('outside', "const name = '../../evil.js'\nawait import(name)")
  add('hidden', "await import('./.x.js')")
  project.write('extensions/hidden/.x.js', '')
  // Also through a link to the project.
  const linked = `${project.root}-link`
  symlinkSync(project.root, linked)
  const script = join(import.meta.dirname, 'fixtures/open-extensions.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [script, linked]).finally(() => rmSync(linked))
  expect(JSON.parse(stdout)).toEqual({
    fine: 'opened',
    hidden: expect.stringMatching(/\.x\.js is not trusted with the module/),
    outside: expect.stringMatching(/evil\.js is not trusted with the module/),
    wrong: expect.stringMatching(/^it cannot be imported: Unexpected token .* \(main\.js:2\)$/),
  })
})
