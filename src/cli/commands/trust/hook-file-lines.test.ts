import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { plainPaint } from '../../terminal/paint.ts'
import { hookFileLines } from './hook-file-lines.ts'

const folder = mkdtempSync(join(tmpdir(), 'troupe-hook-lines-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function put(name: string, text: string): string {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

function linesFor(commands: { readonly [name: string]: readonly string[] }, sha256?: string): Promise<readonly string[]> {
  const text = JSON.stringify({
    hooks: Object.entries(commands).map(([name, command]) => ({ name, on: ['before_call'], command, onFailure: 'open' })),
  })
  const path = put('.ai-agent.json', text)
  return hookFileLines({ path, sha256: sha256 ?? createHash('sha256').update(text).digest('hex') }, { paint: plainPaint, width: 60 })
}

const boundTo = '  hook files, trusted in their current form (other files that they load may change without asking):'
const boundToNone = '  hooks without a known file (what they run may change without asking):'

it('files that hooks are bound to are listed, and hooks without files', async () => {
  put('guard.out', '')
  put('p/rules.json', '')
  put('bin/five.sh', '')
  const lines = await linesFor({
    guard: ['./guard.out', '--rules=p/rules.json'],
    again: ['./guard.out'],
    lint: ['npm', 'run', 'lint'],
    moved: ['sh', '-c', 'cd bin && ./five.sh'],
  })
  expect(lines).toEqual([boundTo, '  │ guard.out', '  │ p/rules.json', boundToNone, '  │ lint', '  │ moved'])
})

it('a long list is cut, and no name writes on the terminal', async () => {
  const commands = Object.fromEntries(Array.from({ length: 22 }, (_, i) => [`h${i}`, ['true']]))
  expect((await linesFor(commands)).slice(-2)).toEqual(['  │ h19', '  │ and 2 more'])
  put('\u001b[2J.sh', '')
  expect(await linesFor({ evil: ['./\u001b[2J.sh'] })).toEqual([boundTo, '  │ <U+001B>[2J.sh'])
})

it('nothing is said of a file that is another one by now, or has no hooks', async () => {
  expect(await linesFor({ lint: ['npm'] }, 'f'.repeat(64))).toEqual([])
  expect(await linesFor({})).toEqual([])
  expect(await hookFileLines({ path: join(folder, 'a.md'), sha256: '' }, { paint: plainPaint, width: 60 })).toEqual([])
})
