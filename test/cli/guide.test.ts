import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { workbench } from './troupe.ts'

// What the guide shows is written down and run, as it stands there.

const root = join(import.meta.dirname, '..', '..')
const { troupe, folder } = await workbench()
const guide = await readFile(join(root, 'docs', 'acting.md'), 'utf8')
const blocks = [...guide.matchAll(/^```(\S+)(?: (\S+))?\n([\s\S]*?)^```$/gm)].map(([, kind = '', name, text = '']) => ({
  kind,
  name,
  text,
}))

test('the guide to acting: its files are right, and its commands do what it says', async () => {
  const project = join(folder, 'project')
  const home = { HOME: join(folder, 'home'), XDG_STATE_HOME: join(folder, 'state') }
  await mkdir(home.HOME)
  await mkdir(project)
  const run = (line: string) => {
    const words = (line.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replace(/^"(.*)"$/, '$1'))
    return troupe(words.slice(1), { cwd: project, env: home })
  }
  const said: string[] = []
  for (const { kind, name, text } of blocks) {
    if (name !== undefined) {
      await mkdir(dirname(join(project, name)), { recursive: true })
      await writeFile(join(project, name), text)
    }
    for (const line of kind === 'sh' ? text.trim().split('\n') : []) {
      const [command = '', comment = ''] = line.split(/ +# /)
      const ended = await run(command)
      const [, code = '0'] = /exits (\d+)/.exec(comment) ?? []
      expect([command, ended.code], ended.stderr).toEqual([command, Number(code)])
      said.push(`${ended.stdout}${ended.stderr}`)
    }
  }
  expect(said.length).toBeGreaterThan(8)
  expect(await run('troupe validate')).toMatchObject({ code: 0 })
  const all = said.join('\n')
  for (const word of [
    'The roses want water',
    'Write notes/today.md',
    'Added notes/later.md',
    'Passwords do not belong into files.',
    'The Lighthouse',
  ])
    expect(all).toContain(word)
})

test('the guide is linked, and what it links to is there', async () => {
  expect(await readFile(join(root, 'README.md'), 'utf8')).toContain('(docs/acting.md)')
  expect(await readFile(join(root, 'docs', 'README.md'), 'utf8')).toContain('(acting.md)')
  for (const [, path = ''] of guide.matchAll(/\]\(([^)#]+)\)/g)) await readFile(join(root, 'docs', path))
  for (const [, path = ''] of guide.matchAll(/`(examples\/[\w-]+)`/g))
    await readFile(join(root, 'examples', 'README.md')).then((text) => expect(text.toString()).toContain(path.slice('examples/'.length)))
})

test('the agent that the README shows acting is right', async () => {
  const readme = await readFile(join(root, 'README.md'), 'utf8')
  const [, block = ''] = /## Agents act[^\n]*\n\n((?: {4}[^\n]*\n)+)/.exec(readme) ?? []
  expect(block).toContain('tools: [')
  await writeFile(join(folder, 'mender.ai'), block.replace(/^ {4}/gm, ''))
  expect(await troupe(['validate', 'mender.ai'])).toMatchObject({ code: 0 })
})
