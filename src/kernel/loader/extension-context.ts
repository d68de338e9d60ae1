import { existsSync, mkdirSync, realpathSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import {
  type AnyExtension,
  type Clock,
  type ExtensionAdmin,
  type ExtensionContext,
  type ExtensionLogger,
  type JsonObject,
  type Recipient,
  type ResolvedTool,
  type Schedules,
  type TerminalPort,
  type Tool,
  TroupeError,
} from '../../contracts/index.ts'
import { isInside } from '../../util/is-inside.ts'
import { isKernelEvent } from '../bus/event-names.ts'
import { callingExtension, correlationOf, currentCall, insideCall, outsideOfCall } from '../calls/current-call.ts'
import type { ExtensionRoutes } from '../routes/extension-routes.ts'
import type { AgentPort, Bus, ExtensionManifest, FoundExtension, Router, Scheduler, SupervisorPort } from '../shared/kernel-types.ts'
import { withBuiltinRules } from './builtin-rules.ts'
import { permitRemedy, workPermissions } from './extension-trust.ts'

/** What contexts of extensions are made of. */
export interface KernelPorts {
  readonly clock: Clock
  readonly bus: Bus
  readonly router: Pick<Router, 'register' | 'receive' | 'notify' | 'task' | 'conversationsOf'>
  /** The person of the call that runs now, if it is one of a conversation. */
  currentPerson(): Recipient | undefined
  readonly agents: AgentPort
  readonly supervisor: SupervisorPort
  readonly scheduler: Scheduler
  readonly extensions: ExtensionAdmin
  readonly routes: Pick<ExtensionRoutes, 'of'>
  readonly terminal?: TerminalPort
  /** The folder of the project, absolute. */
  readonly workspace: string
  /** Where extensions have their data folders, absolute. */
  readonly dataFolder: string
  logger(id: string): ExtensionLogger
  /** A value of the environment, or one that `setup` stored. */
  secret(name: string): string | undefined
  /** What `setup` stored. */
  storedConfig(id: string): JsonObject
  builtinTools(names: readonly string[], folder: string): readonly Tool[]
}

interface ContextOptions {
  readonly found: FoundExtension & { readonly manifest: ExtensionManifest }
  readonly runs: 'kernel' | 'sandbox'
  readonly isChannel: boolean
  readonly resolvedTools: readonly Tool[]
  /** An extension in `depends_on`. */
  instanceOf(id: string): AnyExtension
  run<Result>(stage: string, work: () => Result): Result
  /** @throws if a person must permit it, and reports it. */
  checkPermitted(asked: string): void
  /** Rejects if extensions have requested too many, and reports it. */
  requestRestart(reason: string): Promise<void>
}

/** `close` removes the subscriptions. After it, the context refuses everything. */
export interface OpenContext {
  readonly context: ExtensionContext
  /** Its addresses on the server are gone, and what they have begun to answer is answered. */
  closeRoutes(): Promise<void>
  close(): void
}

export function createExtensionContext(
  ports: KernelPorts,
  { found, runs, isChannel, resolvedTools, instanceOf, run, checkPermitted, requestRestart }: ContextOptions,
): OpenContext {
  const { id, folder, manifest } = found
  const { bus, router, agents, supervisor, workspace } = ports
  const dataDir = join(ports.dataFolder, id)
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const subscriptions = subscriptionsOf(bus, { id, run })
  const routes = ports.routes.of({ id, folder, run })
  let isOpen = true
  const check = (allowed: boolean, message: string, remedy: string): void => {
    if (!isOpen) throw new TroupeError('runtime_closed', `the extension \`${id}\` is stopped`)
    if (!allowed) throw new TroupeError('extension_failed', `${id}: ${message}`, { remedy })
  }
  const checkOpen = (): void => check(true, '', '')
  const insideOnly = (what: string): void =>
    check(runs === 'kernel', `${what} is for trusted extensions only`, `To trust it: troupe extensions trust ${id}`)
  const checkDependency = (other: string): void =>
    check(
      manifest.dependsOn.includes(other),
      `\`${other}\` is not in \`depends_on\``,
      `Add it to \`depends_on\`, which is [${manifest.dependsOn.join(', ')}].`,
    )

  const context: ExtensionContext = {
    id,
    config: { ...manifest.config, ...ports.storedConfig(id), ...found.configured?.values },
    logger: ports.logger(id),
    ...{ folder, dataDir, workspace },
    resolvedTools: resolvedTools.map((tool) => inCurrentCall(tool, id)),
    schedules: openSchedules(ports.scheduler.schedulesOf(id, callingExtension), ports, { checkOpen, checkPermitted }),
    ...(runs === 'kernel' && { extensions: ports.extensions, ...(ports.terminal && { terminal: ports.terminal }) }),
    ...(runs === 'kernel' && isChannel && { conversations: router.conversationsOf(id) }),
    get http() {
      return runs === 'kernel' ? routes.http : undefined
    },
    now: () => ports.clock.now(),
    secret(name) {
      check(manifest.secrets.includes(name), `the secret ${name} is not declared`, `Add it to \`secrets\` in the manifest.`)
      insideOnly('a secret')
      const value = ports.secret(name)
      check(value !== undefined, `the secret ${name} is not set`, `Set the variable ${name}, or run: troupe extensions setup ${id}`)
      return value ?? ''
    },
    builtinTools(names, { folder: inside = '.' } = {}) {
      insideOnly('`builtinTools`')
      const path = resolve(workspace, inside)
      check(isInside(workspace, path), `${path} is outside the project`, 'Use a folder of the project.')
      check(!hasLink(workspace, path), `${path} is a link, and may lead anywhere`, 'Use a folder of the project without links.')
      return ports.builtinTools(names, path).map(withBuiltinRules)
    },
    async startAgent(task, options = {}) {
      check(manifest.agent !== undefined, 'it has no agent to start', 'Add an `agent` section to the manifest.')
      return agents.start(id, task, options)
    },
    async invokeAgent(other, task, added) {
      checkDependency(other)
      check(found.permitted, `asking ${other} needs permission`, permitRemedy(id))
      return agents.invoke(other, { caller: id, task, context: added })
    },
    async onUserMessage(message) {
      check(isChannel, 'only channels hand in messages', 'Implement `sendToUser(userId, message)`, so that answers can be delivered.')
      checkPermitted(workPermissions.messages)
      await router.receive(id, message)
    },
    async notifyUser(text, to = ports.currentPerson()) {
      checkOpen()
      await router.notify({ text, speaker: id, ...(to && { to }), correlationId: correlationOf() })
    },
    subscribe(name, handler) {
      checkOpen()
      return subscriptions.add(name, handler)
    },
    async publish(name, data, options) {
      check(!isKernelEvent(name), `\`${name}\` is an event of Troupe, and extensions cannot publish it`, ownEventName(id))
      await bus.publish({ ...options, name, data, source: id, correlationId: correlationOf() })
    },
    getExtension<T>(other: string): T {
      insideOnly('`getExtension`')
      checkDependency(other)
      return instanceOf(other) as T
    },
    async requestRestart(reason) {
      checkOpen()
      await requestRestart(reason)
    },
    async requestShutdown(reason) {
      checkOpen()
      await supervisor.requestShutdown(`${id}: ${reason}`)
    },
  }
  return {
    context,
    closeRoutes: () => routes.close(),
    close() {
      isOpen = false
      void routes.close()
      subscriptions.close()
    },
  }
}

function subscriptionsOf(bus: Pick<Bus, 'subscribe'>, { id, run }: { readonly id: string } & Pick<ContextOptions, 'run'>) {
  const open = new Set<() => void>()
  return {
    add(...[name, handler]: Parameters<ExtensionContext['subscribe']>): () => void {
      const end = bus.subscribe({ id, name, handle: (event) => run(`event ${name}`, () => handler(event)) })
      const unsubscribe = (): void => {
        if (open.delete(unsubscribe)) end()
      }
      open.add(unsubscribe)
      return unsubscribe
    },
    close(): void {
      for (const unsubscribe of [...open]) unsubscribe()
    },
  }
}

const ownEventName = (id: string): string =>
  `Choose a name of your own, such as \`${id}.changed\`. Names of Troupe, such as \`agent_…\`, can be subscribed to.`

/** `by`: the extension whose code calls it. */
const inCurrentCall = (tool: Tool, by: string): ResolvedTool => ({
  ...tool,
  execute(input, context = currentCall()?.context) {
    if (!context) throw outsideOfCall(tool.name)
    return insideCall({ ...currentCall(), context, by }, () => tool.execute(input, context))
  },
})

/** A cloned project can have links in it, such as `extensions` to the extensions of the person. */
const hasLink = (workspace: string, path: string): boolean =>
  existsSync(path) && relative(realpathSync(workspace), realpathSync(path)) !== relative(workspace, path)

const openSchedules = (
  schedules: Schedules,
  ports: Pick<KernelPorts, 'currentPerson'>,
  { checkOpen, checkPermitted }: { checkOpen(): void; checkPermitted(asked: string): void },
): Schedules => ({
  async add(task) {
    checkOpen()
    checkPermitted(workPermissions.tasks)
    const to = task.to ?? ports.currentPerson()
    return schedules.add({ ...task, ...(to && { to }) })
  },
  async list() {
    checkOpen()
    return schedules.list()
  },
  async cancel(id) {
    checkOpen()
    return schedules.cancel(id)
  },
})
