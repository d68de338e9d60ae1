import type { AgentChanges } from './agent.ts'
import type { ApprovalDecision } from './approvals.ts'
import type { InputMode, InteractionEvent, TraceContext } from './events.ts'
import type { ApprovalId, BlobId, ClientId, DriverId, TreeId } from './ids.ts'
import type { Json, MaybePromise } from './json.ts'
import type { InputPart } from './messages.ts'
import type { OutcomeStatus } from './outcome.ts'
import type { TurnRecord, TurnRecords } from './turn-records.ts'
import type { Cost } from './usage.ts'

/** What lists show of a tree. Written together with the events that change it. */
export interface TreeSummary {
  readonly agent: string
  readonly title: string
  readonly status: OutcomeStatus | 'running'
  /** Requests that wait for a person, over all sessions of the tree. */
  readonly openRequests: number
}
const statuses: { readonly [Status in TreeSummary['status']]: true } = {
  running: true,
  suspended: true,
  completed: true,
  partial: true,
  failed: true,
  interrupted: true,
}
/** For filters. */
export const sessionStatuses = Object.keys(statuses) as readonly TreeSummary['status'][]

/** Set by the first append of a tree. Only `trees.update` changes the labels. */
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
  /** The cost of the turns that have ended here, children included. Absent without one, and for a tree that is not indexed. */
  readonly cost?: Cost
  /** In a search: the newest text of the tree that matches. */
  readonly match?: SearchMatch
}

/** A piece of a text around the first word that matches. */
export interface SearchMatch {
  readonly kind: 'message' | 'answer'
  /** When its turn ended, in milliseconds since 1970. */
  readonly at: number
  readonly snippet: string
  /** Where the words that match are in the snippet: start and end of each. */
  readonly ranges: readonly (readonly [number, number])[]
}

export type Claim =
  /** `seq` is the last one in the journal, 0 for a new tree. */
  | { readonly ok: true; readonly epoch: number; readonly seq: number }
  /** A living process drives this tree. */
  | { readonly ok: false; readonly driver: string }

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
  /** Added to the usage of an owner in the same commit, once for each batch. */
  readonly charge?: UsageCharge
  /** The turns that end in this batch, for search and usage. Stored in the same commit. */
  readonly turns?: readonly TurnRecord[]
  /** Documents that are stored in the same commit, once for each batch. */
  readonly records?: readonly NamespacedRecord[]
}
/** A document with its namespace. */
export interface NamespacedRecord extends StoredRecord {
  readonly namespace: string
}
/** What an owner has used in a period. */
export interface OwnerUsage {
  readonly tokens: number
  readonly costUsd: number
}
export interface UsageCharge extends OwnerUsage {
  readonly owner: string
  /** `2026-11-17`. */
  readonly period: string
}
export type Append =
  | { readonly ok: true }
  /** `epoch`: another driver took over. `seq`: the journal has other events there. `missing`: never claimed. `key`: another tree has that key. */
  | { readonly ok: false; readonly refusal: 'epoch' | 'seq' | 'missing' | 'key' }

/** How much one read returns. */
export interface ReadLimits {
  readonly events?: number
  /** Approximate size as JSON. The batch that reaches it is the last one, and complete: at least one is read. */
  readonly bytes?: number
}

/**
 * The durable events of every tree.
 *
 * 1. A batch is stored completely or not at all. It is durable when `append` resolves.
 * 2. A wrong `expectedSeq` or an old `epoch` is refused: a second driver cannot write.
 * 3. Repeating an append succeeds if the same events are already stored.
 * 4. Appends to one tree take effect in the order of the calls, awaited or not. Batches may share a commit; a refused batch does not affect others.
 * 5. A storage failure throws `store_failed`; nothing of that batch is stored.
 */
export interface Journal {
  /** Becomes the only driver of a tree. Replaces a dead driver; older epochs are refused from then on. */
  claim(treeId: TreeId, driver: DriverId): MaybePromise<Claim>
  /** Ends this epoch, so that another process can claim the tree immediately. */
  release(treeId: TreeId, epoch: number): MaybePromise<void>
  append(batch: AppendBatch): MaybePromise<Append>
  /**
   * Events with `seq > after`, in order; at most `limit` (a number of events, or limits). Does not read rows beyond `limit`.
   *
   * @throws JournalDamagedError for the first event that is missing or damaged; read those before it with `limit`.
   */
  read(treeId: TreeId, after: number, limit?: number | ReadLimits): MaybePromise<readonly InteractionEvent[]>
  /** Calls `wake` after appends to this tree by any process. Extra calls are possible. */
  watch(treeId: TreeId, wake: () => void): () => void
}

