import type { Lane } from '../../contracts/index.ts'

/** Lanes of calls that have to run before later ones: asks in constant time whether a lane conflicts with any of them. */
export class LaneSet {
  readonly #keys = new Set<string>()
  #hasAny = false
  #hasExclusive = false

  add(lane: Lane): void {
    this.#hasAny = true
    if (lane.kind === 'exclusive') this.#hasExclusive = true
    else if (lane.kind === 'key') this.#keys.add(lane.key)
  }

  conflictsWith(lane: Lane): boolean {
    if (this.#hasExclusive) return true
    return lane.kind === 'exclusive' ? this.#hasAny : lane.kind === 'key' && this.#keys.has(lane.key)
  }
}
