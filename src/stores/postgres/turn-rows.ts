import type { TurnRecord } from '../../contracts/index.ts'
import { encodeText } from '../shared/encoding.ts'
import { searchedText, wordsOf } from '../shared/search-words.ts'
import { type UsageRow, usageRows, whole } from '../shared/turn-usage.ts'

// Rows of ended turns, as `append-statement.ts` stores them.

/** The cost of the turns; absent without any that was paid for here. */
export function costOf(turns: readonly TurnRecord[]): { readonly cost?: number; readonly unpriced: number } {
  const rows = turns.flatMap(usageRows)
  const sum = (amountOf: (row: UsageRow) => number): number => rows.reduce((total, row) => total + amountOf(row), 0)
  return { ...(rows.length > 0 && { cost: sum(({ nanos }) => nanos) }), unpriced: sum(({ unpriced }) => unpriced) }
}

export function usageOf(turn: TurnRecord): readonly object[] {
  const { agent, isChild, status, at, workMs } = turn
  const end = { agent: encodeText(agent), is_child: isChild, status, ended_at: at, work_ms: whole(workMs) }
  return usageRows(turn).map(({ model, requests, failed, usage, nanos, unpriced, latencyMs }, place) => {
    const { input, output, cacheRead, cacheWrite, reasoning, estimated = false } = usage
    const tokens = { input, output, cache_read: cacheRead, cache_write: cacheWrite, reasoning, estimated }
    return { ...end, place, model: encodeText(model), requests, failed, ...tokens, cost: nanos, unpriced, latency_ms: latencyMs }
  })
}

/** The index takes 2,046 bytes of a word: a longer one is found by its beginning. */
export const maxIndexedWord = 500
export const indexedWord = (word: string): string => word.slice(0, maxIndexedWord).toWellFormed()

export const indexWords = (text: string): readonly string[] => [...new Set(wordsOf(text).map(({ word }) => indexedWord(word)))]

export function textsOf({ at, texts }: TurnRecord): readonly object[] {
  return texts.map(({ kind, text }) => {
    const searched = searchedText(text)
    return { kind, at, text: searched, words: indexWords(searched) }
  })
}
