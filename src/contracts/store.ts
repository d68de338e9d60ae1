import type { ApprovalDecision } from './approvals.ts'
import type { InputMode, InteractionEvent } from './events.ts'
import type { ApprovalId, BlobId, ClientId, OwnerId, TreeId } from './ids.ts'
import type { MaybePromise } from './json.ts'
import type { InputPart } from './messages.ts'
import type { OutcomeStatus } from './outcome.ts'

/** What lists show of a tree; written together with the events that change it. */
export interface TreeSummary {
  readonly agent: string
  readonly title: string
  readonly status: OutcomeStatus | 'running'
  /** Requests that wait for a person, over all sessions of the tree. */
  readonly openRequests: number
}
/** Set by the first append of a tree and never changed. */
export interface TreeIdentity {
  /** The person, token or program that the tree belongs to. */
  readonly owner?: string
  /** A key of another system, a chat thread for example. No two trees of a store have the same one. */
  readonly key?: string
  readonly labels?: readonly string[]
  /** The folder that the tree works in. */
  readonly workspace?: string
}
export interface TreeEntry extends TreeSummary, TreeIdentity {
  readonly treeId: TreeId
  readonly seq: number
  readonly createdAt: number
  readonly updatedAt: number
}

export type Claim =
  /** `seq` is the last one in the journal, 0 for a new tree. */
  | { readonly ok: true; readonly epoch: number; readonly seq: number }
  /** Somebody alive drives this tree. */
  | { readonly ok: false; readonly owner: string }

export interface AppendBatch {
  readonly treeId: TreeId
  /** The last `seq` before this batch. */
  readonly expectedSeq: number
  readonly epoch: number
  /** Never empty; numbered from `expectedSeq + 1` without a gap. */
  readonly events: readonly InteractionEvent[]
  readonly summary?: TreeSummary
  /** Applies to the first batch of a tree only. */
  readonly identity?: TreeIdentity
}
export type Append =
  | { readonly ok: true }
  /** `epoch`: another owner has taken over. `seq`: the journal goes on differently. `missing`: never claimed. `key`: another tree has that key. */
  | { readonly ok: false; readonly refusal: 'epoch' | 'seq' | 'missing' | 'key' }

/**
 * The durable events of every tree.
 *
 * 1. A batch is stored whole or not at all, and is durable when `append` has answered.
 * 2. A wrong `expectedSeq` or an old `epoch` is refused: a second driver cannot write.
 * 3. Repeating an append whose answer was lost succeeds when the same events stand there.
 * 4. Appends to one tree take effect in the order of the calls, awaited or not. Whatever is ready in the same tick may share a commit; one refused batch never harms another.
 * 5. A failure of the medium throws `store_failed`; nothing of that batch is stored.
 */
export interface Journal {
  /** Becomes the one driver of a tree; a dead owner is replaced, and every older epoch refused from then on. */
  claim(treeId: TreeId, owner: OwnerId): MaybePromise<Claim>
  /** Ends this epoch and gives the tree up, so that another process need not wait for this one to be found dead. */
  release(treeId: TreeId, epoch: number): MaybePromise<void>
  append(batch: AppendBatch): MaybePromise<Append>
  /**
   * Events with `seq > after`, in order; at most `limit`. Rows beyond `limit` are not looked at.
   *
   * @throws JournalDamagedError for the first event that is missing or is not what was stored; those before it can be read with `limit`.
   */
  read(treeId: TreeId, after: number, limit?: number): MaybePromise<readonly InteractionEvent[]>
  /** Calls `wake` after appends to this tree by any process. May call once too often, never too seldom. */
  watch(treeId: TreeId, wake: () => void): () => void
}

export type InboxMessage =
  | { readonly kind: 'input'; readonly parts: readonly InputPart[]; readonly mode: InputMode }
  | { readonly kind: 'approval'; readonly approvalId: ApprovalId; readonly decision: ApprovalDecision; readonly by: string }
  | { readonly kind: 'revoke'; readonly keys: readonly string[]; readonly by: string }
  | { readonly kind: 'cancel'; readonly mode: 'stop' | 'interrupt'; readonly by: string }

export interface InboxRow {
  /** Grows within a tree; the driver's cursor. */
  readonly position: number
  readonly clientId: ClientId
  readonly message: InboxMessage
}

/** What came from outside and is not yet in the journal. Any process may add, also before the tree has events; the driver drains. */
export interface Inbox {
  /** A repeated client id is taken once: the answer names the first one's position. */
  add(treeId: TreeId, clientId: ClientId, message: InboxMessage): MaybePromise<{ readonly position: number; readonly repeated: boolean }>
  read(treeId: TreeId, after: number): MaybePromise<readonly InboxRow[]>
  watch(treeId: TreeId, wake: () => void): () => void
}

/** Outputs too large for the journal. Text only. Durable before `put` answers. */
export interface Blobs {
  put(treeId: TreeId, text: string): MaybePromise<BlobId>
  get(treeId: TreeId, id: BlobId): MaybePromise<string | undefined>
  /** The file of a blob, for people, where a store keeps them in files. */
  pathOf?(treeId: TreeId, id: BlobId): string
}

export type Deletion =
  | { readonly ok: true }
  /** `driver` drives it now, in words for people. */
  | { readonly ok: false; readonly refusal: 'driven'; readonly driver: string }
  | { readonly ok: false; readonly refusal: 'missing' }

export interface Trees {
  get(treeId: TreeId): MaybePromise<TreeEntry | undefined>
  /** Newest first. `before` is the `createdAt` of the last one seen: it is unique, so paging neither skips nor repeats. */
  list(options?: { readonly limit?: number; readonly before?: number }): MaybePromise<readonly TreeEntry[]>
  /** Who drives a tree now, in words for people; `undefined` where nobody alive does. Asking changes nothing: no owner is replaced. */
  driver(treeId: TreeId): MaybePromise<string | undefined>
  /** The tree with that external key. */
  find(key: string): MaybePromise<TreeEntry | undefined>
  /**
   * Removes a tree with its journal, inbox and blobs, whatever its status; refused while somebody alive drives it. An owner that
   * was taken for dead cannot write to it afterwards. The space may stay with the store until `vacuum`.
   */
  delete(treeId: TreeId): MaybePromise<Deletion>
}

export interface StateSnapshot {
  /** The last event that is folded into it. */
  readonly seq: number
  /** Of the code that made it; only the same version can use it. */
  readonly version: string
  readonly state: string
}

/** Folded states, so that a long journal need not be read from its beginning. A cache: losing one costs time and nothing else. */
export interface Snapshots {
  /** The last one, if it is of that version, is what was stored, and is not ahead of the journal. */
  get(treeId: TreeId, version: string): MaybePromise<StateSnapshot | undefined>
  /** Replaces the one before. */
  put(treeId: TreeId, snapshot: StateSnapshot): MaybePromise<void>
}

export interface Store {
  readonly journal: Journal
  readonly inbox: Inbox
  readonly blobs: Blobs
  readonly trees: Trees
  /** Left out where reading a journal costs nothing. */
  readonly snapshots?: Snapshots
  /** Gives the space of deleted trees back to the file system, and finishes deletions that a crash cut off. */
  vacuum(): MaybePromise<void>
  close(): Promise<void>
}
