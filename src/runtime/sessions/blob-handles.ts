import type { BlobId, InteractionEvent } from '../../contracts/index.ts'

/**
 * The handles of blobs in events: `output.handle` of results and compactions, `blob` of parts, `blob:ID` of inputs. Arguments of tools may
 * have such fields, too: not every handle belongs to a blob.
 */
export function blobHandlesIn(events: readonly InteractionEvent[]): ReadonlySet<BlobId> {
  const handles = new Set<BlobId>()
  const visit = (value: unknown, key: string): void => {
    if (typeof value === 'string') {
      if (key === 'handle' || key === 'blob') handles.add(value as BlobId)
      else if (key === 'data' && value.startsWith('blob:')) handles.add(value.slice('blob:'.length) as BlobId)
    } else if (typeof value === 'object' && value !== null) for (const [name, each] of Object.entries(value)) visit(each, name)
  }
  for (const event of events) visit(event, '')
  return handles
}
