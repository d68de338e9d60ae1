import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, it } from 'vitest'
import { codeBlocks, commandWords, readPage, root } from './documentation.ts'

// Type-checks and runs docs/your-first-tool.md in a folder that has troupe and zod installed.

const folder = mkdtempSync(join(tmpdir(), 'troupe-first-tool-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const blocks = codeBlocks(readPage('docs/your-first-tool.md'))
mkdirSync(join(folder, 'node_modules'))
symlinkSync(root, join(folder, 'node_modules', 'troupe'))
for (const name of ['@types', 'zod']) symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
const compilerOptions = { module: 'nodenext', target: 'es2024', strict: true, noEmit: true, skipLibCheck: true, types: ['node'] }
writeFileSync(
  join(folder, 'tsconfig.json'),
  JSON.stringify({ compilerOptions: { ...compilerOptions, allowImportingTsExtensions: true }, include: ['*.ts'] }),
)
writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
for (const { file, text } of blocks) if (file !== undefined) writeFileSync(join(folder, file), text)

const env = { PATH: process.env.PATH ?? '', HOME: folder, XDG_STATE_HOME: join(folder, 'state') }
const node = (...args: readonly string[]) => promisify(execFile)(process.execPath, args, { cwd: folder, env, timeout: 60_000 })

it('has programs that type-check', async () => {
  expect((await node(join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', '.')).stdout).toBe('')
})

it('has commands that run', async () => {
  const commands = blocks.flatMap(({ language, text }) => (language === 'sh' ? text.trim().split('\n') : []))
  const printed: string[] = []
  for (const [program, ...words] of commands.map(commandWords)) {
    const { stdout, stderr } = await node(...(program === 'troupe' ? [join(root, 'bin', 'troupe.mjs')] : []), ...words)
    printed.push(`${stdout}${stderr}`)
  }
  expect(printed).toEqual([
    expect.stringMatching(/^Trusted: .*timetable\.ts\n$/),
    '1 agent and the configuration are valid.\n',
    expect.stringMatching(/✗ timetable invalid_input[\s\S]*✓ timetable/),
    'The next train to Bergen leaves at 14:25.\n8\n',
  ])
})
