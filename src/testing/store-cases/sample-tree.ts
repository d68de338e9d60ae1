import assert from 'node:assert/strict'
import type {
  AppendBatch,
  ClientId,
  DriverId,
  InboxMessage,
  InteractionEvent,
  ItemId,
  JsonObject,
  SessionId,
  Store,
  TreeId,
} from '../../contracts/index.ts'

interface Stores {
  readonly store: Store
  /** As another process sees it; the same one where there is no other. */
  readonly other: Store
}

export interface StoreCases {
  readonly [name: string]: (stores: Stores) => Promise<void>
}

export const one = 'tree-one' as TreeId
export const two = 'tree-two' as TreeId
export const alice = 'alice' as DriverId
export const bob = 'bob' as DriverId

/** An event that can carry any text and any JSON. */
export function event(
  treeId: TreeId,
  seq: number,
  content: { readonly text?: string; readonly metadata?: JsonObject } = {},
): InteractionEvent {
  const { text = `event ${seq}`, metadata = {} } = content
  return {
    seq,
    treeId,
    sessionId: 'session' as SessionId,
    agentPath: 'root',
    at: 1_000_000 + seq,
    type: 'interaction.item.completed',
    item: { kind: 'text', id: `t1.s1.${seq}` as ItemId, type: 'agent_message', status: 'completed', text, metadata },
  }
}

/** `count` events of a tree, from `first` on. */
export function events(treeId: TreeId, first: number, count: number): readonly InteractionEvent[] {
  return Array.from({ length: count }, (_, index) => event(treeId, first + index))
}

/** A batch of plain events after `expectedSeq`. */
export function batch(treeId: TreeId, epoch: number, span: { readonly after: number; readonly count: number }): AppendBatch {
  return { treeId, epoch, expectedSeq: span.after, events: events(treeId, span.after + 1, span.count) }
}

/** Claims a tree that is free. */
export async function claimed(
  store: Store,
  treeId: TreeId,
  driver: DriverId = alice,
): Promise<{ readonly epoch: number; readonly seq: number }> {
  const claim = await store.journal.claim(treeId, driver)
  assert(claim.ok, `the claim of ${treeId} was refused`)
  return claim
}

export async function appended(store: Store, entry: AppendBatch): Promise<void> {
  assert.deepEqual(await store.journal.append(entry), { ok: true })
}

/** Claims a tree with `count` events, and returns its epoch. */
export async function createTree(store: Store, treeId: TreeId, count: number): Promise<number> {
  const { epoch } = await claimed(store, treeId)
  await appended(store, batch(treeId, epoch, { after: 0, count }))
  return epoch
}

export async function seqs(store: Store, treeId: TreeId, after = 0): Promise<readonly number[]> {
  return (await store.journal.read(treeId, after)).map(({ seq }) => seq)
}

export function client(name: string): ClientId {
  return name as ClientId
}

export function input(text: string): InboxMessage {
  return { kind: 'input', parts: [{ type: 'text', text }], mode: 'queue' }
}

/** What JSON can say and stores tend to lose. */
export const oddText = 'lone \ud800 and \udfff, NUL \u0000, BOM \ufeff, separators \u2028\u2029, a pair \u{1f3ad}, quotes "\'\\'
