import type { BlobId, InteractionEvent, Json, SessionExport, Store, StoredOutput, TreeEntry, TreeId } from '../../contracts/index.ts'
import { toBase64 } from '../../util/encode-bytes.ts'
import type { Redactor } from '../../util/redact.ts'
import { unknownTree } from '../journal/tree-cache.ts'
import { blobHandlesIn } from './blob-handles.ts'
import { sessionEntry } from './session-entry.ts'

/** A session as one document. What was recorded before a value was known to be secret is redacted now. */
export async function exportSession(store: Store, treeId: TreeId, redactor: Redactor): Promise<SessionExport> {
  const entry = await store.trees.get(treeId)
  if (!entry) throw unknownTree(treeId)
  const events = await store.journal.read(treeId, 0)
  const blobs: { [handle: string]: SessionExport['blobs'][string] } = {}
  for (const handle of blobHandlesIn(events)) {
    const output = await storedOutput(store, { treeId, handle, redactor })
    if (!output) continue
    blobs[handle] = 'text' in output ? output.text : { mediaType: output.mediaType, data: toBase64(output.bytes) }
  }
  return {
    format: 'troupe.session',
    version: 1,
    session: sessionEntry(redactor.json(entry as unknown as Json) as unknown as TreeEntry),
    events: redactor.json(events as unknown as Json) as unknown as readonly InteractionEvent[],
    blobs,
  }
}

interface OutputPlace {
  readonly treeId: TreeId
  readonly handle: BlobId
  readonly redactor: Redactor
}

/** A stored output without secrets. Texts may be stored as bytes, too. */
export async function storedOutput({ blobs }: Store, { treeId, handle, redactor }: OutputPlace): Promise<StoredOutput | undefined> {
  const text = await blobs.get(treeId, handle)
  if (text !== undefined) return { text: redactor.text(text) }
  const stored = await blobs.getBytes(treeId, handle)
  if (!stored) return undefined
  const { mediaType, bytes } = stored
  const decoded = utf8Text(bytes)
  const redacted = decoded === undefined ? undefined : redactor.text(decoded)
  return { mediaType, bytes: redacted === undefined || redacted === decoded ? bytes : new TextEncoder().encode(redacted) }
}

function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
