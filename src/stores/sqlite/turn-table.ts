import type { DatabaseSync } from 'node:sqlite'
import type { TreeId, TurnRecord } from '../../contracts/index.ts'
import { encodeText } from '../shared/encoding.ts'
import { searchedText } from '../shared/search-words.ts'
import { usageRows, whole } from '../shared/turn-usage.ts'

export interface RecordedTree {
  readonly key: number
  readonly treeId: TreeId
}

const insertUsage = `
  INSERT INTO turn_usage (tree, owner, agent, is_child, status, ended_at, work_ms, place, model, requests, failed,
    input, output, cache_read, cache_write, reasoning, estimated, cost, unpriced, latency_ms)
  SELECT id, principal, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19 FROM trees WHERE key = ?1`

/** The texts and the usage of ended turns, and the cost of their tree. */
export function turnTable(database: DatabaseSync) {
  const sql = {
    usage: database.prepare(insertUsage),
    text: database.prepare('INSERT INTO search_texts (tree, kind, at, text) VALUES (?, ?, ?, ?)'),
    charge: database.prepare('UPDATE trees SET cost = coalesce(cost, 0) + ?, unpriced = unpriced + ? WHERE key = ?'),
    removeUsage: database.prepare('DELETE FROM turn_usage WHERE tree = ?'),
    removeTexts: database.prepare('DELETE FROM search_texts WHERE tree = ?'),
    reset: database.prepare('UPDATE trees SET indexed = head, cost = NULL, unpriced = 0 WHERE key = ?'),
    unindexed: database.prepare('SELECT count(*) AS trees FROM trees WHERE created_at IS NOT NULL AND indexed IS NOT head'),
    unindexedOf: database.prepare(
      'SELECT count(*) AS trees FROM trees WHERE principal = ? AND created_at IS NOT NULL AND indexed IS NOT head',
    ),
  }

  function addTurn(key: number, turn: TurnRecord): void {
    const { agent, isChild, status, at, workMs } = turn
    for (const { kind, text } of turn.texts) sql.text.run(key, kind, at, searchedText(text))
    const rows = usageRows(turn)
    for (const [place, { model, requests, failed, usage, nanos, unpriced, latencyMs }] of rows.entries()) {
      const { input, output, cacheRead, cacheWrite, reasoning, estimated = false } = usage
      const tokens = [input, output, cacheRead, cacheWrite, reasoning, Number(estimated)] as const
      const end = [Number(isChild), status, at, whole(workMs)] as const
      sql.usage.run(key, encodeText(agent), ...end, place, encodeText(model), requests, failed, ...tokens, nanos, unpriced, latencyMs)
      sql.charge.run(nanos, unpriced, key)
    }
  }

  return {
    add(key: number, turns: readonly TurnRecord[]): void {
      for (const turn of turns) addTurn(key, turn)
    },
    replace({ key, treeId }: RecordedTree, turns: readonly TurnRecord[]): void {
      sql.removeUsage.run(encodeText(treeId))
      sql.removeTexts.run(key)
      sql.reset.run(key)
      for (const turn of turns) addTurn(key, turn)
    },
    unindexed: (owner: string | undefined): number =>
      Number((owner === undefined ? sql.unindexed.get() : sql.unindexedOf.get(encodeText(owner)))?.trees),
  }
}
