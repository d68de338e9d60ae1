import type { Clock, MaybePromise } from '../../contracts/index.ts'
import { keepAlive } from '../../util/keep-alive.ts'
import type { SupervisorPort } from '../kernel-types.ts'
import type { ManagedExtension } from './managed-extension.ts'

interface CallOptions {
  readonly clock: Clock
  readonly supervisor: Pick<SupervisorPort, 'enter'>
  readonly deadlineMs: number
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

  async within<Result>(stage: string, work: () => MaybePromise<Result>, deadlineMs = this.#options.deadlineMs): Promise<Result> {
    const { clock } = this.#options
    const release = keepAlive()
    const late = Promise.withResolvers<never>()
    const cancel = clock.after(deadlineMs, () => late.reject(new Error(`\`${stage}\` took longer than ${deadlineMs / 1000} s`)))
    try {
      return await Promise.race([work(), late.promise])
    } finally {
      cancel()
      release()
    }
  }
}
