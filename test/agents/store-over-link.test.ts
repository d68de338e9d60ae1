import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { troupe } from './command.ts'
import { child, folder } from './folder.ts'

/** A project whose `store.path` was trusted before anything lay there. */
async function trustedProject(): Promise<string> {
  const { path } = folder({ 'a.ai': child().replace('a/b', 'rehearsal'), '.ai-agent.json': { store: { path: './kept/state' } } })
  await troupe(path, ['trust', '.ai-agent.json'])
  return path
}

describe('journals of a project', () => {
  test.each([
    ['a folder elsewhere', folder().path],
    ['nothing yet', join(folder().path, 'none')],
  ])('are not written over a link that came after trust, to %s', async (_name, target) => {
    const path = await trustedProject()
    symlinkSync(target, join(path, 'kept'))
    const { code, stderr } = await troupe(path, ['run', 'a.ai', 'Hi'])
    expect([code, stderr]).toEqual([2, expect.stringContaining(`\`store.path\` leaves the folder over the link ${join(path, 'kept')}`)])
    expect(stderr).toContain(`${join(path, '.ai-agent.json')}:1:`)
    expect(existsSync(join(target, 'state'))).toBe(false)
    expect((await troupe(path, ['sessions', 'list'])).code).toBe(2)
    expect((await troupe(path, ['doctor'])).stdout).toContain('Journals would be written outside the project')
  })

  test.each(['troupe.db', 'troupe.db-wal', 'troupe.db-shm', 'troupe.db-journal', 'blobs'])(
    'are not written over a link in the folder of journals itself: %s',
    async (name) => {
      const path = await trustedProject()
      const target = join(folder().path, 'none')
      mkdirSync(join(path, 'kept/state'), { recursive: true })
      symlinkSync(target, join(path, 'kept/state', name))
      const { code, stderr } = await troupe(path, ['run', 'a.ai', 'Hi'])
      expect([code, stderr]).toEqual([2, expect.stringContaining(`leaves the folder over the link ${join(path, 'kept/state', name)}`)])
      expect(existsSync(target)).toBe(false)
    },
  )

  test('are written over one that stays inside', async () => {
    const path = await trustedProject()
    mkdirSync(join(path, 'other'))
    symlinkSync('other', join(path, 'kept'))
    expect((await troupe(path, ['run', 'a.ai', 'Hi'])).code).toBe(0)
    expect(existsSync(join(path, 'other/state/troupe.db'))).toBe(true)
  })
})
