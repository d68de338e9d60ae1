import { headendsOf } from '../../agents/index.ts'
import { type Records, type Store, TroupeError } from '../../contracts/index.ts'
import { type AuditEntry, auditLog, headendServer, type Listening, listen, listTokens, storedTokens } from '../../headends/server/index.ts'
import { type AgentRuntime, createAgentRuntime, randomIds, systemClock } from '../../runtime/index.ts'
import { projectGrants, type UserGrants, userGrants } from '../approvals/project-grants.ts'
import { exitCodes } from '../host/exit-codes.ts'
import { openDataFolder } from '../host/open-data-folder.ts'
import type { Host } from '../host/process-host.ts'
import type { ServeInvocation } from '../options/serve-invocations.ts'
import { packageVersion } from '../package-file.ts'
import type { Interruption } from '../run/interruption.ts'
import { isAboutTrust, sentenceOf } from '../team/start-diagnostics.ts'
import { withColour } from '../terminal/print-messages.ts'
import { laterRecords } from './later-records.ts'
import { localToken } from './local-token.ts'
import { OwnSessions } from './own-sessions.ts'
import { printBanner } from './serve-banner.ts'
import { displayOf, type ServeLog, serveLog } from './serve-log.ts'
import { reservedNames, serveRoutes } from './serve-routes.ts'
import { isLoopback, type ServeSettings, serveFlags, serveSettings } from './serve-settings.ts'
import { loadServedProject, type ServedProject } from './served-project.ts'

/** `troupe serve`: checks everything before anything is started, and serves until it is asked to end. */
export async function serveCommand(invocation: ServeInvocation, given: Host, interruption: Interruption): Promise<number> {
  const display = displayOf(invocation, given)
  const host = withColour(given, display)
  const log = serveLog(host, display)
  const flags = serveFlags(invocation)
  const health = new Health()
  const audited = Promise.withResolvers<(entry: AuditEntry) => Promise<void>>()
  const opened = Promise.withResolvers<Records>()
  const routes = serveRoutes({
    version: await packageVersion(),
    clock: systemClock,
    ids: randomIds,
    records: laterRecords(opened.promise),
    problems: () => health.problems,
    metrics: () => '',
    audit: async (entry) => (await audited.promise)(entry),
  })
  const reserved = reservedNames(routes)
  const project = await interruption.before(loadServedProject(invocation, { host, reserved, isTrusted: invocation.isTrusted }))
  reportStart(project, log)
  const settings = serveSettings(flags, headendsOf(project.inspected.setup.config))
  const store = await interruption.before(openDataFolder(project.folder))
  opened.resolve(store.records)
  audited.resolve(auditLog(store.records, { clock: systemClock, ids: randomIds }))
  await requireToken(settings, store.records)
  const local = await localToken(project.folder)
  const grants = userGrants(host, { folder: project.folder, store })
  const runtime = serveRuntime(project, { store, grants }, host)
  const own = new OwnSessions({ runtime, store, workspace: project.workspace, report: log.warn })
  const server = headendServer({
    sessions: own.sessions(),
    routes,
    tokens: storedTokens(store.records, { clock: systemClock, localToken: local.token }),
    records: store.records,
    names: settings.names,
    clock: systemClock,
    ids: randomIds,
    admission: settings.admission,
    ...(settings.maxBodyBytes !== undefined && { maxBodyBytes: settings.maxBodyBytes }),
    log: log.access,
    onError: (error, requestId) =>
      log.warn(`Request ${requestId} failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`),
  })
  const listening = await listen(server, { host: settings.host, port: settings.port, clock: systemClock })
  await printBanner({ host: settings.host, port: listening.port, agents: project.served, local }, host, display)
  void own.resume()
  await untilAborted(interruption.signal)
  log.note('Stopping. No new work is accepted; running turns may continue.')
  health.isDraining = true
  server.drain()
  own.close()
  await drain(runtime, listening, settings.drainMs)
  await grants.close()
  await store.close()
  return exitCodes[interruption.request ?? 'terminated'].code
}

class Health {
  isDraining = false
  get problems(): readonly string[] {
    return this.isDraining ? ['The server is shutting down.'] : []
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve())
  })
}

function reportStart({ notices, diagnostics }: ServedProject, log: ServeLog): void {
  for (const notice of notices) log.note(notice)
  for (const each of diagnostics) (isAboutTrust(each) ? log.warn : log.note)(sentenceOf(each))
}

/** An address that other machines can reach needs a token that was created for it. */
async function requireToken({ host }: ServeSettings, records: Records): Promise<void> {
  if (isLoopback(host)) return
  const now = systemClock.now()
  const valid = (await listTokens(records)).filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now)
  if (valid.length > 0) return
  throw new TroupeError('usage', `The address ${host} can be reached from other machines, and no token exists.`, {
    remedy: 'Create one first: troupe token create --name NAME',
  })
}

function serveRuntime(
  project: ServedProject,
  { store, grants }: { readonly store: Store; readonly grants: UserGrants },
  host: Host,
): AgentRuntime {
  return createAgentRuntime({
    config: project.config,
    adapter: project.adapter,
    store,
    clock: systemClock,
    // A call that needs approval waits until somebody answers.
    approver: { decide: () => 'suspend' },
    grants: projectGrants(grants, { project: project.project, folder: project.workspace }, host.now),
    ...(project.sandbox && { sandbox: project.sandbox }),
    hooks: project.hooks,
    mcp: project.mcp,
    origin: { workspace: project.workspace, command: 'serve' },
  })
}

/** Running turns continue for a while; then they are released. */
async function drain(runtime: AgentRuntime, listening: Listening, ms: number): Promise<void> {
  const finished = runtime.close({ drain: true })
  const late = Promise.withResolvers<void>()
  const cancel = systemClock.after(ms, () => late.resolve())
  await Promise.race([finished, late.promise])
  cancel()
  await runtime.close()
  await listening.close(closingMs)
}

/** For responses that are being sent. */
const closingMs = 1_000
