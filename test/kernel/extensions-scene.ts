import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { makeProject, troupeIn, variablesIn } from '../cli/in-process.ts'

// A project for `troupe extensions`, one for each test file.

export let folder: string
export const before = process.cwd()
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'troupe-extensions-'))
  await makeProject(folder)
})
afterAll(async () => {
  process.chdir(before)
  await rm(folder, { recursive: true })
})

export const extensions = (...words: readonly string[]) => troupeIn(folder, ['extensions', ...words], variablesIn(folder))
export const shown = async (id: string) => JSON.parse((await extensions('show', id, '--json')).stdout)
export const write = async (id: string, files: { readonly [name: string]: string }) => {
  await mkdir(join(folder, 'extensions', id), { recursive: true })
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, 'extensions', id, name), text)
}
export const manifest = (id: string, more = '') => `id: ${id}\nname: ${id}\nversion: "1"\ndescription: test\nentrypoint: main:Main\n${more}`
