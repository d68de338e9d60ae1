import type { AgentLoopConfig } from '../options/agent-config.ts'
import type { AgentRuntime, RuntimeOptions } from '../options/agent-runtime.ts'
import { isSkillFolders, withFoundSkills } from '../parts/config-skills.ts'
import { closeAll, RuntimeParts } from '../parts/runtime-parts.ts'
import { checkOptions } from '../validation/check-options.ts'

interface UpdatingRuntime {
  isClosed(): boolean
  /** @throws TroupeError `runtime_closed`. */
  refuseWhenClosed(): void
  /** Resolves when the turns of this moment have ended. */
  untilSettled(): Promise<void>
}

/**
 * The parts of the newest configuration.
 *
 * 1. Updates take effect one after the other: the last call wins. One that fails changes nothing.
 * 2. The folders with skills of the first configuration are searched before the first session.
 */
export class NewestParts {
  #options: RuntimeOptions
  readonly #catalogue: RuntimeParts['catalogue']
  readonly #runtime: UpdatingRuntime
  /** While the folders with skills of the first configuration are searched. */
  #preparing: Promise<void> | undefined
  #isPrepared: boolean
  /** The last update, which the next one waits for. */
  #updating: Promise<unknown> = Promise.resolve()

  constructor(options: RuntimeOptions, runtime: UpdatingRuntime) {
    this.#options = options
    this.#runtime = runtime
    this.#catalogue = new RuntimeParts(options).catalogue
    this.#isPrepared = !isSkillFolders(options.config.skills)
  }

  get parts(): RuntimeParts {
    return this.#catalogue.newest
  }

  get isPrepared(): boolean {
    return this.#isPrepared
  }

  /** `undefined` if nothing has to be searched before a session. A search that failed may succeed the next time. */
  prepare(): Promise<void> | undefined {
    if (this.#isPrepared) return undefined
    this.#preparing ??= this.#findSkills().finally(() => {
      this.#preparing = undefined
    })
    return this.#preparing
  }

  update(config: AgentLoopConfig, changes: Parameters<AgentRuntime['update']>[1]): Promise<void> {
    const updated = this.#updating.then(() => this.#update({ ...this.#options, ...changes, config }))
    this.#updating = updated.catch(() => {})
    return updated
  }

  async #findSkills(): Promise<void> {
    const { config, notices } = await withFoundSkills(this.#options.config)
    new RuntimeParts({ ...this.#options, config }, this.parts, notices).adopt()
    this.#isPrepared = true
  }

  async #update(options: RuntimeOptions): Promise<void> {
    const { config } = options
    this.#runtime.refuseWhenClosed()
    checkOptions(options)
    const found = isSkillFolders(config.skills) ? await withFoundSkills(config) : { config, notices: [] }
    await this.#preparing?.catch(() => {})
    const { parts: before } = this
    const parts = new RuntimeParts({ ...options, config: found.config }, before, found.notices)
    await parts.registry()
    const without = (all: RuntimeParts, others: RuntimeParts) => all.closeable.filter((each) => !others.closeable.includes(each))
    if (this.#runtime.isClosed()) await closeAll(without(parts, before))
    this.#runtime.refuseWhenClosed()
    parts.adopt()
    this.#options = options
    this.#isPrepared = true
    const removed = without(before, parts)
    // Turns that have begun still use them.
    if (removed.length > 0) void this.#runtime.untilSettled().then(() => closeAll(removed))
  }
}
