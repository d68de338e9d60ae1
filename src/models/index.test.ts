import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

test('importing the models loads no YAML: only a script does', () => {
  const script = `import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context) } })
    await import(${JSON.stringify(new URL('./index.ts', import.meta.url).href)})
    process.stdout.write(loaded.join('\\n'))`
  const loaded = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' })
  expect(loaded).toContain('script-model')
  expect(loaded).not.toMatch(/yaml/)
})
