import type { TreeId } from '../../contracts/index.ts'
import { type Redactor, redactor } from '../../util/redact.ts'

export interface Variables {
  readonly [name: string]: string
}

/** What holds for the sessions of a tree: its variables, and whatever hides the secrets among them. */
export interface TreeOverlay {
  readonly overlay: Variables
  readonly redactor: Redactor
}

/** Trees at rest whose variables are still held, for their next turn. */
const maxIdle = 1000

/**
 * The variables of each tree: those of the runtime, and over them what the call that started it gave.
 *
 * 1. They are in memory alone: no value of them is written anywhere.
 * 2. Those of a tree that is at work are never let go.
 * 3. A tree that was given none costs nothing here, and has those of the runtime.
 */
export class TreeOverlays {
  readonly #shared: TreeOverlay
  /** What the models of the runtime are asked with. */
  readonly #keys: Variables
  readonly #active = new Map<TreeId, TreeOverlay>()
  readonly #idle = new Map<TreeId, TreeOverlay>()

  constructor(overlay: Variables, keys: Variables) {
    this.#shared = { overlay, redactor: redactor(overlay, keys) }
    this.#keys = keys
  }

  /** What is said in a call, over what holds for all. What it replaces stays as secret as it was. */
  over(given: Variables | undefined): TreeOverlay {
    if (given === undefined) return this.#shared
    const { overlay } = this.#shared
    return { overlay: Object.freeze({ ...overlay, ...given }), redactor: redactor(given, overlay, this.#keys) }
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
