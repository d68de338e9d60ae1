import type { TreeEntry } from '../../../contracts/index.ts'

/** Which of the ended sessions to keep. */
export interface Retention {
  /** Minimum time since the last event before a session is deleted. */
  readonly olderMs: number
  /** Number of the newest sessions to keep, however old they are. */
  readonly keep: number
}

/** Running and suspended sessions are never deleted and do not use up `keep`. */
export const hasEnded = ({ status }: Pick<TreeEntry, 'status'>): boolean => status !== 'running' && status !== 'suspended'

/** `entries`: the newest first. Pure. */
export function prunable(entries: readonly TreeEntry[], { olderMs, keep }: Retention, now: number): readonly TreeEntry[] {
  return entries
    .filter(hasEnded)
    .slice(keep)
    .filter(({ updatedAt }) => updatedAt < now - olderMs)
}
