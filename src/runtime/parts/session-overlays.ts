import type { TreeId } from '../../contracts/index.ts'
import { haveSameJson } from '../../util/json-values.ts'
import { type Redactor, redactor } from '../../util/redact.ts'

export interface Variables {
  readonly [name: string]: string
}

/** The variables of a tree, and the redactor for the secrets among them. */
export interface TreeOverlay {
  readonly overlay: Variables
  readonly redactor: Redactor
}

/** Idle trees whose variables are kept for their next turn. */
const maxIdle = 1000

/**
 * The variables of each tree: those of the runtime, overridden by those of the call that started it.
 *
 * 1. They are kept in memory only.
 * 2. Those of an active tree are never dropped.
 * 3. A tree without variables of its own uses those of the runtime and costs nothing here.
 */
export class TreeOverlays {
  #shared: TreeOverlay
  /** The keys that the models of the runtime use, and those that they used before. */
  #keys: readonly Variables[]
  readonly #active = new Map<TreeId, TreeOverlay>()
  readonly #idle = new Map<TreeId, TreeOverlay>()

  constructor(overlay: Variables, keys: Variables) {
    this.#shared = { overlay, redactor: redactor(overlay, keys) }
    this.#keys = [keys]
  }

  /** The variables of the runtime with those of a call. Replaced values stay secret. */
  over(given: Variables | undefined): TreeOverlay {
    if (given === undefined) return this.#shared
    const { overlay } = this.#shared
    return { overlay: Object.freeze({ ...overlay, ...given }), redactor: redactor(given, overlay, ...this.#keys) }
  }

  /** For sessions that start from now on and have no variables of their own. Replaced values stay secret. */
  replaceShared(overlay: Variables, keys: Variables): void {
    const { overlay: before } = this.#shared
    if (!this.#keys.some((known) => haveSameJson(known, keys))) this.#keys = [...this.#keys, keys]
    this.#shared = { overlay, redactor: redactor(overlay, before, ...this.#keys) }
  }

  /** Those of the runtime. */
  get shared(): TreeOverlay {
    return this.#shared
  }

  of(treeId: TreeId): TreeOverlay {
    return this.#active.get(treeId) ?? this.#idle.get(treeId) ?? this.#shared
  }

  set(treeId: TreeId, own: TreeOverlay): void {
    if (own === this.#shared) return
    this.#idle.delete(treeId)
    this.#active.set(treeId, own)
  }

  resume(treeId: TreeId): void {
    const own = this.#idle.get(treeId)
    if (!own) return
    this.#idle.delete(treeId)
    this.#active.set(treeId, own)
  }

  setIdle(treeId: TreeId): void {
    const own = this.#active.get(treeId)
    if (!own) return
    this.#active.delete(treeId)
    this.#idle.set(treeId, own)
    if (this.#idle.size > maxIdle) this.#idle.delete(this.#idle.keys().next().value as TreeId)
  }

  forget(treeId: TreeId): void {
    this.#active.delete(treeId)
    this.#idle.delete(treeId)
  }
}
