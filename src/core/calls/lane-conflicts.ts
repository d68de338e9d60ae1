import type { Lane } from '../../contracts/index.ts'

/** Whether two calls must not overlap. Recovery uses the same rule to tell which calls cannot have begun. */
export function laneConflict(a: Lane, b: Lane): boolean {
  if (a.kind === 'client' || b.kind === 'client') return false
  if (a.kind === 'exclusive' || b.kind === 'exclusive') return true
  return a.kind === 'key' && b.kind === 'key' && a.key === b.key
}

/** Lanes of earlier calls. Tells in constant time whether a lane conflicts with any of them. */
export class LaneSet {
  /** Created when needed: most calls share their lane. */
  #keys: Set<string> | undefined
  #hasAny = false
  #hasExclusive = false

  add(lane: Lane): void {
    if (lane.kind === 'client') return
    this.#hasAny = true
    if (lane.kind === 'exclusive') this.#hasExclusive = true
    else if (lane.kind === 'key') this.#keys = (this.#keys ?? new Set()).add(lane.key)
  }

  conflictsWith(lane: Lane): boolean {
    if (lane.kind === 'client') return false
    if (this.#hasExclusive) return true
    return lane.kind === 'exclusive' ? this.#hasAny : lane.kind === 'key' && (this.#keys?.has(lane.key) ?? false)
  }
}
