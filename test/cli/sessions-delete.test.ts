import { existsSync, readdirSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { workbench } from './troupe.ts'

const old = '2020-01-01T00:00:00Z'

/** Three sessions that have ended, long ago all of them, one that waiting since then, and one that is new. */
async function storedSessions() {
  const bench = await workbench()
  const { folder, agent, troupe } = bench
  await writeFile(join(folder, 'large.txt'), 'word '.repeat(60_000))
  const reading = 'description: A test\nmodels: script/read.yaml\ntools: read_file\nlimits: { maxOutputBytes: 1000 }'
  const reader = await agent('read', 'steps:\n  - calls: [{ tool: read_file, input: { path: large.txt } }]\n  - text: Read.\n', reading)
  const asking = 'description: A test\nmodels: script/ask.yaml\ntools: ask_user'
  const asker = await agent('ask', 'steps:\n  - calls: [{ tool: ask_user, input: { question: Which? } }]\n  - text: Asked.\n', asking)
  const data = join(folder, 'state', 'troupe')
  const file = join(data, 'troupe.db')
  for (let i = 0; i < 3; i += 1) expect(await troupe(['run', reader, 'Go'])).toMatchObject({ code: 0 })
  expect(await troupe(['run', asker, 'Go'])).toMatchObject({ code: 6 })
  const database = new DatabaseSync(file)
  database.prepare('UPDATE trees SET created_at = ?1 + key, updated_at = ?1').run(Date.parse(old))
  const ids = database
    .prepare('SELECT id FROM trees ORDER BY created_at')
    .all()
    .map(({ id }) => String(id))
  database.close()
  expect(await troupe(['run', reader, 'Go'])).toMatchObject({ code: 0 })
  const sessions = async (): Promise<readonly string[]> => {
    const { stdout } = await troupe(['sessions', 'list', '--everywhere', '--json'])
    return JSON.parse(stdout).sessions.map(({ sessionId }: { readonly sessionId: string }) => sessionId)
  }
  return { ...bench, file, blobs: join(data, 'blobs'), ids, sessions }
}

it('prune and delete remove sessions with their outputs, and give the space back; those that wait are not pruned', async () => {
  const { troupe, file, blobs, ids, sessions } = await storedSessions()
  const [first = '', second = '', third = '', waiting = ''] = ids
  const all = await sessions()
  expect([all.length, readdirSync(blobs).length]).toEqual([5, 4])

  const preview = await troupe(['sessions', 'prune', '--older', '30d', '--keep', '2', '--dry-run'])
  expect(preview.stdout.split('\n').map((line) => line.split('  ')[0])).toEqual([`Would delete: ${second}`, `Would delete: ${first}`, ''])
  expect(await sessions()).toEqual(all)

  const before = statSync(file).size
  const pruned = await troupe(['sessions', 'prune', '--older', '30d', '--keep', '2', '--json'])
  expect(pruned.code, pruned.stderr).toBe(0)
  expect(JSON.parse(pruned.stdout)).toEqual({ ok: true, deleted: [second, first], exitCode: 0 })
  expect(await sessions()).toEqual(all.filter((id) => id !== first && id !== second))
  expect([existsSync(join(blobs, first)), existsSync(join(blobs, second)), existsSync(join(blobs, third))]).toEqual([false, false, true])
  expect(statSync(file).size).toBeLessThan(before)

  // Whatever its age, it waits: only whoever names it means it.
  expect(await troupe(['sessions', 'prune', '--keep', '0', '--older', '1s'])).toMatchObject({ code: 0 })
  expect(await sessions()).toContain(waiting)
  expect(await troupe(['sessions', 'delete', waiting.slice(0, -2)])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(`^Deleted: ${waiting}  ask · 2020-01-01 00:00 UTC · “Go”\n$`),
  })
  expect(await sessions()).not.toContain(waiting)
  expect(await troupe(['sessions', 'prune', '--keep', '9'])).toMatchObject({
    code: 0,
    stdout: '',
    stderr: expect.stringContaining('nothing to delete'),
  })
})

it('delete refuses a session that is running, and then deletes none', async () => {
  const { agent, start, troupe } = await workbench()
  const file = await agent('slow', 'steps:\n  - text: Slow.\n    delay: 1h\n')
  const done = await agent('done', 'steps:\n  - text: Done.\n')
  expect(await troupe(['run', done, 'Go'])).toMatchObject({ code: 0 })
  const running = start(['run', file, 'Go'])
  await running.says('step 1')
  const listed = JSON.parse((await troupe(['sessions', 'list', '--everywhere', '--json'])).stdout).sessions
  const ids = listed.map(({ sessionId }: { readonly sessionId: string }) => sessionId)
  const refused = await troupe(['sessions', 'delete', ...ids])
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toContain(`Session ${ids[0]} is running: process ${running.process.pid} on `)
  expect(await troupe(['sessions', 'prune', '--keep', '0', '--json'])).toMatchObject({ code: 0, stdout: expect.stringContaining(ids[1]) })
  expect(JSON.parse((await troupe(['sessions', 'list', '--everywhere', '--json'])).stdout).sessions).toHaveLength(1)
  running.process.kill('SIGKILL')
  await running.ended
  // Nobody drives it any more.
  expect(await troupe(['sessions', 'delete', ids[0]])).toMatchObject({ code: 0 })
})
