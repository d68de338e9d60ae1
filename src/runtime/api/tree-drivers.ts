import type { TreeId } from '../../contracts/index.ts'
import type { StopCause } from '../journal/outcome.ts'
import type { TreeDriver } from '../tree/tree-driver.ts'

interface TreeDriversOptions {
  /** The tree is not driven here any more. */
  setIdle(treeId: TreeId): void
  /** Resumes the tree of a settled driver if a message came too late for it. Resolves with whether it is driven again. */
  resumeIfUnread(driver: TreeDriver): Promise<boolean>
}

/** The trees that this runtime drives: each has at most one driver, from before it is started or resumed until it is settled. */
export class TreeDrivers {
  readonly #options: TreeDriversOptions
  readonly #drivers = new Map<TreeId, Promise<TreeDriver>>()
  /** By settled driver: whether its tree is driven here again. Computed once. */
  readonly #continuations = new WeakMap<TreeDriver, Promise<boolean>>()
  /** Why the last driver of a tree could store nothing more. */
  readonly #failures = new Map<TreeId, StopCause>()
  /** Trees whose driver has settled, while unread messages are checked. */
  readonly #releasing = new Map<TreeId, Promise<boolean>>()

  constructor(options: TreeDriversOptions) {
    this.#options = options
  }

  /** Whether the tree has a driver, or is about to. */
  has(treeId: TreeId): boolean {
    return this.#drivers.has(treeId)
  }

  /** One that may still be starting. */
  get(treeId: TreeId): Promise<TreeDriver> | undefined {
    return this.#drivers.get(treeId)
  }

  all(): readonly Promise<TreeDriver>[] {
    return [...this.#drivers.values()]
  }

  /** Waits for one that is starting, or about to continue. `undefined`: the tree is not driven here. */
  async find(treeId: TreeId): Promise<TreeDriver | undefined> {
    const between = this.#releasing.get(treeId)
    if (between) await between
    return this.#drivers.get(treeId)?.catch(() => undefined)
  }

  /** Resolves when those of this moment have settled. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.all().map((starting) => starting.then((driver) => driver.settled)))
  }

  add(treeId: TreeId, starting: Promise<TreeDriver>): Promise<TreeDriver> {
    this.#drivers.set(treeId, starting)
    this.#failures.delete(treeId)
    void this.#follow(treeId, starting)
    return starting
  }

  failureOf(treeId: TreeId): StopCause | undefined {
    return this.#failures.get(treeId)
  }

  /** After a driver has settled: whether a message came too late for it, and another driver has resumed the tree. */
  continuesAfter(driver: TreeDriver): Promise<boolean> {
    const continuation = this.#continuations.get(driver) ?? driver.settled.then(({ stopped }) => this.#release(driver, stopped))
    this.#continuations.set(driver, continuation)
    return continuation
  }

  async #follow(treeId: TreeId, starting: Promise<TreeDriver>): Promise<void> {
    const driver = await starting.catch(() => undefined)
    if (driver) {
      await this.continuesAfter(driver)
      return
    }
    this.#drivers.delete(treeId)
    this.#options.setIdle(treeId)
  }

  #release(driver: TreeDriver, stopped: StopCause | undefined): Promise<boolean> {
    const { treeId } = driver
    if (stopped?.reason === 'store') this.#failures.set(treeId, stopped)
    this.#drivers.delete(treeId)
    this.#options.setIdle(treeId)
    const continuation = this.#options.resumeIfUnread(driver)
    this.#releasing.set(treeId, continuation)
    const isDone = (): boolean => this.#releasing.get(treeId) === continuation && this.#releasing.delete(treeId)
    return continuation.finally(isDone)
  }
}
