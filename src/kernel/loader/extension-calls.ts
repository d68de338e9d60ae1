import type { Clock, MaybePromise } from '../../contracts/index.ts'
import { keepAlive } from '../../util/keep-alive.ts'
import { withinTime } from '../shared/background-work.ts'
import type { SupervisorPort } from '../shared/kernel-types.ts'
import type { ManagedExtension } from './managed-extension.ts'

const callMs = 10_000

interface CallOptions {
  readonly clock: Clock
  readonly supervisor: Pick<SupervisorPort, 'enter'>
}

/** How code of extensions is called. */
export class ExtensionCalls {
  readonly #options: CallOptions

  constructor(options: CallOptions) {
    this.#options = options
  }

  /** Without a deadline. The supervisor knows whose code runs inside the kernel. */
  enter<Result>(each: ManagedExtension, stage: string, work: () => Result): Result {
    return each.opened?.runs === 'sandbox' ? work() : this.#options.supervisor.enter(each.id, stage, work)
  }

  call<Result>(each: ManagedExtension, stage: string, work: () => MaybePromise<Result>): Promise<Result> {
    return this.within(stage, () => this.enter(each, stage, work))
  }

  async within<Result>(stage: string, work: () => MaybePromise<Result>, ms = callMs): Promise<Result> {
    const release = keepAlive()
    const late = new Error(`\`${stage}\` took longer than ${ms / 1000} s`)
    return withinTime(work, { clock: this.#options.clock, ms, late }).finally(release)
  }
}
