import type { Lane } from '../../contracts/index.ts'

/** Whether two calls may not overlap. The lanes keep to it, and a recovery concludes from it what cannot have begun. */
export function laneConflict(a: Lane, b: Lane): boolean {
  if (a.kind === 'exclusive' || b.kind === 'exclusive') return true
  return a.kind === 'key' && b.kind === 'key' && a.key === b.key
}
