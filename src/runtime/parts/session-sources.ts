import type { Clock, TreeId } from '../../contracts/index.ts'
import { TreeSources, type TreeSourcesOptions } from './tree-sources.ts'

/** How long the sources of an idle tree stay open for its next turn, and for how many trees. */
const idleMs = 5 * 60_000
const maxIdle = 16

interface Idle {
  readonly sources: TreeSources
  cancel(): void
}

/**
 * The opened sources of all trees of a runtime.
 *
 * 1. A tree keeps its sources while it is driven, and for a while after, so that a conversation keeps its connections.
 * 2. `close` closes all of them.
 */
export class SessionSources {
  readonly #clock: Clock
  readonly #active = new Map<TreeId, TreeSources>()
  readonly #idle = new Map<TreeId, Idle>()
  readonly #closing = new Set<Promise<void>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get(treeId: TreeId): TreeSources | undefined {
    return this.#active.get(treeId)
  }

  open(treeId: TreeId, options: () => TreeSourcesOptions): TreeSources {
    const known = this.#active.get(treeId) ?? this.#resume(treeId)
    const sources = known ?? new TreeSources(options())
    this.#active.set(treeId, sources)
    return sources
  }

  #resume(treeId: TreeId): TreeSources | undefined {
    const idle = this.#idle.get(treeId)
    this.#idle.delete(treeId)
    idle?.cancel()
    return idle?.sources
  }

  setIdle(treeId: TreeId): void {
    const sources = this.#active.get(treeId)
    if (!sources) return
    this.#active.delete(treeId)
    sources.recordWith(undefined)
    this.#idle.set(treeId, { sources, cancel: this.#clock.after(idleMs, () => this.forget(treeId)) })
    if (this.#idle.size > maxIdle) this.forget(this.#idle.keys().next().value as TreeId)
  }

  /** Closes the sources of a tree that is not driven. */
  forget(treeId: TreeId): void {
    const sources = this.#resume(treeId) ?? this.#active.get(treeId)
    this.#active.delete(treeId)
    if (!sources) return
    const closing = sources.close().finally(() => this.#closing.delete(closing))
    this.#closing.add(closing)
  }

  async close(): Promise<void> {
    for (const treeId of [...this.#idle.keys(), ...this.#active.keys()]) this.forget(treeId)
    await Promise.allSettled(this.#closing)
  }
}
