/*
 * A folder that commands run in, of this process and of others.
 *
 * Whoever takes a mount point away takes the mount away, in every world: so they all stay until no command of ours runs in
 * that folder any more, whoever started it.
 */
import { setTimeout as after } from 'node:timers/promises'
import { makeMountPoint, removeMountPoints } from './mount-points.ts'
import { Neighbours } from './neighbours.ts'

/** For those who are leaving: a second. One who takes longer has come to a halt. */
const mostWaits = 1_000

const known = new Map<string, SharedFolder>()

/** There is one of each in a process. */
export function sharedFolder(folder: string): SharedFolder {
  const shared = known.get(folder) ?? new SharedFolder(folder)
  known.set(folder, shared)
  return shared
}

export interface FirstLook {
  /** Which repositories, and which folders with modules, there were. */
  readonly identities: ReadonlySet<string>
  /** Folders that say where a work tree has its files, and its settings. */
  readonly workTrees: readonly string[]
}

export class SharedFolder {
  readonly #neighbours: Neighbours
  /** Made or shared by us, and not taken away yet. */
  readonly #points = new Set<string>()
  #first: FirstLook | undefined
  #commands = 0
  #turn: Promise<void> = Promise.resolve()

  constructor(folder: string) {
    this.#neighbours = new Neighbours(folder)
  }

  /** To be called before anything is looked at: what somebody is about to take away must not be shared. */
  enter(): Promise<void> {
    if (this.#commands++ === 0) this.#turn = this.#turn.then(() => this.#come())
    return this.#turn
  }

  /** Which folder it is; none where we may not write. Commands may not write there either. */
  hold(path: string): string | undefined {
    const identity = makeMountPoint(path)
    if (identity !== undefined) this.#points.add(path)
    return identity
  }

  /** What was there when this process looked for the first time: all else came to be since, by commands most likely. */
  atFirst(look: () => FirstLook): FirstLook {
    this.#first ??= look()
    return this.#first
  }

  /** Since when commands have been running there without a pause, in milliseconds; never where it was not entered. */
  busySince(): number {
    return this.#neighbours.busySince()
  }

  /** Once for each time that it was entered. */
  leave(): Promise<void> {
    if (--this.#commands === 0) this.#turn = this.#turn.then(() => this.#go())
    return this.#turn
  }

  async #come(): Promise<void> {
    this.#neighbours.come()
    for (let waits = 0; waits < mostWaits && this.#neighbours.areAny('leaving'); waits++) {
      await after(1)
    }
  }

  async #go(): Promise<void> {
    this.#neighbours.leave()
    if (!this.#neighbours.areAny('busy')) {
      await removeMountPoints([...this.#points])
      this.#points.clear()
    }
    this.#neighbours.gone()
  }
}
