import { oneLine } from '../../../util/one-line.ts'
import { fitLine } from './tool-output.ts'

const mostLines = 100_000
const mostWanted = 60
const mostPlaces = 200
const mostCompared = 20_000
const longestCompared = 200
const leastLikeness = 0.5

/**
 * The place with the most equal lines; without any, the line most similar to the longest wanted one. Counted from 1.
 * `differsInSpace`: only whitespace differs.
 */
export function nearestLines(
  lines: readonly string[],
  wanted: readonly string[],
): { readonly line: number; readonly differsInSpace: boolean } | undefined {
  const sought = wanted.slice(0, mostWanted).map(oneLine)
  const voted = byVotes(lines, sought)
  if (voted !== undefined) {
    const differsInSpace = sought.every((line, index) => oneLine(lines[voted + index] ?? '\0') === line)
    return { line: voted + 1, differsInSpace }
  }
  const alike = byLikeness(lines, sought)
  return alike === undefined ? undefined : { line: alike + 1, differsInSpace: false }
}

/** Lines with their numbers, as read_file shows them. */
export function numbered(lines: readonly string[], from: number, count: number): readonly string[] {
  return lines
    .slice(from - 1, from - 1 + count)
    .map((line, index) => `${String(from + index).padStart(6)}\t${fitLine(line.replace(/\r?\n?$/, ''))}`)
}

function byVotes(lines: readonly string[], sought: readonly string[]): number | undefined {
  const wantedAt = new Map<string, number[]>()
  for (const [index, line] of sought.entries()) {
    // Lines with only brackets are too common.
    if (/[\p{L}\p{N}]/u.test(line)) wantedAt.set(line, [...(wantedAt.get(line) ?? []), index])
  }
  const votes = new Map<number, number>()
  const seen = new Map<string, number>()
  for (let at = 0; at < Math.min(lines.length, mostLines); at++) {
    const line = oneLine(lines[at] ?? '')
    const indexes = wantedAt.get(line)
    if (indexes === undefined) continue
    const times = (seen.get(line) ?? 0) + 1
    seen.set(line, times)
    if (times > mostPlaces) continue
    for (const index of indexes) votes.set(at - index, (votes.get(at - index) ?? 0) + 1)
  }
  let best: number | undefined
  for (const [start, count] of votes) if (start >= 0 && count > (best === undefined ? 0 : (votes.get(best) ?? 0))) best = start
  return best
}

function byLikeness(lines: readonly string[], sought: readonly string[]): number | undefined {
  const longest = sought.reduce((best, line, index) => (line.length > (sought[best]?.length ?? 0) ? index : best), 0)
  const wanted = pairsOf(sought[longest] ?? '')
  if (wanted.size === 0) return undefined
  let best: { readonly at: number; readonly likeness: number } | undefined
  for (let at = 0; at < Math.min(lines.length, mostCompared); at++) {
    const likeness = alike(wanted, pairsOf(oneLine((lines[at] ?? '').slice(0, longestCompared))))
    if (likeness >= leastLikeness && likeness > (best?.likeness ?? 0)) best = { at, likeness }
  }
  return best && Math.max(0, best.at - longest)
}

function pairsOf(line: string): ReadonlySet<string> {
  const pairs = new Set<string>()
  for (let index = 0; index + 1 < Math.min(line.length, longestCompared); index++) pairs.add(line.slice(index, index + 2))
  return pairs
}

/** Similarity of two lines by shared pairs of characters. */
function alike(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  if (other.size === 0) return 0
  let shared = 0
  for (const pair of other) if (one.has(pair)) shared++
  return (2 * shared) / (one.size + other.size)
}
