import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync } from 'node:zlib'
import { describe, it } from 'vitest'
import type { TreeId } from '../../src/contracts/index.ts'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { ScriptedModel } from '../../src/testing/index.ts'
import { appended, batch, claimed, one } from '../../src/testing/store-cases/sample-tree.ts'
import { type DataFolder, dataFolder } from '../fixtures/data-folder.ts'

/** Written by the last version with schema 1: `id-2` has had two turns, `id-4` waits for approval of `send`. */
const version1 = new URL('schema-1.db.gz', import.meta.url)
const [ended, waiting] = ['id-2', 'id-4'] as [TreeId, TreeId]

async function oldFolder(): Promise<DataFolder> {
  const folder = await dataFolder()
  await writeFile(folder.file, gunzipSync(await readFile(version1)))
  return folder
}

function lookInto<Result>(folder: DataFolder, look: (database: DatabaseSync) => Result): Result {
  const database = new DatabaseSync(folder.file)
  try {
    return look(database)
  } finally {
    database.close()
  }
}

const schemaOf = (folder: DataFolder): unknown =>
  lookInto(folder, (database) => database.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name').all())

describe('a database of schema 1', () => {
  it('has the tables of a new one afterwards, and refuses what knows only schema 1 by its version', async () => {
    const [old, fresh] = [await oldFolder(), await dataFolder()]
    await old.open().close()
    await fresh.open().close()
    assert.deepEqual(schemaOf(old), schemaOf(fresh))
    assert.equal(
      lookInto(old, (database) => database.prepare('PRAGMA user_version').get()?.user_version),
      3,
    )
  })

  it('is listed with workspace and open requests', async () => {
    const store = (await oldFolder()).open()
    assert.deepEqual(
      (await store.trees.list()).map(({ treeId, status, openRequests, workspace }) => ({ treeId, status, openRequests, workspace })),
      [
        { treeId: waiting, status: 'suspended', openRequests: 1, workspace: '/project' },
        { treeId: ended, status: 'completed', openRequests: 0, workspace: '/project' },
      ],
    )
  })

  it('is continued: a turn that waits, and another turn', async () => {
    const folder = await oldFolder()
    const store = folder.open()
    const inputSchema = { type: 'object', properties: {} }
    const approval = () => ({ keys: [{ key: 'send', label: 'send' }], summary: 'Send it' })
    const send = { name: 'send', description: 'Sends.', inputSchema, approval, execute: () => 'sent' }
    const clerk = { name: 'clerk', description: 'Sends things', prompt: 'You are a clerk.', model: 'any', tools: ['send'] }
    const model = new ScriptedModel([{ text: 'Sent it.' }, { text: 'A third time.' }])
    const origin = { workspace: '/project' }
    const runtime = createAgentRuntime({ config: { agents: [clerk], tools: [send] }, adapter: model, store, origin })
    await runtime.open(waiting)
    const [request] = await runtime.sessions.requests(waiting)
    assert(request)
    await runtime.sessions.approve(waiting, { approvalId: request.id, decision: { kind: 'approve', breadth: 'once' } })
    assert.equal((await runtime.sessions.outcome(waiting)).report?.text, 'Sent it.')
    assert.equal((await store.trees.get(waiting))?.openRequests, 0)
    // Its version had another default of `output`, and a limit less. Nothing has changed for the agent.
    const resumed = (await store.journal.read(waiting, 0)).find((event) => event.type === 'interaction.session.resumed')
    assert.deepEqual(resumed?.diagnostics, [])
    await runtime.open(ended)
    await runtime.sessions.send(ended, 'And again')
    assert.equal((await runtime.sessions.outcome(ended)).report?.text, 'A third time.')
    await runtime.close()
    const counted = lookInto(folder, (database) =>
      database.prepare('SELECT count(checksum) > 0 AS new, count(*) > count(checksum) AS old FROM journal').get(),
    )
    assert.deepEqual({ ...counted }, { new: 1, old: 1 })
  })

  it('gives free pages back after it was written anew, as a new one does', async () => {
    for (const folder of [await oldFolder(), await dataFolder()]) {
      const store = folder.open()
      const { epoch } = await claimed(store, one)
      for (let after = 0; after < 5000; after += 500) await appended(store, batch(one, epoch, { after, count: 500 }))
      await store.journal.release(one, epoch)
      const pages = (): unknown =>
        lookInto(folder, (database) => [
          Number(database.prepare('PRAGMA page_count').get()?.page_count) < 30,
          database.prepare('PRAGMA freelist_count').get()?.freelist_count,
        ])
      assert.deepEqual(pages(), [false, 0])
      assert.deepEqual(await store.trees.delete(one), { ok: true })
      await store.vacuum()
      assert.deepEqual(pages(), [true, 0])
    }
  })
})
