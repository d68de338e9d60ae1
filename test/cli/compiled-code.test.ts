import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { workbench } from './troupe.ts'

const { start, folder } = await workbench()
const filesIn = (path: string) => readdir(path).catch(() => undefined)

it('keeps compiled code in the state folder, once there is one; NODE_COMPILE_CACHE names another folder', async () => {
  const state = join(folder, 'own')
  const run = (cache = '') =>
    start(['--version'], { env: { XDG_STATE_HOME: state, NODE_COMPILE_CACHE: cache } }).ended.then(({ code }) => expect(code).toBe(0))

  // It never makes the folder, which belongs to its user alone.
  await run()
  expect(await filesIn(state)).toBeUndefined()
  await mkdir(join(state, 'troupe'), { recursive: true })
  await run(join(folder, 'elsewhere'))
  expect(await filesIn(join(state, 'troupe'))).toEqual([])
  await run()
  expect(await filesIn(join(state, 'troupe'))).toEqual(['compiled'])
})
