import type { SessionId, TreeId, TurnId } from './ids.ts'
import type { MaybePromise } from './json.ts'
import type { OutcomeStatus } from './outcome.ts'
import type { Usage } from './usage.ts'

/** What a turn leaves for search and usage when it ends. A function of the journal: `reindex` builds the same one again. */
export interface TurnRecord {
  /** The number of the event that ended the turn. */
  readonly seq: number
  /** Milliseconds since 1970. */
  readonly at: number
  readonly sessionId: SessionId
  readonly turnId: TurnId
  readonly agent: string
  /** Whether the session is a child: its turn is a part of a turn of its root. */
  readonly isChild: boolean
  readonly status: Exclude<OutcomeStatus, 'suspended'>
  /** The work of the turn, without the time in which it waited for a person or had no driver. */
  readonly workMs: number
  /** What the person wrote, and the answer. Empty for children that do not talk to the person. */
  readonly texts: readonly TurnText[]
  /** By model, without children: they have records of their own. Absent for a copied turn: the original paid for it. */
  readonly models?: readonly ModelUsage[]
}

export interface TurnText {
  readonly kind: 'message' | 'answer'
  readonly text: string
}

/** What a turn used of one model. */
export interface ModelUsage {
  /** `provider/name`. */
  readonly model: string
  /** Attempts, and those of them that failed. */
  readonly requests: number
  readonly failed: number
  readonly usage: Usage
  /** US dollars, of the requests with a price. */
  readonly costUsd: number
  /** Requests without a price. */
  readonly unpriced: number
  /** Sum of the times from request to end. */
  readonly latencyMs: number
}

export const usageGroupings = ['agent', 'model', 'day', 'person'] as const
export type UsageGrouping = (typeof usageGroupings)[number]

export interface UsageQuery {
  readonly by: UsageGrouping
  /** Turns that ended from `since` on and before `until`, in milliseconds since 1970. */
  readonly since?: number
  readonly until?: number
  readonly owner?: string
}

/** Sums over turns that have ended, deleted sessions included. */
export interface UsageTotals {
  /**
   * By agent: the turns of that agent, as root or child. By model: the turns, of roots and children, that asked it. Otherwise, and in
   * the total: the turns of roots.
   */
  readonly turns: number
  /** Those of them that failed. */
  readonly failedTurns: number
  readonly requests: number
  readonly failedRequests: number
  readonly usage: Usage
  /** US dollars, of the requests with a price. */
  readonly costUsd: number
  /** Requests without a price. */
  readonly unpriced: number
  /** The work of these turns together; by model: of the requests. */
  readonly workMs: number
  /** 95 of 100 of these turns took at most this long; by model: of the requests of a turn. */
  readonly p95Ms: number
}

export interface UsageGroup extends UsageTotals {
  /** The agent, the model (`provider/name`), the day in UTC (`2026-11-18`) or the owner. Empty without one: turns without a request, sessions of nobody. */
  readonly key: string
}

export interface UsageReport {
  readonly by: UsageGrouping
  /** By day: in order of the days. Otherwise the most expensive first, then by tokens and by key. */
  readonly groups: readonly UsageGroup[]
  readonly total: UsageTotals
}

/**
 * Records of ended turns. Written by `journal.append`.
 *
 * 1. Usage outlives its tree; texts are removed with it.
 * 2. A text is cut behind `maxIndexedChars`.
 * 3. A damaged search index never keeps a turn from being stored. A search then throws `index_damaged`.
 */
export interface TurnRecords {
  usage(query: UsageQuery): MaybePromise<UsageReport>
  /** Number of trees, of this owner or all, that a search or a cost does not cover: an older version has stored turns of them. */
  unindexed(owner?: string): MaybePromise<number>
  /** Replaces all records of a tree, which is then indexed. `false` if its last event is not `seq`, or it does not exist: nothing is changed. */
  replace(treeId: TreeId, seq: number, records: readonly TurnRecord[]): MaybePromise<boolean>
  /** Builds the search index again from the texts. */
  rebuildIndex(): MaybePromise<void>
}

/** Maximum length of each text that is searched. */
export const maxIndexedChars = 100_000
