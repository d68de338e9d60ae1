import { existsSync } from 'node:fs'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore } from '../../src/stores/index.ts'
import { built, desk } from './live-window.ts'

const { program, folder } = await desk()
const state = join(folder, 'state', 'troupe')
const grants = join(state, 'grants.json')
const at = (name: string): string => join(folder, name)

/** `troupe …` in another folder. */
const elsewhere = (cwd: string, args: readonly string[]) =>
  program(
    `process.chdir(${JSON.stringify(cwd)})
    const { main } = await import(${built})
    process.exit(await main(${JSON.stringify(args)}))`,
    // So wide that no line is broken.
    { columns: 180 },
  )

const script = 'steps:\n  - calls: [{ tool: write_file, input: { path: notes.txt, content: text } }]\n  - text: Done.\n'
async function project(name: string): Promise<string> {
  await mkdir(at(`${name}/.git`), { recursive: true })
  await writeFile(at(`${name}/.git/HEAD`), 'ref: refs/heads/main\n')
  await writeFile(at(`${name}/writer.yaml`), script)
  await writeFile(at(`${name}/writer.ai`), '---\ndescription: x\nmodels: script/writer.yaml\ntools: [write_file]\n---\nWrite.\n')
  return at(name)
}
const run = (place: string) => elsewhere(place, ['run', 'writer.ai', 'Go', '--data-dir', 'data'])
const storedGrants = async (): Promise<readonly unknown[]> => {
  const store = await openStore(`sqlite:${state}`)
  const records = await store.records.list('grant')
  await store.close()
  return records.map(({ value }) => value)
}
const listed = async (place: string, more: readonly string[] = []): Promise<readonly string[]> => {
  const window = elsewhere(place, ['approvals', 'list', ...more])
  expect(await window.ended).toBe(0)
  return window.lines()
}

test('project grants are stored, listed, apply there alone, by any path, and can be revoked', async () => {
  const [here, there] = [await project('here'), await project('there')]
  await symlink(here, at('link'))
  const first = run(here)
  await first.shows(/\? Write notes\.txt[\s\S]*\n> $/)
  first.pty.write('p1\r')
  expect(await first.ended).toBe(0)
  expect(await storedGrants()).toMatchObject([
    { key: `path:${here}/`, isPrefix: true, project: here, folder: here, by: 'person at the terminal' },
  ])

  expect(await run(here).ended).toBe(0)
  // A link to the project is the project.
  expect(await run(at('link')).ended).toBe(0)
  // Another one is asked about.
  const other = run(there)
  await other.shows(/\? Write notes\.txt[\s\S]*\n> $/)
  other.pty.write('x\r')
  expect(await other.ended).toBe(6)

  expect((await listed(here))[0]).toMatch(new RegExp(`^path:${here}/ {2}any file in the workspace · by person at the terminal on \\d{4}-`))
  expect((await listed(there))[0]).toBe(`No grants are stored for ${there}.`)
  expect((await listed(there, ['--everywhere']))[0]).toContain(`path:${here}/`)

  const wrong = elsewhere(here, ['approvals', 'revoke', `path:${here}`])
  expect(await wrong.ended).toBe(2)
  expect(wrong.lines().join('\n')).toContain(`Did you mean path:${here}/?`)
  expect(await elsewhere(here, ['approvals', 'revoke', `path:${here}/`]).ended).toBe(0)
  const again = run(here)
  await again.shows(/\? Overwrite notes\.txt[\s\S]*\n> $/)
  again.pty.write('x\r')
  expect(await again.ended).toBe(6)

  for (const args of [
    ['approvals', 'revoke'],
    ['approvals', 'revoke', 'a', '--all'],
  ])
    expect(await elsewhere(here, args).ended).toBe(2)

  // A list that cannot be understood grants nothing, and is not written over.
  await writeFile(grants, '{ "version": 1, "grants": [ { "key": "path:/" } ] }')
  const damaged = run(here)
  await damaged.shows(/\? Overwrite notes\.txt[\s\S]*\n> $/)
  damaged.pty.write('p\r')
  expect(await damaged.ended).toBe(0)
  expect(damaged.lines().join('\n')).toMatch(/! grant_not_kept/)
  expect(await readFile(grants, 'utf8')).toBe('{ "version": 1, "grants": [ { "key": "path:/" } ] }')
  const list = elsewhere(here, ['approvals', 'list'])
  expect(await list.ended).toBe(2)
  expect(list.lines().join('\n')).toMatch(/The list of approvals \S+ is damaged\.[\s\S]*→ Fix or remove the file/)
})

test('grants in the file of an earlier version are taken over once; those in the store of a project do not apply', async () => {
  const [old, hostile] = [await project('old'), await project('hostile')]
  const grant = (place: string) => ({
    key: `path:${place}/`,
    label: 'any',
    isPrefix: true,
    project: place,
    folder: place,
    by: 'ann',
    at: 1,
  })
  await writeFile(grants, JSON.stringify({ version: 1, grants: [grant(old), { ...grant(hostile), folder: undefined }] }))
  expect(await run(old).ended).toBe(0)
  expect([existsSync(grants), existsSync(`${grants}.imported`)]).toEqual([false, true])
  expect(await storedGrants()).toContainEqual(grant(old))
  expect(await elsewhere(old, ['approvals', 'revoke', '--all']).ended).toBe(0)
  expect((await listed(old))[0]).toBe(`No grants are stored for ${old}.`)

  // The store of the sessions is inside of the project, with a grant that nobody gave.
  const shipped = await openStore(`sqlite:${join(hostile, 'data')}`)
  await shipped.records.update('grant', JSON.stringify([hostile, hostile, `path:${hostile}/`]), () => ({ value: grant(hostile) }))
  await shipped.close()
  const asked = run(hostile)
  await asked.shows(/\? Write notes\.txt[\s\S]*\n> $/)
  asked.pty.write('x\r')
  expect(await asked.ended).toBe(6)
})
