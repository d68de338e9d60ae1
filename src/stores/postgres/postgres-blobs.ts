import { type BlobId, type Blobs, type TreeId, TroupeError } from '../../contracts/index.ts'
import { type BlobContent, bytesContent, encodingOf, isContentOf, textContent } from '../shared/blob-content.ts'
import { mediaTypeOf } from '../shared/bytes-id.ts'
import { encodeText } from '../shared/encoding.ts'
import type { Database } from './database.ts'

/** A blob may be stored before its tree has a row, as its messages may. */
export function postgresBlobs(database: Database): Blobs {
  async function put(treeId: TreeId, { id, content }: BlobContent): Promise<BlobId> {
    await database.write('INSERT INTO troupe.blobs (tree, id, content) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', [
      encodeText(treeId),
      id,
      content,
    ])
    return id
  }

  async function read(treeId: TreeId, id: BlobId): Promise<Buffer | undefined> {
    const [row] = await database.read('SELECT content FROM troupe.blobs WHERE tree = $1 AND id = $2', [encodeText(treeId), id])
    const content = row?.content as Buffer | undefined
    if (content === undefined || isContentOf(id, content)) return content
    throw new TroupeError('store_invalid', `blob ${id} of tree ${treeId} is damaged: its content does not match its id`, {
      remedy: 'Restore the database from a backup, or use another one.',
    })
  }

  return {
    put: (treeId, text) => put(treeId, textContent(text)),
    async get(treeId, id) {
      const encoding = encodingOf(id)
      return encoding && (await read(treeId, id))?.toString(encoding)
    },
    putBytes: (treeId, bytes, mediaType) => put(treeId, bytesContent(bytes, mediaType)),
    async getBytes(treeId, id) {
      const mediaType = mediaTypeOf(id)
      if (mediaType === undefined) return undefined
      const bytes = await read(treeId, id)
      return bytes && { mediaType, bytes }
    },
  }
}
