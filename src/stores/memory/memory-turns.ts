import {
  addSpent,
  type Cost,
  noUsage,
  type SearchMatch,
  type TreeId,
  type TurnRecord,
  type TurnRecords,
  type UsageGrouping,
  type UsageQuery,
  type UsageTotals,
} from '../../contracts/index.ts'
import { utcDay } from '../../util/utc-day.ts'
import type { TextMatcher } from '../shared/search-match.ts'
import { searchedText } from '../shared/search-words.ts'
import { type UsageRow, usageRows, whole } from '../shared/turn-usage.ts'
import { p95Index, usageReport } from '../shared/usage-report.ts'
import type { MemoryTree, MemoryTrees } from './memory-trees.ts'

export interface MemoryTurns extends TurnRecords {
  add(tree: MemoryTree, turns: readonly TurnRecord[]): void
}

interface EndedTurn extends Pick<TurnRecord, 'agent' | 'isChild' | 'status' | 'at'> {
  readonly treeId: TreeId
  readonly owner: string | undefined
  readonly workMs: number
  readonly rows: readonly UsageRow[]
}

/** Usage outlives its tree, so its number is limited. */
const keepTurns = 10_000

const newest = (turns: readonly EndedTurn[]): EndedTurn[] => turns.slice(-keepTurns)

/** The newest 10,000 records of turns. Texts are a part of their tree. */
export function memoryTurns(trees: MemoryTrees): MemoryTurns {
  let turns: EndedTurn[] = []

  function add(tree: MemoryTree, records: readonly TurnRecord[]): void {
    const ended = records.map((record) => endedTurn(tree, record))
    for (const { at, texts } of records) tree.texts.push(...texts.map(({ kind, text }) => ({ kind, at, text: searchedText(text) })))
    for (const { nanos, unpriced } of ended.flatMap(({ rows }) => rows)) {
      const before = tree.cost ?? { nanos: 0, unpriced: 0 }
      tree.cost = { nanos: before.nanos + nanos, unpriced: before.unpriced + unpriced }
    }
    for (const turn of ended) if (turn.rows.length > 0) turns.push(turn)
    // Seldom: it copies them all.
    if (turns.length >= 2 * keepTurns) turns = newest(turns)
  }

  return {
    add,
    usage(query) {
      trees.checkOpen()
      return reportOf(query, newest(turns))
    },
    unindexed() {
      trees.checkOpen()
      return 0
    },
    replace(treeId, seq, records) {
      const tree = trees.find(treeId)
      if (tree === undefined || tree.events.length === 0 || tree.events.length !== seq) return false
      turns = turns.filter((turn) => turn.treeId !== treeId)
      tree.texts.length = 0
      tree.cost = undefined
      add(tree, records)
      trees.reportChange(tree)
      return true
    },
    rebuildIndex: () => trees.checkOpen(),
  }
}

function endedTurn(tree: MemoryTree, record: TurnRecord): EndedTurn {
  const { agent, isChild, status, at, workMs } = record
  return { treeId: tree.treeId, owner: tree.identity.owner, agent, isChild, status, at, workMs: whole(workMs), rows: usageRows(record) }
}

/** The newest text that contains every term. */
export function newestMatch({ texts }: MemoryTree, matcher: TextMatcher): SearchMatch | undefined {
  const newest = texts.findLast(({ text }) => matcher.matches(text))
  return newest && { kind: newest.kind, at: newest.at, ...matcher.snippetOf(newest.text) }
}

interface TurnRow {
  readonly turn: EndedTurn
  readonly row: UsageRow
  readonly isFirst: boolean
}

interface Grouping {
  keyOf(row: TurnRow): string
  /** Which rows are turns of a group. The sums are over all rows. */
  isCounted(row: TurnRow): boolean
  msOf(row: TurnRow): number
}

const roots = { isCounted: ({ turn, isFirst }: TurnRow) => isFirst && !turn.isChild, msOf: ({ turn }: TurnRow) => turn.workMs }

const groupings: { readonly [By in UsageGrouping | 'total']: Grouping } = {
  total: { ...roots, keyOf: () => '' },
  agent: { ...roots, isCounted: ({ isFirst }) => isFirst, keyOf: ({ turn }) => turn.agent },
  model: { isCounted: () => true, msOf: ({ row }) => row.latencyMs, keyOf: ({ row }) => row.model },
  day: { ...roots, keyOf: ({ turn }) => utcDay(turn.at) },
  person: { ...roots, keyOf: ({ turn }) => turn.owner ?? '' },
}

function reportOf(
  { by, since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY, owner }: UsageQuery,
  turns: readonly EndedTurn[],
) {
  const rows = turns
    .filter((turn) => turn.at >= since && turn.at < until && (owner === undefined || turn.owner === owner))
    .flatMap((turn) => turn.rows.map((row, place): TurnRow => ({ turn, row, isFirst: place === 0 })))
  const groups = Map.groupBy(rows, groupings[by].keyOf)
  return usageReport(
    by,
    [...groups].map(([key, group]) => ({ key, ...totalsOf(group, groupings[by]) })),
    totalsOf(rows, groupings.total),
  )
}

function totalsOf(rows: readonly TurnRow[], { isCounted, msOf }: Grouping): UsageTotals {
  const counted = rows.filter(isCounted)
  const times = counted.map(msOf).sort((one, other) => one - other)
  const sum = (amountOf: (row: UsageRow) => number): number => rows.reduce((total, { row }) => total + amountOf(row), 0)
  return {
    turns: counted.length,
    failedTurns: counted.filter(({ turn }) => turn.status === 'failed').length,
    requests: sum(({ requests }) => requests),
    failedRequests: sum(({ failed }) => failed),
    usage: rows.reduce((spent, { row }) => addSpent(spent, row.usage, 0), { usage: noUsage, cost: 0 as Cost }).usage,
    costUsd: sum(({ nanos }) => nanos) / 1e9,
    unpriced: sum(({ unpriced }) => unpriced),
    workMs: times.reduce((total, ms) => total + ms, 0),
    p95Ms: times[p95Index(times.length)] ?? 0,
  }
}