export type InboxMessage =
  /** `to`: the session id or the agent path of the root or a descendant. Default: the one that talks to the person. */
  | {
      readonly kind: 'input'
      readonly parts: readonly InputPart[]
      readonly mode: InputMode
      readonly to?: string
      /** It ends an open handoff instead of being read. Without one, it is a message. */
      readonly endsHandoff?: true
      /** Settings from the next turn on. */
      readonly changes?: AgentChanges
      readonly traceContext?: TraceContext
    }
  | {
      readonly kind: 'approval'
      readonly approvalId: ApprovalId
      readonly decision: ApprovalDecision
      readonly by: string
      /** For the next step. */
      readonly message?: { readonly clientId: ClientId; readonly parts: readonly InputPart[] }
      /** From the next step on. */
      readonly changes?: Pick<AgentChanges, 'clientTools' | 'toolChoice'>
    }
  | { readonly kind: 'revoke'; readonly keys: readonly string[]; readonly by: string }
  | { readonly kind: 'cancel'; readonly mode: 'stop' | 'interrupt'; readonly by: string }
  | { readonly kind: 'send_held'; readonly by: string }

export interface InboxRow {
  /** Grows within a tree; the driver's cursor. */
  readonly position: number
  readonly clientId: ClientId
  readonly message: InboxMessage
}

export type AddedMessage =
  | { readonly position: number; readonly repeated: false }
  /** `message`: the one that is stored under this id. */
  | { readonly position: number; readonly repeated: true; readonly message: InboxMessage }

/** Messages from outside that are not yet in the journal. Any process may add, even before the tree has events. */
export interface Inbox {
  /** A repeated client id is stored once; returns the first row. */
  add(treeId: TreeId, clientId: ClientId, message: InboxMessage): MaybePromise<AddedMessage>
  read(treeId: TreeId, after: number): MaybePromise<readonly InboxRow[]>
  watch(treeId: TreeId, wake: () => void): () => void
}

/**
 * Texts and bytes that are too large for the journal. Durable when `put` or `putBytes` resolves. The same content has the same id in
 * every tree: the events of a copied tree refer to its own blobs.
 */
export interface Blobs {
  put(treeId: TreeId, text: string): MaybePromise<BlobId>
  /** A text. `undefined` if the id is unknown or belongs to bytes. */
  get(treeId: TreeId, id: BlobId): MaybePromise<string | undefined>
  /** Stores a copy. `mediaType` is a type and a subtype without parameters, in lower case: `image/png`. */
  putBytes(treeId: TreeId, bytes: Uint8Array, mediaType: string): MaybePromise<BlobId>
  /** Bytes with their media type. `undefined` if the id is unknown or belongs to a text. */
  getBytes(treeId: TreeId, id: BlobId): MaybePromise<StoredBytes | undefined>
  /** The file of a blob, for display, if the store uses files. */
  pathOf?(treeId: TreeId, id: BlobId): string
}

export interface StoredBytes {
  readonly mediaType: string
  readonly bytes: Uint8Array
}

export type Deletion =
  | { readonly ok: true }
  /** `driver`: the process that drives it now, for display. */
  | { readonly ok: false; readonly refusal: 'driven'; readonly driver: string }
  | { readonly ok: false; readonly refusal: 'missing' }

/** Which trees a list contains. Every given field must match. */
export interface TreeFilter {
  readonly owner?: string
  readonly agent?: string
  readonly status?: TreeSummary['status'] | readonly TreeSummary['status'][]
  /** The tree has all of these. */
  readonly labels?: readonly string[]
  readonly workspace?: string
  /** A part of the title, in any case. */
  readonly text?: string
  /**
   * Words of messages and answers. Each must be in the same text, in any case, with or without accents, and may be the beginning of
   * a word there. Words that signs join, such as `foo-bar`, must be there in a row, the first 64 of them; the signs only separate:
   * `100%` and `C++` are words. Terms without a letter or digit, such as `%`, emoji, and scripts without spaces between words must be
   * there as they are. At most `maxSearchChars`.
   */
  readonly search?: string
  /** Whether a request waits for a person. */
  readonly hasOpenRequests?: boolean
  /** US dollars. A tree whose cost is unknown or absent does not match. */
  readonly minCostUsd?: number
  readonly maxCostUsd?: number
  /** Milliseconds since 1970. Trees that existed before `until` and have changed since `since`. */
  readonly since?: number
  readonly until?: number
  readonly limit?: number
  /** The `createdAt` of the last entry of the page before. It is unique. */
  readonly before?: number
}

