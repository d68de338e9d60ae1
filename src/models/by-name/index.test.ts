import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const models = new URL('..', import.meta.url).href

/** What is loaded of ours, and the names of packages, by a process that does this. */
function loadedBy(code: string): readonly string[] {
  const script = `import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context) } })
    ${code}
    process.stdout.write(loaded.join('\\n'))`
  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' })
  const names = printed.split('\n').flatMap((url) => {
    if (url.startsWith(models)) return [url.slice(models.length)]
    const inPackage = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1]
    return inPackage === undefined ? [] : [inPackage]
  })
  return [...new Set(names)].toSorted()
}

const entry = [
  ...['adapter-options', 'endpoint', 'index', 'model-adapter', 'model-sources', 'unknown-model'].map((file) => `by-name/${file}.ts`),
  'known-providers.ts',
  'provider-settings.ts',
  'token-price.ts',
]
const byName = JSON.stringify(`${models}by-name/index.ts`)

test('what finds models by name loads no model, and no package', () => {
  expect(loadedBy(`await import(${byName})`)).toEqual(entry)
})

test('a script loads what plays it, and nothing of any provider', () => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-models-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'a.yaml'), 'steps: [{ text: Hello. }]')
  const loaded = loadedBy(`const { modelAdapter } = await import(${byName})
    await modelAdapter({ variables: {}, baseDir: ${JSON.stringify(folder)} }).resolve('script/a.yaml')`)
  expect(loaded).toEqual([...entry, 'by-name/script-file.ts', 'parse-script.ts', 'script-model.ts', 'yaml'].toSorted())
})

test('a model of one provider loads the package of no other', () => {
  const loaded = loadedBy(`const { modelAdapter } = await import(${byName})
    await modelAdapter({ variables: { ANTHROPIC_API_KEY: 'k' } }).resolve('anthropic/claude-sonnet-5')`)
  expect(loaded).toContain('@ai-sdk/anthropic')
  expect(loaded.filter((name) => /^@ai-sdk\/(?:openai|google)|rehearsal|langchain|llama|yaml/.test(name))).toEqual([])
})

test('importing all models loads no YAML: only a script does', () => {
  const loaded = loadedBy(`await import(${JSON.stringify(`${models}index.ts`)})`)
  expect(loaded).toContain('script-model.ts')
  expect(loaded).not.toContain('yaml')
})
