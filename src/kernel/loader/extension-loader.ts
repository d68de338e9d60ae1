// 1. An extension is initialized after everything that it needs, and stopped before it.
// 2. A failure stops the extension and those that need it, directly or indirectly, and nobody else.
// 3. Every call of an extension has a deadline.
// 4. Extensions inside the kernel run one after the other, so that the supervisor knows the suspect. Sandboxed ones load together.
import type { ExtensionProblem, MaybePromise } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { agentDescriptor } from '../shared/answer-shapes.ts'
import { extensionError, problemsOf } from '../shared/extension-failure.ts'
import type { ExtensionManifest, FoundExtension, LoadedExtension, OpenExtension, OpenedExtension } from '../shared/kernel-types.ts'
import { connectExtension } from './connect-extension.ts'
import { ExtensionCalls } from './extension-calls.ts'
import { createExtensionContext, type KernelPorts } from './extension-context.ts'
import { checkOfferedTools, offerTool } from './extension-tools.ts'
import { permitRemedy, untrustedProblem, withheldOf, withheldProblem, workPermissions } from './extension-trust.ts'
import { isUnreadable } from './find-extensions.ts'
import { orderExtensions } from './load-order.ts'
import { detectCapabilities, ManagedExtension } from './managed-extension.ts'
import { openInKernel } from './open-in-kernel.ts'

const healthMs = 30_000
/** For the first load of an untrusted extension: admission checks types and runs a trial, each with a deadline of its own. */
const admissionMs = 120_000
/** One that takes longer does not hold up the next one. */
const slowMs = 1_000
/** Waits before the restarts of a process that ended. */
const restartDelaysMs = [1_000, 5_000, 25_000] as const
/** A process that lived this long has all its restarts again. */
const stableMs = 600_000
const maxProblems = 20

export interface LoaderOptions {
  readonly found: readonly FoundExtension[]
  readonly ports: KernelPorts
  /** Runs untrusted extensions in sandboxed processes. Without it they are not loaded. */
  readonly openUntrusted?: OpenExtension
  /** Default: imports the code into this process. */
  readonly openTrusted?: OpenExtension
  /** Default: `enabled` of the manifest. */
  isDisabled?(found: FoundExtension): boolean
  /** Why it is quarantined. */
  quarantineOf?(found: FoundExtension): string | undefined
  /** A failure, a warning, or a change of its health or its tools. */
  onChange?(extension: LoadedExtension, problems: readonly ExtensionProblem[]): void
  /** Ids of those that need trust because there is no sandbox. */
  onUntrusted?(ids: readonly string[]): void
}

type WithManifest = FoundExtension & { readonly manifest: ExtensionManifest }

export class ExtensionLoader {
  readonly #options: LoaderOptions
  readonly #calls: ExtensionCalls
  readonly #all: ReadonlyMap<string, ManagedExtension>
  #order: readonly ManagedExtension[] = []
  #isStarted = false
  #isStopping = false
  #cancelHealth = (): void => {}

  constructor(options: LoaderOptions) {
    this.#options = options
    this.#calls = new ExtensionCalls(options.ports)
    this.#all = new Map(options.found.map((found) => [found.id, new ManagedExtension(found)]))
  }

