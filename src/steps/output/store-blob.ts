import { type BlobId, type MaybePromise, TroupeError } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import type { ActiveSession } from '../session/active-session.ts'
import { sizeText } from './part-text.ts'

/** Stores something beside the journal. */
export async function storeBlob(put: () => MaybePromise<BlobId>): Promise<BlobId> {
  try {
    return await put()
  } catch (cause) {
    if (cause instanceof TroupeError) throw cause
    throw new TroupeError('store_failed', `An output could not be stored: ${messageOf(cause)}`, {
      remedy: 'Free some disk space, then open the session again.',
      cause,
    })
  }
}

/** A stored text. Throws for bytes: no tool reads them as text. */
export async function storedText({ ports, state }: ActiveSession, id: BlobId): Promise<string | undefined> {
  const text = await ports.blobs.get(state.treeId, id)
  if (text !== undefined) return text
  const found = await ports.blobs.getBytes(state.treeId, id)
  if (!found) return undefined
  throw new TroupeError(
    'usage',
    `${id} is ${found.mediaType}, ${sizeText(found.bytes.length)}. It is not text and cannot be read as lines.`,
  )
}
