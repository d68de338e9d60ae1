import { type AppendBatch, TroupeError } from '../../contracts/index.ts'

/** Throws for an empty batch, or one that is not numbered from `expectedSeq + 1`. */
export function checkBatch({ treeId, expectedSeq, events }: AppendBatch): void {
  if (events.length === 0) throw new TroupeError('internal', `an empty batch was appended to tree ${treeId}`)
  let seq = expectedSeq
  for (const event of events) {
    seq += 1
    if (event.seq !== seq) throw new TroupeError('internal', `tree ${treeId}: the event after ${seq - 1} has seq ${event.seq}`)
  }
}

export function closedError(): TroupeError {
  return new TroupeError('store_failed', 'the store is closed', { remedy: 'open a new store, and close it after its last use' })
}