  /** By id. Live objects. */
  list(): readonly LoadedExtension[] {
    return [...this.#all.values()]
  }

  get(id: string): LoadedExtension | undefined {
    return this.#all.get(id)
  }

  /** Work for the orchestrator, which can read and do more than the extension. @throws if a person must permit it, and reports it once. */
  checkPermitted(id: string, asked: string): void {
    const each = this.#all.get(id)
    if (!each || each.found.permitted) return
    this.#withhold(each, asked)
    throw extensionError(each.found.folder, `${id}: permissions are missing: ${asked}`, permitRemedy(id))
  }

  /** Imports, initializes, and collects the tools. Never rejects: see `problems`. */
  async load(): Promise<void> {
    const wanted = [...this.#all.values()].filter((each) => this.#admit(each))
    const untrusted = this.list().flatMap(({ found: { id }, state }) => (state === 'untrusted' ? [id] : []))
    if (untrusted.length > 0) this.#options.onUntrusted?.(untrusted)
    const { order, problems } = orderExtensions(
      wanted.map(({ id, found }) => ({
        id,
        dependsOn: found.manifest?.dependsOn ?? [],
        usesTools: found.manifest?.agent?.usesTools ?? [],
      })),
      [...this.#all.keys()],
    )
    for (const [id, found] of problems) await this.#fail(this.#entry(id), found)
    this.#order = order.map((id) => this.#entry(id))
    const inKernel = this.#order.filter(({ found }) => found.trusted)
    this.#options.ports.supervisor.loading(inKernel.filter(({ found }) => found.manifest?.entrypoint).map(({ found }) => found))
    await this.#inOrder(this.#order, (each) => this.#load(each))
  }

  /** Starts what was loaded, connects channels, services and schedulers, and begins to watch the health. */
  async start(): Promise<void> {
    this.#isStarted = true
    await this.#inOrder(this.#order, async (each) => {
      if (each.phase === 'loaded') await this.#attempt(each, 'start', () => this.#start(each))
    })
    this.#watchHealth()
  }

  /** In reverse order. Never rejects. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#cancelHealth()
    await this.#inOrder(this.#order.toReversed(), (each) => this.#close(each))
  }

  /** Each after the earlier ones that it needs or that need it. Inside the kernel one after the other: a crash has one suspect. */
  async #inOrder(order: readonly ManagedExtension[], work: (each: ManagedExtension) => Promise<void>): Promise<void> {
    const { clock } = this.#options.ports
    const done = new Map<string, Promise<void>>()
    let previous: Promise<unknown> | undefined
    for (const each of order) {
      const related = order.slice(0, done.size).filter((other) => each.needs.includes(other.id) || other.needs.includes(each.id))
      const before = [...related.map(({ id }) => done.get(id)), each.found.trusted ? previous : undefined]
      const slow = Promise.withResolvers<void>()
      const working = Promise.all(before).then(async () => {
        const cancel = clock.after(slowMs, slow.resolve)
        await work(each).finally(cancel)
      })
      if (each.found.trusted) previous = Promise.race([working, slow.promise])
      done.set(each.id, working)
    }
    await Promise.all(done.values())
  }

