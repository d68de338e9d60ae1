import { fileURLToPath } from 'node:url'
import { type RunOrigin, type SessionService, TroupeError } from '../contracts/index.ts'
import { dataDirOf, leftOutAgents, packageFile, packageVersion } from '../project/index.ts'
import { randomIds, systemClock } from '../runtime/index.ts'
import { schemaValidator } from '../tools/index.ts'
import { allRoutes, type RouteDependencies, reservedNames } from './all-routes.ts'
import { ServerHealth } from './health/server-health.ts'
import { StoreHealth } from './health/store-health.ts'
import { hiddenFolders } from './hidden-folders.ts'
import { auditLog, budgetOfTokens, type HeadendServer, headendServer, localToken, randomToken, storedTokens } from './http/index.ts'
import { KernelServer } from './kernel-server.ts'
import type { Served } from './open-served.ts'
import type { HotReload } from './reload/hot-reload.ts'
import { projectReload } from './reload/project-reload.ts'
import type { CommonOptions, LocalToken, ServerLog } from './server-options.ts'
import { type ServerSettings, serverSettings } from './server-settings.ts'
import { Continuations } from './sessions/continuations.ts'
import { OwnSessions } from './sessions/own-sessions.ts'
import { openTelemetry, type Telemetry } from './telemetry/index.ts'
import { hookBudgets, unservedHooks } from './webhooks/index.ts'

/** What a server consists of. Nothing is reachable yet, and no session continues. */
export interface ServerParts {
  readonly served: Served
  readonly settings: ServerSettings
  readonly basePath: string
  readonly log: ServerLog
  readonly http: HeadendServer
  readonly dependencies: RouteDependencies
  readonly own: OwnSessions
  /** As clients use them. */
  readonly sessions: SessionService
  readonly token: LocalToken
  readonly health: ServerHealth
  readonly storeHealth: StoreHealth
  readonly telemetry: Telemetry
  readonly reload: HotReload | undefined
  /** Where others reach the server. */
  readonly reached: KernelServer
  /** The runtime goes on without what the server has added. */
  leaveRuntime(): void
  /** How commands name the data folder. */
  readonly dataDir: string | undefined
}

interface PartOptions extends CommonOptions {
  readonly log: ServerLog
}

export async function serverParts(served: Served, options: PartOptions): Promise<ServerParts> {
  const { runtime, store, project } = served
  const settings = serverSettings({ ...project?.headends, ...options.settings })
  const version = await packageVersion()
  let http: HeadendServer | undefined
  const telemetry = await openTelemetry({
    settings: project?.telemetry ?? {},
    version,
    places: () => http?.places,
    deliveries: () => served.webhooks?.counts ?? {},
  })
  const budgetOfHooks = hookBudgets(project?.webhooks.incoming)
  const joined = runtime.hostedBy({
    approver: { decide: ({ isLive }) => (isLive ? 'wait' : 'suspend') },
    budgetOf: async (owner) => budgetOfHooks(owner) ?? budgetOfTokens(store.records)(owner),
    observer: telemetry.observer,
  })
  try {
    if (joined.store !== store) throw otherStore()
    const parts = await openParts(served, options, { settings, version, telemetry, origin: joined.origin })
    http = parts.http
    return { ...parts, settings, telemetry, leaveRuntime: joined.leave }
  } catch (error) {
    joined.leave()
    await telemetry.close()
    throw error
  }
}

interface Joined extends Pick<ServerParts, 'settings' | 'telemetry'> {
  readonly version: string
  readonly origin: RunOrigin | undefined
}

type OpenedParts = Omit<ServerParts, 'settings' | 'telemetry' | 'leaveRuntime'>

