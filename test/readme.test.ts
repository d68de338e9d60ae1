import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'

// What the README shows is run, as it stands there.

const root = join(import.meta.dirname, '..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'troupe-readme-'))
// Inside the package, so that it finds the package by its own name.
const inside = join(root, '.snippets')

afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
  rmSync(inside, { recursive: true, force: true })
})

const run = (file: string, ...args: string[]) =>
  execFileSync(process.execPath, [file, ...args], { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 30_000 })

/** An indented block that follows a line. */
function blockAfter(line: string): string {
  const rest = readme.slice(readme.indexOf(line) + line.length).trimStart()
  const block = `    ${rest}`.match(/^(?: {4}.*\n|\n)+/)?.[0] ?? ''
  return block.replaceAll(/^ {4}/gm, '').trim()
}

describe('the README', () => {
  it('shows a program that runs', () => {
    const [, program = ''] = readme.match(/```ts\n([\s\S]*?)```/) ?? []
    mkdirSync(inside, { recursive: true })
    writeFileSync(join(inside, 'readme.ts'), `${program}\nprocess.stdout.write(\`\\n\${outcome.status}\`)\n`)
    expect(run(join(inside, 'readme.ts'))).toBe('A company of actors.\ncompleted')
  })

  it('shows an agent that runs', () => {
    writeFileSync(join(folder, 'greeter.ai'), `${blockAfter('`greeter.ai`:')}\n`)
    writeFileSync(join(folder, 'greeter.script.yaml'), `${blockAfter('which stands in for a model:')}\n`)
    const data = ['--data-dir', join(folder, 'data')]
    expect(run(join(root, 'bin/troupe.mjs'), 'run', 'greeter.ai', 'Greet Ada', ...data)).toBe('Good morning, Ada.\n')
    expect(JSON.parse(run(join(root, 'bin/troupe.mjs'), 'run', 'greeter.ai', 'Greet Ada', '--json', ...data))).toMatchObject({
      status: 'completed',
      report: { text: 'Good morning, Ada.' },
      exitCode: 0,
    })
  })

  it('shows an agent whose answer fits its schema, without a key', () => {
    writeFileSync(join(folder, 'place.ai'), `${blockAfter('in the order in which they are to be tried:')}\n`)
    const command = ['run', 'place.ai', 'Where is Bergen?', '--model', 'rehearsal', '--data-dir', join(folder, 'data')]
    expect(JSON.parse(run(join(root, 'bin/troupe.mjs'), ...command))).toEqual({ country: expect.any(String) })
    expect(run(join(root, 'bin/troupe.mjs'), ...command, '--override', 'limits.maxRetries=0', '--dry-run')).toContain('rehearsal')
  })

  it('names only adapters that there are', async () => {
    const [, names = ''] = readme.match(/import \{ (.*) \} from 'troupe\/models'/) ?? []
    expect(Object.keys(await import('../src/models/index.ts'))).toEqual(expect.arrayContaining(names.split(', ')))
  })

  it('and the map for contributors name files that exist', () => {
    const named = ['README.md', 'AGENTS.md', 'CONTRIBUTING.md', 'docs/status.md'].flatMap((page) => {
      const text = readFileSync(join(root, page), 'utf8')
      return [...text.matchAll(/`((?:src|test|docs|bench|bin|demo|\.ci)\/[\w./-]*)`/g)].map(([, path = '']) => `${page}: ${path}`)
    })
    expect(named.length).toBeGreaterThan(15)
    expect(named.filter((entry) => !existsSync(join(root, entry.split(': ')[1] ?? '')))).toEqual([])
  })
})
