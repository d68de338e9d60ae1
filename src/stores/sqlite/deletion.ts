import type { Deletion, TreeId } from '../../contracts/index.ts'
import { whileBusy } from './backoff.ts'
import type { Tables } from './connection.ts'
import type { FileBlobs } from './file-blobs.ts'
import type { StoreParts } from './store-parts.ts'
import { decodeText, encodeText } from './text.ts'

// Rows and files cannot be removed together. So the rows go first, with a note of the files in the same commit; whoever finds
// such a note removes the files, and then the note.

const namespace = 'deleted-blobs'

export async function deleteTree({ queue }: StoreParts, blobs: FileBlobs, treeId: TreeId): Promise<Deletion> {
  const deletion = await queue.add({ apply: (tables) => deleteRows(tables, treeId) })
  if (deletion.ok) await removeBlobs(queue, blobs, [treeId])
  return deletion
}

export async function vacuum({ connection, queue, busyTimeoutMs }: StoreParts, blobs: FileBlobs): Promise<void> {
  const left = await queue.add({ apply: ({ records }) => records.keys(namespace) })
  await removeBlobs(
    queue,
    blobs,
    left.map((key) => decodeText(key) as TreeId),
  )
  await whileBusy(() => connection.vacuum(), busyTimeoutMs)
}

function deleteRows({ trees, journal, inbox, owners, records, snapshots }: Tables, treeId: TreeId): Deletion {
  const tree = trees.find(treeId)
  if (tree === undefined) return { ok: false, refusal: 'missing' }
  const driver = tree.owner === undefined ? undefined : owners.alive(tree.owner)
  if (driver !== undefined) return { ok: false, refusal: 'driven', driver }
  for (const table of [journal, inbox, snapshots, trees]) table.remove(tree.key)
  if (tree.owner !== undefined) owners.dismissIdle(tree.owner)
  records.put(namespace, encodeText(treeId), { json: 'null' })
  return { ok: true }
}

async function removeBlobs(queue: StoreParts['queue'], blobs: FileBlobs, treeIds: readonly TreeId[]): Promise<void> {
  for (const treeId of treeIds) await blobs.remove(treeId)
  if (treeIds.length > 0)
    await queue.add({
      apply: ({ records }) => {
        for (const treeId of treeIds) records.remove(namespace, encodeText(treeId))
      },
    })
}
