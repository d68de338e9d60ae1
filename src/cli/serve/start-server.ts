import { homedir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { type SessionService, type Store, TroupeError } from '../../contracts/index.ts'
import { conversationSessions, type ProjectKernel } from '../../kernel/index.ts'
import { checkServedNames, dataDirOf, type Project, packageFile } from '../../project/index.ts'
import { type AgentRuntime, randomIds, systemClock } from '../../runtime/index.ts'
import { auditLog, type HeadendServer, headendServer, type Listening, listen, storedTokens } from '../../server/http/index.ts'
import { mcpUpgrade } from '../../server/mcp/index.ts'
import type { Demonstration } from '../../server/rest/index.ts'
import { schemaValidator } from '../../tools/index.ts'
import type { Host } from '../host/process-host.ts'
import type { ServeInvocation } from '../options/serve-invocations.ts'
import { Continuations } from './continuations.ts'
import { type LocalToken, localToken } from './local-token.ts'
import { OwnSessions } from './own-sessions.ts'
import type { ServeLog } from './serve-log.ts'
import { type RouteDependencies, reservedNames, serveRoutes } from './serve-routes.ts'
import { serveRuntime } from './serve-runtime.ts'
import type { ServeSettings } from './serve-settings.ts'
import { openTelemetry } from './serve-telemetry.ts'
import type { ServerHealth } from './server-health.ts'
import { StoreHealth } from './store-health.ts'

interface ServerOptions {
  readonly project: Project
  /** Of the command line: sessions of `troupe run` need the same. */
  readonly flags: Pick<ServeInvocation, 'configFile' | 'allow' | 'deny'>
  readonly settings: ServeSettings
  readonly store: Store
  readonly version: string
  readonly health: ServerHealth
  readonly host: Host
  readonly log: ServeLog
  /** If it runs. */
  readonly kernel?: Pick<ProjectKernel, 'status'> | undefined
  readonly demo?: Demonstration | undefined
}

/** A runtime with everything that protocols need; not reachable yet. */
export interface PreparedServer {
  readonly runtime: AgentRuntime
  readonly own: OwnSessions
  /** As clients use them. */
  readonly sessions: SessionService
  readonly dependencies: RouteDependencies
  readonly server: HeadendServer
  readonly local: LocalToken
  /** Refuses agents that cannot be served here, before a project is applied. */
  check(project: Project): void
  /** After a change was applied: tells clients of MCP that agents have changed. */
  applied(project: Project): void
  /** Tells pages that agents, extensions or warnings have changed. */
  statusChanged(): void
  /** After the runtime is closed. */
  close(): Promise<void>
}

/** Connects runtime, routes, access and telemetry. Throws before anything is started if an agent has the name of a route. */
export async function prepareServer({
  project,
  flags,
  settings,
  store,
  version,
  health,
  host,
  log,
  kernel,
  demo,
}: ServerOptions): Promise<PreparedServer> {
  const clock = systemClock
  const [agents, status] = [changes(), changes()]
  const admission = (): HeadendServer['admission'] => server.admission
  const telemetry = await openTelemetry({ settings: project.telemetry, version, admission })
  const dependencies: RouteDependencies = {
    version,
    clock,
    ids: randomIds,
    records: store.records,
    usages: store.usages,
    validator: schemaValidator(),
    workspace: project.workspace,
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
    onError: (error) => log.failure(error),
  }
  const routes = serveRoutes(dependencies)
  const reserved = reservedNames(routes)
  checkServedNames(project.agents, project.served, reserved)
  const local = await localToken(project.folder)
  const { runtime, close } = serveRuntime(project, telemetry.observe(store))
  const { workspace } = project
  const continuations = new Continuations({
    store,
    place: { here: workspace, folder: project.folder, dataDir: dataDirOf(project.folder, host.env) },
    flags,
    agents: () => runtime.sessions.agents(),
  })
  continuations.use(project)
  const own = new OwnSessions({ runtime, store, clock, workspace, continuations, note: log.note, report: log.warn })
  const storeHealth = new StoreHealth({
    ...{ store, folder: project.folder, clock, log },
    changed(problems) {
      status.publish()
      // Turns that could not be stored have stopped.
      if (problems.length === 0) own.resume().catch((error: unknown) => log.failure(error))
    },
  })
  health.storeProblems = () => storeHealth.problems
  const sessions = kernel ? conversationSessions(own.sessions()) : own.sessions()
  const server = headendServer({
    sessions,
    routes,
    tokens: storedTokens(store.records, { clock, localToken: local.token }),
    records: store.records,
    names: settings.names,
    clock,
    ids: randomIds,
    admission: settings.admission,
    unavailable: () => storeHealth.problems[0],
    streams: settings.streams,
    ...(settings.maxBodyBytes !== undefined && { maxBodyBytes: settings.maxBodyBytes }),
    hiddenFolders: {
      '<home>': homedir(),
      '<troupe>': fileURLToPath(packageFile('.')),
      '<data>': project.folder,
      '<workspace>': project.workspace,
    },
    log(entry) {
      telemetry.request(entry)
      log.access(entry)
    },
    onError: (error, requestId) => log.failure(error, requestId),
  })
  return {
    ...{ runtime, own, sessions, dependencies, server, local },
    check: (changed) => checkServedNames(changed.agents, changed.served, reserved),
    applied(changed) {
      continuations.use(changed)
      agents.publish()
    },
    statusChanged: status.publish,
    async close() {
      storeHealth.close()
      await close()
      await telemetry.close()
    },
  }
}

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

/** Opens the port. */
export async function listenAt(
  { server, dependencies }: PreparedServer,
  { host, port, legacyTransports }: ServeSettings,
): Promise<Listening> {
  const listening = await listen(server, { host, port, clock: systemClock })
  if (legacyTransports) mcpUpgrade(listening.server, { ...dependencies, headends: server })
  return listening
}

const nearbyPorts = 20

/** Opens the port, or the next free one. */
export async function listenNear(prepared: PreparedServer, settings: ServeSettings): Promise<Listening> {
  for (let port = settings.port; port < settings.port + nearbyPorts; port++)
    try {
      return await listenAt(prepared, { ...settings, port })
    } catch (error) {
      if (!(error instanceof TroupeError && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'EADDRINUSE')) throw error
    }
  return listenAt(prepared, { ...settings, port: 0 })
}