  #entry(id: string): ManagedExtension {
    const found = this.#all.get(id)
    if (!found) throw new Error(`there is no extension ${id}`)
    return found
  }

  /** Whether it may be loaded. */
  #admit(each: ManagedExtension): boolean {
    const { found } = each
    const quarantine = this.#options.quarantineOf?.(found)
    const refuse = (state: LoadedExtension['state'], message?: string, remedy?: string): false => {
      each.state = state
      if (message !== undefined) this.#report(each, [{ place: found.folder, message, ...(remedy !== undefined && { remedy }) }])
      return false
    }
    if (this.#options.isDisabled?.(found) ?? found.manifest?.enabled === false) return refuse('disabled')
    if (quarantine !== undefined)
      return refuse('quarantined', quarantine, `Fix it, or load it again with: troupe extensions enable ${found.id}`)
    if (!found.manifest || isUnreadable(found)) {
      this.#options.onChange?.(each, found.problems)
      return refuse('failed')
    }
    if (found.problems.length > 0) this.#options.onChange?.(each, found.problems)
    if (found.trusted || this.#options.openUntrusted) return true
    each.problems = [...each.problems, untrustedProblem(found)]
    return refuse('untrusted')
  }

  #load(each: ManagedExtension): Promise<void> {
    return this.#attempt(each, 'load', async () => {
      this.#checkNeeds(each)
      await this.#open(each)
    })
  }

  /** A failure fails the extension, and those that need it. */
  async #attempt(each: ManagedExtension, stage: string, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      await this.#fail(each, problemsOf(each.found, stage, error))
    }
  }

  #checkNeeds(each: ManagedExtension): void {
    for (const id of each.needs) {
      const needed = this.#entry(id)
      if (needed.state !== 'running') throw needsFailed(each, needed)
    }
    const usesTools = each.found.manifest?.agent?.usesTools ?? []
    const empty = usesTools.find((id) => this.#entry(id).tools.length === 0 && !this.#entry(id).capabilities.has('agent'))
    if (empty === undefined) return
    const others = this.#order.flatMap(({ id, tools }) => (tools.length > 0 ? [id] : []))
    const remedy = others.length === 0 ? 'No extension provides tools.' : `Extensions with tools: ${others.join(', ')}.`
    throw extensionError(each.found.folder, `\`uses_tools\` names \`${empty}\`, which provides no tools`, remedy)
  }

  async #open(each: ManagedExtension): Promise<void> {
    const { ports, openUntrusted, openTrusted = openInKernel(ports.supervisor) } = this.#options
    const found = each.found as WithManifest
    const { manifest } = found
    const open = found.trusted ? openTrusted : (openUntrusted ?? openTrusted)
    const opened: OpenedExtension = manifest.entrypoint
      ? await this.#calls.within('load', () => open(found), found.trusted ? undefined : admissionMs)
      : { runs: found.trusted ? ('kernel' as const) : ('sandbox' as const), instance: {}, close: async () => {} }
    if (!this.#isWanted(each)) {
      await opened.close()
      throw stopped
    }
    each.opened = opened
    const { instance } = opened
    const { capabilities, missing } = detectCapabilities(instance, manifest)
    each.capabilities = capabilities
    if (missing.length > 0)
      this.#report(
        each,
        missing.map((message) => ({ place: found.folder, message })),
      )
    each.resolvedTools = (manifest.agent?.usesTools ?? []).flatMap((id) => this.#entry(id).tools)
    each.context = createExtensionContext(ports, {
      found,
      runs: opened.runs,
      isChannel: capabilities.has('channel'),
      resolvedTools: each.resolvedTools,
      instanceOf: (id) => this.#entry(id).instance,
      run: (stage, work) => this.#calls.enter(each, stage, work),
      checkPermitted: (asked) => this.checkPermitted(found.id, asked),
      requestRestart: (reason) => this.#requestRestart(each, reason),
    })
    if (capabilities.has('channel') && !found.permitted) this.#withhold(each, workPermissions.messages)
    const { context } = each.context
    await this.#calls.call(each, 'initialize', () => instance.initialize?.(context))
    await this.#readDescriptor(each, manifest)
    if (capabilities.has('tools')) await this.#readTools(each)
    each.phase = 'loaded'
    void opened.ended?.then((reason) => this.#restart(each, opened, reason))
  }

  async #requestRestart(each: ManagedExtension, reason: string): Promise<void> {
    try {
      await this.#options.ports.supervisor.requestRestart(`${each.id}: ${reason}`)
    } catch (error) {
      this.#report(each, problemsOf(each.found, 'its request of a restart', error))
      throw error
    }
  }

  async #readDescriptor(each: ManagedExtension, { agent }: ExtensionManifest): Promise<void> {
    const { instance } = each
    if (!agent || !instance.getAgentDescriptor) return
    const given = await this.#calls.call(each, 'getAgentDescriptor', () => instance.getAgentDescriptor?.())
    each.descriptor = agentDescriptor(given, 'getAgentDescriptor()')
    const mode = each.descriptor.integrationMode
    if (mode === agent.integrationMode) return
    const message = `\`getAgentDescriptor\` says ${mode}, the manifest says ${agent.integrationMode}, which applies`
    this.#report(each, [{ place: each.found.folder, message, remedy: 'Make them equal.' }])
  }

  async #readTools(each: ManagedExtension): Promise<void> {
    const { id, instance } = each
    const { tools, problems } = checkOfferedTools(id, await this.#calls.call(each, 'getTools', () => instance.getTools?.()))
    each.ownTools = tools
    const calls = {
      current: (name: string) => each.ownTools.get(name),
      run: <T>(stage: string, work: () => T) => this.#calls.enter(each, stage, work),
    }
    each.tools = [...tools.values()].map((tool) => offerTool(id, tool, calls))
    if (problems.length > 0) this.#report(each, problems)
  }

  async #start(each: ManagedExtension): Promise<void> {
    this.#checkNeeds(each)
    await this.#calls.call(each, 'start', () => each.instance.start?.())
    if (!this.#isWanted(each)) throw stopped
    each.phase = 'started'
    const { ports } = this.#options
    await connectExtension(each, { ports, calls: this.#calls, report: (problems) => this.#report(each, problems) })
  }

  /** False once it is stopped, or has failed with what it needs, while it was opened. */
  #isWanted({ state }: ManagedExtension): boolean {
    return !this.#isStopping && state === 'running'
  }

  /** A process ended by itself, or could not be started again. */
  async #restart(each: ManagedExtension, opened: OpenedExtension, reason: string): Promise<void> {
    if (!this.#isWanted(each) || each.opened !== opened) return
    const { clock } = this.#options.ports
    each.opened = undefined
    await this.#disconnect(each)
    each.context?.close()
    await this.#calls.within('close', () => opened.close()).catch(() => {})
    const count = clock.monotonic() - each.restarts.at > stableMs ? 0 : each.restarts.count
    const delay = restartDelaysMs[count]
    const problem = { place: each.found.folder, message: `its process ended: ${reason}` }
    if (delay === undefined) {
      const remedy = `Fix it. To check it: troupe extensions validate ${each.id}`
      return this.#fail(each, [{ ...problem, message: `${problem.message}; restarted ${count} times`, remedy }])
    }
    each.health = { healthy: false, message: problem.message }
    this.#report(each, [{ ...problem, message: `${problem.message}; it is started again in ${delay / 1000} s` }])
    // A stop or a failure cancels it.
    each.undo.push(clock.after(delay, () => void this.#reopen(each, count + 1)))
  }

  async #reopen(each: ManagedExtension, count: number): Promise<void> {
    each.undo.length = 0
    each.restarts = { count, at: this.#options.ports.clock.monotonic() }
    try {
      await this.#open(each)
      if (this.#isStarted) await this.#start(each)
      each.health = undefined
      this.#options.onChange?.(each, [])
    } catch (error) {
      const opened = each.opened ?? { runs: 'sandbox', instance: {}, close: async () => {} }
      each.opened = opened
      await this.#restart(each, opened, messageOf(error))
    }
  }

  async #fail(each: ManagedExtension, problems: readonly ExtensionProblem[]): Promise<void> {
    if (each.state !== 'running') return
    each.state = 'failed'
    each.failure = problems[0]
    this.#report(each, problems)
    const dependents = this.#order.filter((other) => other.needs.includes(each.id))
    for (const other of dependents.toReversed()) await this.#fail(other, problemsOf(other.found, 'load', needsFailed(other, each)))
    await this.#close(each)
  }

  /** Ends everything of it, whatever it has reached. */
  async #close(each: ManagedExtension): Promise<void> {
    const { opened, instance } = each
    const wasStarted = each.phase === 'started'
    await this.#disconnect(each)
    each.tools = []
    each.capabilities = new Set()
    if (!opened) return
    if (wasStarted) await this.#quietly(each, 'stop', () => instance.stop?.())
    await this.#quietly(each, 'destroy', () => instance.destroy?.())
    each.context?.close()
    await this.#quietly(each, 'close', () => opened.close())
    each.opened = undefined
  }

  /** Nothing calls it any more. */
  async #disconnect(each: ManagedExtension): Promise<void> {
    each.phase = 'idle'
    for (const undo of each.undo.splice(0).toReversed()) await this.#quietly(each, 'stop', () => undo() as MaybePromise<void>)
  }

  #watchHealth(): void {
    const { clock } = this.#options.ports
    this.#cancelHealth = clock.after(healthMs, () => {
      void Promise.all(this.#order.map((each) => this.#checkHealth(each))).then(() => {
        if (!this.#isStopping) this.#watchHealth()
      })
    })
  }

  async #checkHealth(each: ManagedExtension): Promise<void> {
    if (each.phase !== 'started' || !each.instance.healthCheck) return
    const before = each.health?.healthy ?? true
    const health = await this.#calls
      .call(each, 'healthCheck', () => each.instance.healthCheck?.())
      .catch((error: unknown) => ({
        healthy: false,
        message: messageOf(error),
      }))
    if (each.phase !== 'started') return
    each.health = health ?? { healthy: true }
    if (each.health.healthy === before) return
    const message = `it is not healthy: ${each.health.message ?? 'no reason given'}`
    this.#options.onChange?.(each, before ? [{ place: each.found.folder, message }] : [])
  }

  #withhold(each: ManagedExtension, asked: string): void {
    const isTold = withheldOf(each.id, each.problems).some(({ message }) => message.includes(asked))
    if (!isTold) this.#report(each, [withheldProblem(each.id, each.found.folder, [asked])])
  }

  #report(each: ManagedExtension, problems: readonly ExtensionProblem[]): void {
    each.problems = [...each.problems, ...problems].slice(-maxProblems)
    this.#options.onChange?.(each, problems)
  }

  /** For the end of an extension, which goes on after a failure. */
  async #quietly(each: ManagedExtension, stage: string, work: () => MaybePromise<void>): Promise<void> {
    try {
      await this.#calls.call(each, stage, work)
    } catch (error) {
      this.#report(each, problemsOf(each.found, stage, error))
    }
  }
}

const stopped = new Error('it is stopped')

function needsFailed({ found }: ManagedExtension, needed: ManagedExtension): Error {
  const { id, state, failure = needed.problems[0] } = needed
  const why = state === 'failed' ? `failed${failure ? `: ${failure.message}` : ''}` : `is ${state}`
  const remedies: Partial<Record<LoadedExtension['state'], string>> = {
    disabled: `To enable it: troupe extensions enable ${id}`,
    untrusted: `To trust it: troupe extensions trust ${id}`,
  }
  const remedy = remedies[state] ?? `Fix \`${id}\` first.`
  return extensionError(found.folder, `it needs \`${id}\`, which ${why}`, remedy)
}
