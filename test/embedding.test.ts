import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'

// Type-checks and runs the programs of docs/embedding.md in a folder that has Troupe installed.

const root = join(import.meta.dirname, '..')
const page = readFileSync(join(root, 'docs', 'embedding.md'), 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'troupe-embedding-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

mkdirSync(join(folder, 'node_modules'))
symlinkSync(root, join(folder, 'node_modules', 'troupe'))
symlinkSync(join(root, 'node_modules', '@types'), join(folder, 'node_modules', '@types'))
writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
for (const [, name = '', text = ''] of page.matchAll(/^```\w+ (\S+)\n([\s\S]*?)^```$/gm)) writeFileSync(join(folder, name), text)

const node = (...args: string[]) => execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8', stdio: 'pipe', timeout: 60_000 })

it('shows programs that type-check', () => {
  expect(node(join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', '.')).toBe('')
})

it('shows a program that runs, and continues when its request is answered', () => {
  const [, block = ''] = /^```sh\n([\s\S]*?)^```$/m.exec(page) ?? []
  const commands = block.trim().split('\n')
  expect(commands).toHaveLength(3)
  const said: string[] = []
  for (const command of commands) {
    const [, ...words] = (command.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replace(/^"(.*)"$/, '$1'))
    const id = said.at(-1)?.trim().split(' ').at(-1) ?? ''
    said.push(node(...words.map((word) => (word === 'ID' ? id : word))))
  }
  expect(said).toEqual([
    expect.stringMatching(/^root calls write_file\n[\s\S]*Added notes\/today.md[\s\S]*\ncompleted \S+\n$/),
    expect.stringMatching(/^\nsuspended \S+\n$/),
    expect.stringMatching(/^root asks: Write letters\/ada.md[^\n]*\? yes\n[\s\S]*Added letters\/ada.md[\s\S]*\ncompleted\n$/),
  ])
  expect(readFileSync(join(folder, 'office', 'letters', 'ada.md'), 'utf8')).toContain('Dear Ada')
  const [, again = ''] = /suspended (\S+)/.exec(node('clerk.ts', 'Write the file letters/ada.md with the content: Dear Sir')) ?? []
  expect(node('clerk.ts', again, 'She has moved')).toContain('She has moved')
  expect(node('clerk.ts', 'Write the file notes/key.md with the content: the password is byron')).toContain('Passwords do not belong')
  expect(existsSync(join(folder, 'office', 'notes', 'key.md'))).toBe(false)
})

it('shows agents from files with a tool of the program, and runs them', () => {
  const [, command = '', prompt = ''] = /^```sh\nnode (trip\.ts) "([^"]+)"\n```$/m.exec(page) ?? []
  expect(node(command, prompt)).toContain('The next train to Oslo leaves at 9:15.')
})

it('shows a session that continues with another limit', () => {
  expect(node('further.ts')).toBe('failed tokens\ncompleted\n')
})

it('shows tools and a team, and runs them under its rules', () => {
  const [order = '', price = ''] = [...page.matchAll(/^node desk\.ts "([^"]+)"$/gm)].map(([, prompt]) => prompt)
  expect(node('desk.ts', order)).toMatch(/Ordered paper under [\s\S]* \[\]\n$/)
  expect(node('desk.ts', order.replace('paper', 'ink'))).toContain('There is enough ink.')
  expect(node('desk.ts', price)).toContain('The price of ink is 9 euros.')
})

it('shows tools for HTTP APIs, and runs them', () => {
  expect(node('tides.ts')).toBe('High tide is at 06:10 and 18:35. true\n')
})

const declarations = readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.d.ts'))
  .map((file) => readFileSync(join(root, 'dist', file), 'utf8'))
  .join('\n')

it.each([
  ['Tools of your own', 'Tool'],
  ['Tools of your own', 'ToolContext'],
  ['Agents as objects', 'AgentDefinition'],
])('documents under "%s" every field of %s', (title, name) => {
  const section = page.split(/^## /m).find((each) => each.startsWith(`${title}\n`)) ?? ''
  const [, body = ''] = new RegExp(`interface ${name}(?: extends \\w+)? \\{([\\s\\S]*?)\\n\\}`).exec(declarations) ?? []
  const keys = [...body.matchAll(/^ {4}(?:readonly )?(\w+)\??[:(]/gm)].map(([, key]) => key)
  expect(keys.length).toBeGreaterThan(10)
  expect(keys.filter((key) => !section.includes(`\`${key}\``))).toEqual([])
})

it('documents every option of agentsFromFiles', () => {
  const [, table = ''] = /^\| option \| what it is for \|\n\|---\|---\|\n((?:\|.*\n)+)/m.exec(page) ?? []
  const rows = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
  const declared = readFileSync(join(root, 'dist', 'agents.d.ts'), 'utf8')
  const [, options = ''] = /interface AgentFilesOptions \{([\s\S]*?)\n\}/.exec(declared) ?? []
  expect(rows).toEqual([...options.matchAll(/readonly (\w+)\?:/g)].map(([, name]) => name))
})