async function openParts(served: Served, options: PartOptions, { settings, version, telemetry, origin }: Joined): Promise<OpenedParts> {
  const { runtime, store, project, kernel, folder } = served
  const { log, basePath = '', demo, models } = options
  const clock = systemClock
  const health = healthOf(served)
  const [agents, status] = [changes(), changes()]
  const storeHealth = new StoreHealth({
    ...{ store, folder, clock, log },
    changed(problems) {
      status.publish()
      const news = problems.length > 0 ? `Nothing can be stored. ${problems.join(' ')}` : 'The store works again.'
      kernel?.announce(news).catch((error: unknown) => log.failure(error))
      // Turns that could not be stored have stopped.
      if (problems.length === 0) own.resumeAgain().catch((error: unknown) => log.failure(error))
    },
  })
  const hidden = hiddenFolders({ project, folder, origin })
  const reached = new KernelServer(hidden)
  health.storeProblems = () => storeHealth.problems
  const dependencies: RouteDependencies = {
    ...{ version, clock, ids: randomIds, records: store.records, usages: store.usages, validator: schemaValidator(), basePath },
    incoming: project?.webhooks.incoming ?? [],
    ...(origin && { workspace: origin.workspace }),
    async problems() {
      await storeHealth.check()
      return health.problems
    },
    warnings: () => health.warnings,
    metrics: () => telemetry.metrics(),
    extensions: () => kernel?.status() ?? [],
    audit: auditLog(store.records, { clock, ids: randomIds }),
    webFolder: fileURLToPath(packageFile('dist/web')),
    legacyTransports: settings.legacyTransports,
    ...(settings.maxBodyBytes !== undefined && { maxBodyBytes: settings.maxBodyBytes }),
    onAgentsChange: agents.subscribe,
    onChange: status.subscribe,
    ...(demo && { demo }),
    ...(models && project && { models }),
    ...(kernel && { answerChannel: (request) => kernel.answer(request) }),
    onError: (error) => log.failure(error),
  }
  const routes = allRoutes(dependencies)
  const reserved = reservedNames(routes)
  served.check(reserved)
  const token = folder === undefined ? { token: randomToken() } : await localToken(folder)
  const dataDir = project && dataDirOf(project.folder, project.report.setup.environment)
  const continuations = new Continuations({
    ...{ store, origin, agents: () => runtime.sessions.agents() },
    place: project && { here: project.workspace, folder: project.folder, dataDir },
  })
  if (project) for (const each of [continuations, models]) each?.use(project)
  const own = new OwnSessions({
    ...{ runtime, store, clock, continuations, note: log.note, report: log.warn },
    workspace: origin?.workspace,
  })
  const sessions = kernel ? kernel.sessions(own.sessions()) : own.sessions()
  const http = headendServer({
    ...{ sessions, routes, basePath, records: store.records, clock, ids: randomIds },
    ...{ names: settings.names, places: settings.places, streams: settings.streams },
    tokens: storedTokens(store.records, { clock, localToken: token.token }),
    unavailable: () => storeHealth.problems[0],
    ...(settings.maxBodyBytes !== undefined && { maxBodyBytes: settings.maxBodyBytes }),
    hiddenFolders: hidden,
    log(entry) {
      telemetry.request(entry)
      log.access(entry)
    },
    onError: (error, requestId) => log.failure(error, requestId),
  })
  const reload =
    project && options.reloads !== false
      ? projectReload({
          ...{ project, runtime, health, log, clock, extend: served.extend, reloaded: status.publish },
          check: (changed) => served.check(reserved, changed),
          applied(changed) {
            continuations.use(changed)
            models?.use(changed)
            agents.publish()
          },
        })
      : undefined
  try {
    await kernel?.attach(sessions, { onChange: () => reload?.applyAgain(), onStatus: status.publish }, reached)
    await reload?.start()
  } catch (error) {
    await reload?.close()
    throw error
  }
  demo?.attach(async () => reload?.applyNow())
  models?.attach({ apply: async () => reload?.applyNow(), changed: status.publish })
  return { served, basePath, log, http, dependencies, own, sessions, token, health, storeHealth, reload, reached, dataDir }
}

function healthOf({ project, kernel, runtime, webhooks }: Served): ServerHealth {
  const health = new ServerHealth()
  if (project) health.leftOut = leftOutAgents(project)
  if (kernel) health.kernelProblems = () => kernel.problems
  health.webhookProblems = () => [...unservedHooks(project?.webhooks.incoming, runtime.sessions), ...(webhooks?.problems ?? [])]
  return health
}

const otherStore = (): TroupeError =>
  new TroupeError('config_invalid', 'The store is not that of the runtime.', {
    remedy: 'Pass the same store to createAgentRuntime and createServer.',
  })

function changes() {
  const listeners = new Set<() => void>()
  return {
    subscribe(listener: () => void): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    publish(): void {
      for (const listener of listeners) listener()
    },
  }
}
