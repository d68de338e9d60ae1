import type { TreeEntry } from '../../contracts/index.ts'
import { parseDuration } from '../../util/parse-units.ts'

const dayMs = 86_400_000

/** What is kept of the sessions that have ended. */
export interface Retention {
  /** How long after its last event a session may be deleted. */
  readonly olderMs: number
  /** The newest ones are kept, however old they are. */
  readonly keep: number
}

/** `30d`, or as durations are written elsewhere; a bare number means nothing. */
export function parseAge(written: string): number | undefined {
  const [, days] = /^(\d+(?:\.\d+)?)\s?d$/.exec(written.trim()) ?? []
  return days === undefined ? parseDuration(written) : Number(days) * dayMs
}

/** Running and suspended sessions are never deleted, whatever their age; they are not counted among the newest either. */
export const hasEnded = ({ status }: Pick<TreeEntry, 'status'>): boolean => status !== 'running' && status !== 'suspended'

/** Which of these, the newest first, may be deleted. Pure. */
export function prunable(entries: readonly TreeEntry[], { olderMs, keep }: Retention, now: number): readonly TreeEntry[] {
  return entries
    .filter(hasEnded)
    .slice(keep)
    .filter(({ updatedAt }) => updatedAt < now - olderMs)
}
