import {
  type Clock,
  type DriverId,
  type Ids,
  type InteractionEvent,
  type Principal,
  type Store,
  type TreeId,
  TroupeError,
  type TurnRecord,
} from '../../contracts/index.ts'
import type { SessionState } from '../../core/index.ts'
import { usageError } from '../../util/option-problems.ts'
import { unknownTree } from '../journal/tree-cache.ts'
import { foldTree } from '../journal/tree-state.ts'
import { summaryOf } from '../journal/tree-status.ts'
import { TurnRecordFold } from '../journal/turn-record.ts'
import { randomIds, systemClock } from '../parts/default-ports.ts'
import { blobHandlesIn } from './blob-handles.ts'
import { copyEvents } from './copy-events.ts'
import { type SettledEvents, settleEvents } from './settle-events.ts'

interface ForkOptions {
  /** The last event to copy. Default: the last one. */
  readonly seq?: number
  /** Who forks it and owns the copy. Default: nobody. */
  readonly principal?: Principal
  readonly ids?: Ids
  readonly clock?: Pick<Clock, 'now'>
  /** Called before the copy is stored. */
  readonly requireBudget?: ((root: SessionState) => Promise<void>) | undefined
}

/**
 * Copies a session up to an event into a new one. No model is asked and no tool runs, so neither agents nor tools are needed.
 *
 * 1. The journal of the copy is one append: it is complete or does not exist.
 * 2. The original is only read; another process may drive it.
 *
 * @throws TroupeError `session_unknown`, or `usage` if the session has no such event.
 */
export async function forkSession(store: Store, from: TreeId, options: ForkOptions = {}): Promise<TreeId> {
  const { seq, principal, ids = randomIds, clock = systemClock } = options
  const entry = await store.trees.get(from)
  if (!entry) throw unknownTree(from)
  const last = seq ?? entry.seq
  if (last > entry.seq)
    throw usageError([
      { place: 'options.seq', message: `expected at most ${entry.seq}, found ${last}`, remedy: 'Use the seq of an event of the session.' },
    ])
  const treeId = ids.next() as TreeId
  const copied = copyEvents(await store.journal.read(from, 0, last), from, treeId)
  const { events, root } = withCopyMark(await settleEvents(asFork(copied, { from, seq: last, principal, at: clock.now() }), 'fork'))
  const turns = turnRecordsOf(events)
  await options.requireBudget?.(root)
  const { title, labels, workspace } = entry
  const summary = summaryOf(root, { title, openRequests: 0 })
  const owner = principal?.id
  const identity = {
    ...(owner !== undefined && { owner }),
    ...(labels && { labels }),
    ...(workspace !== undefined && { workspace }),
  }
  await writeTree(store, { treeId, driver: ids.next() as DriverId, from, events, summary, identity, turns })
  return treeId
}

interface Fork {
  readonly from: TreeId
  readonly seq: number
  readonly principal: Principal | undefined
  readonly at: number
}

/** The session is created now, by who forks it. Everything else keeps its time. */
function asFork([first, ...rest]: readonly InteractionEvent[], { from, seq, principal, at }: Fork): readonly InteractionEvent[] {
  if (first?.type !== 'interaction.session.created') throw new TroupeError('store_invalid', `The journal of session ${from} is empty.`)
  const { principal: _, forkedFrom: __, ...created } = first
  return [{ ...created, at, ...(principal && { principal }), forkedFrom: { sessionId: from, seq } }, ...rest]
}

/** Marks the end of the copy: turns up to there were paid for by the original. */
function withCopyMark({ events, root }: SettledEvents): SettledEvents {
  const [first, ...rest] = events
  if (first?.type !== 'interaction.session.created' || !first.forkedFrom) return { events, root }
  return { events: [{ ...first, forkedFrom: { ...first.forkedFrom, last: events.length } }, ...rest], root }
}

function turnRecordsOf(events: readonly InteractionEvent[]): readonly TurnRecord[] {
  const fold = new TurnRecordFold()
  foldTree(events, undefined, fold.observe)
  return fold.records
}

interface NewTree extends Pick<Parameters<Store['journal']['append']>[0], 'treeId' | 'events' | 'summary' | 'identity' | 'turns'> {
  readonly driver: DriverId
  /** The tree that has the blobs. */
  readonly from: TreeId
}

async function writeTree(store: Store, { driver, from, ...tree }: NewTree): Promise<void> {
  const { journal, trees } = store
  const { treeId, events } = tree
  const claim = await journal.claim(treeId, driver)
  if (!claim.ok) throw takenId(treeId)
  const { epoch, seq } = claim
  if (seq > 0) await journal.release(treeId, epoch)
  if (seq > 0) throw takenId(treeId)
  try {
    await copyBlobs(store, { from, to: treeId, events })
    const answer = await journal.append({ ...tree, expectedSeq: 0, epoch })
    if (!answer.ok) throw new TroupeError('session_moved', `The copy of session ${from} was not stored: ${answer.refusal}.`)
  } catch (error) {
    await journal.release(treeId, epoch)
    // Blobs that were copied.
    await Promise.resolve(trees.delete(treeId)).catch(() => {})
    throw error
  }
  await journal.release(treeId, epoch)
}

const takenId = (treeId: TreeId): TroupeError =>
  new TroupeError('internal', `Session ${treeId} exists already.`, { remedy: 'Make the ids port return unique ids.' })

/** A blob has the same id in every tree. */
async function copyBlobs(
  { blobs }: Store,
  { from, to, events }: { readonly from: TreeId; readonly to: TreeId; readonly events: readonly InteractionEvent[] },
): Promise<void> {
  for (const handle of blobHandlesIn(events)) {
    const text = await blobs.get(from, handle)
    if (text !== undefined) await blobs.put(to, text)
    const stored = text === undefined ? await blobs.getBytes(from, handle) : undefined
    if (stored) await blobs.putBytes(to, stored.bytes, stored.mediaType)
  }
}