/** Maximum length of `TreeFilter.search`. */
export const maxSearchChars = 10_000

/** A change of the list of trees. `undefined`: a tree was deleted. */
export interface TreeChange {
  readonly treeId: TreeId
  readonly entry: TreeEntry | undefined
}

export interface Trees {
  get(treeId: TreeId): MaybePromise<TreeEntry | undefined>
  /** Newest first. */
  list(filter?: TreeFilter): MaybePromise<readonly TreeEntry[]>
  /** A title that was set here stays. `undefined` if there is no such tree. */
  update(treeId: TreeId, changes: { readonly title?: string; readonly labels?: readonly string[] }): MaybePromise<TreeEntry | undefined>
  /** Calls `changed` after an entry was added, changed or deleted by any process. Several changes of one tree may come as one, and one may come again. */
  watch(changed: (change: TreeChange) => void): () => void
  /** The process that drives a tree now, for display; `undefined` if none does. Replaces no driver. */
  driver(treeId: TreeId): MaybePromise<string | undefined>
  /** Trees of a workspace, or of none, that a process has claimed and not released before it ended. */
  abandoned(workspace: string | undefined): MaybePromise<readonly TreeEntry[]>
  /** The tree with that external key. */
  find(key: string): MaybePromise<TreeEntry | undefined>
  /**
   * Removes a tree with its journal, inbox and blobs. Refused while a living process drives it. A driver that was taken for
   * dead cannot write to it afterwards. `vacuum` frees the space.
   */
  delete(treeId: TreeId): MaybePromise<Deletion>
}

/** A small document of another part of the product: a token, a grant, a schedule. */
export interface StoredRecord {
  readonly key: string
  /** When something is to happen with it, in milliseconds since 1970. */
  readonly due?: number
  readonly value: Json
}

/** Small documents by namespace and key. Durable when a call resolves. Keys are not empty, without NUL and lone surrogates. */
export interface Records {
  get(namespace: string, key: string): MaybePromise<StoredRecord | undefined>
  /** In the order of the keys, by code points. `after`: the last key of the page before. `dueBefore`: only those with an earlier `due`. */
  list(
    namespace: string,
    options?: { readonly prefix?: string; readonly after?: string; readonly dueBefore?: number; readonly limit?: number },
  ): MaybePromise<readonly StoredRecord[]>
  /**
   * Reads and writes in one transaction. `change` is pure and may be called again; `undefined` removes the record. Returns what is
   * stored afterwards.
   */
  update(
    namespace: string,
    key: string,
    change: (before: StoredRecord | undefined) => Omit<StoredRecord, 'key'> | undefined,
  ): MaybePromise<StoredRecord | undefined>
}

/** What owners have used, by period. Written by `journal.append`. */
export interface OwnerUsages {
  get(owner: string, period: string): MaybePromise<OwnerUsage>
}

export interface StateSnapshot {
  /** The last event in it. */
  readonly seq: number
  /** The version of the code that wrote it; only the same version can read it. */
  readonly version: string
  readonly state: string
}

/** A cache of folded states, so that a long journal is not read from its beginning. */
interface Snapshots {
  /** The last one, if it has that version, is undamaged, and is not ahead of the journal. */
  get(treeId: TreeId, version: string): MaybePromise<StateSnapshot | undefined>
  /** Replaces the one before. */
  put(treeId: TreeId, snapshot: StateSnapshot): MaybePromise<void>
}

export interface Store {
  readonly journal: Journal
  readonly inbox: Inbox
  readonly blobs: Blobs
  readonly trees: Trees
  readonly records: Records
  readonly usages: OwnerUsages
  readonly turns: TurnRecords
  /** Absent if reading a journal costs nothing. */
  readonly snapshots?: Snapshots
  /**
   * What keeps the store from working, in sentences. `writes`: tries to write, too. Otherwise it only looks: whether its files are in
   * their places, and whether writes wait. Absent if the store cannot fail.
   */
  check?(options?: { readonly writes?: boolean }): Promise<readonly string[]>
  /** Frees the space of deleted trees, and completes deletions that a crash interrupted. */
  vacuum(): MaybePromise<void>
  close(): Promise<void>
}
