// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { workbench } from '../cli/troupe.ts'
import { createDatabase } from './server.ts'

const { troupe: command, agent, folder } = await workbench()
let database: Awaited<ReturnType<typeof createDatabase>>
let url = ''
let password = ''

/** Whatever a command prints, it never has the password. */
const troupe: typeof command = async (words, options) => {
  const ended = await command(words, options)
  expect(`${ended.stdout}${ended.stderr}`).not.toContain(password)
  return ended
}
const titles = async (words: readonly string[] = [], env: { readonly [name: string]: string } = {}): Promise<readonly string[]> => {
  const { code, stdout, stderr } = await troupe(['sessions', 'list', '--json', ...words], { env })
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout).sessions.map(({ title }: { readonly title: string }) => title)
}

beforeAll(async () => {
  database = await createDatabase(inject('postgresServer'))
  url = database.url
  ;({ password } = new URL(url))
  await agent('echo', 'steps:\n  - text: hi\n')
})
afterAll(() => database.drop())

describe('--store, TROUPE_STORE and store.url', () => {
  test('name the database of sessions', async () => {
    expect(await troupe(['run', 'echo.ai', 'by flag', '--store', url])).toMatchObject({ code: 0, stdout: 'hi\n' })
    expect(await troupe(['run', 'echo.ai', 'by variable'], { env: { TROUPE_STORE: url } })).toMatchObject({ code: 0 })
    expect(await troupe(['run', 'echo.ai', 'in a folder'])).toMatchObject({ code: 0 })
    expect(await titles(['--store', url])).toEqual(['by variable', 'by flag'])
    expect(await titles([], { TROUPE_STORE: url })).toEqual(['by variable', 'by flag'])
    expect(await titles()).toEqual(['in a folder'])
    expect(await titles(['--store', `sqlite:${join(folder, 'state', 'troupe')}`])).toEqual(['in a folder'])
  })

  test('in a project, the configuration needs trust; a variable may have the password', async () => {
    const project = join(folder, 'project')
    await mkdir(project, { recursive: true })
    const withVariable = url.replace(password, '${DATABASE_PASSWORD}')
    await writeFile(join(project, '.ai-agent.json'), JSON.stringify({ store: { url: withVariable } }))
    await writeFile(join(project, 'echo.yaml'), 'steps:\n  - text: hi\n')
    await writeFile(join(project, 'echo.ai'), '---\ndescription: A test\nmodels: script/echo.yaml\n---\nYou are tested.\n')
    const env = { DATABASE_PASSWORD: password }
    const show = async () => (await troupe(['run', 'echo.ai', 'of the project'], { cwd: project, env })).code
    expect(await show()).toBe(0)
    expect(await titles(['--store', url])).not.toContain('of the project')
    expect((await troupe(['trust', '--all'], { cwd: project, env })).code).toBe(0)
    expect(await show()).toBe(0)
    const listed = await troupe(['sessions', 'list', '--everywhere'], { cwd: project, env })
    expect(listed.stdout).toContain('of the project')
    const shown = await troupe(['config', 'show'], { cwd: project, env })
    expect(shown.stdout).toContain('store.url = postgres://[redacted]${DATABASE_PASSWORD}@127.0.0.1')
    const checked = await troupe(['doctor'], { cwd: project, env })
    expect(checked.stdout).toContain(`journal: ${url.replace(/\/\/.*@/, '//')}`)
  })

  test('exclude --data-dir, and a wrong one is refused', async () => {
    expect(await troupe(['sessions', 'list', '--store', url, '--data-dir', 'x'])).toMatchObject({ code: 2 })
    expect(await troupe(['sessions', 'list', '--store', 'redis://u:secret@h'])).toMatchObject({
      code: 2,
      stderr: expect.not.stringContaining('secret'),
    })
    const wrong = url.replace(password, 'wrong-secret')
    const refused = await troupe(['sessions', 'list', '--store', wrong, '--json'])
    expect(refused.code).toBe(1)
    expect(refused.stdout).toContain('password authentication failed')
    expect(refused.stdout).not.toContain('wrong-secret')
  })
})

test('store migrate creates and upgrades the tables of a database', async () => {
  expect(await troupe(['store', 'migrate', '--store', url])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('The schema is current'),
  })
  expect(await troupe(['store', 'migrate', '--store', url, '--json'])).toMatchObject({ code: 0 })
  expect(await troupe(['store', 'migrate'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--store postgres://HOST/NAME') })
  expect(await troupe(['store', 'migrate', url])).toMatchObject({ code: 2 })
})

test('store copy moves the sessions of a folder', async () => {
  const data = join(folder, 'state', 'troupe')
  expect(await troupe(['store', 'copy', `sqlite:${data}`, url])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('The database has other sessions.'),
  })
  const other = await createDatabase(inject('postgresServer'))
  try {
    const copied = await troupe(['store', 'copy', `sqlite:${data}`, other.url])
    expect([copied.stderr, copied.code]).toEqual(['', 0])
    expect(copied.stdout).toMatch(/^Copied 2 sessions with \d+ events and 0 blobs to postgres:\/\/127\.0\.0\.1:\d+\/troupe_\w+\.\n$/)
    expect(await titles(['--everywhere', '--store', other.url])).toEqual(await titles(['--everywhere']))
  } finally {
    await other.drop()
  }
})
