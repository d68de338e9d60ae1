import { type Records, type Store, TroupeError } from '../../contracts/index.ts'
import { serveStdio } from '../../headends/mcp/index.ts'
import { listTokens } from '../../headends/server/index.ts'
import { readSupervisorState } from '../../kernel/supervisor/index.ts'
import { systemClock } from '../../runtime/index.ts'
import { dataDirFlag } from '../approvals/next-commands.ts'
import { exitCodes } from '../host/exit-codes.ts'
import { openDataFolder } from '../host/open-data-folder.ts'
import type { Host } from '../host/process-host.ts'
import { hasExtensions } from '../kernel/extension-places.ts'
import type { KernelHost } from '../kernel/kernel-host.ts'
import type { ProjectKernel } from '../kernel/project-kernel.ts'
import { supervisorPlace } from '../kernel/supervisor-place.ts'
import { printUpBanner } from '../kernel/up-banner.ts'
import type { ServeInvocation } from '../options/serve-invocations.ts'
import { packageVersion } from '../package-file.ts'
import type { Interruption } from '../run/interruption.ts'
import { trustPathOf } from '../team/load-config.ts'
import { isAboutTrust, sentenceOf } from '../team/start-diagnostics.ts'
import { withColour } from '../terminal/print-messages.ts'
import { HotReload } from './hot-reload.ts'
import { printBanner } from './serve-banner.ts'
import { displayOf, type ServeLog, serveLog } from './serve-log.ts'
import { isAnyAddress, isLoopback, type ServeSettings, serveFlags, serveSettings } from './serve-settings.ts'
import { loadServedProject, type ServedProject } from './served-project.ts'
import { ServerHealth } from './server-health.ts'
import { listenAt, type PreparedServer, prepareServer } from './start-server.ts'
import { closeConnections, drainRuntime } from './stop-server.ts'
import { watchedPaths } from './watched-paths.ts'

export interface ServeHost {
  readonly host: Host
  readonly interruption: Interruption
  /** Under `troupe up`. */
  readonly kernelHost?: KernelHost
}

/** `troupe serve`: checks everything before anything is started, and serves until it is asked to end. */
export async function serveCommand(invocation: ServeInvocation, { host: given, interruption, kernelHost }: ServeHost): Promise<number> {
  const display = displayOf(invocation, given)
  const host = withColour(given, display)
  const log = serveLog(host, display)
  const flags = serveFlags(invocation)
  const hasKernel = kernelHost !== undefined || (invocation.agents.length === 0 && hasExtensions(process.cwd()))
  const project = await interruption.before(loadServedProject(invocation, { host, isTrusted: invocation.isTrusted, hasKernel }))
  for (const notice of project.notices) log.note(notice)
  // Missing trust may be the cause of unexpected behaviour.
  for (const each of project.diagnostics) (isAboutTrust(each) ? log.warn : log.note)(sentenceOf(each))
  const settings = serveSettings(flags, project.headends)
  kernelHost?.supervisor.drains(settings.drainMs)
  const store = await interruption.before(openDataFolder(project.folder))
  try {
    await serve({ invocation, project, settings, store, host, log, display, interruption, ...(kernelHost && { kernelHost }) })
  } finally {
    await store.close()
  }
  return interruption.request === undefined ? exitCodes.done.code : exitCodes[interruption.request].code
}

interface Serving {
  readonly invocation: ServeInvocation
  readonly project: ServedProject
  readonly settings: ServeSettings
  readonly store: Store
  readonly host: Host
  readonly log: ServeLog
  readonly display: Parameters<typeof printBanner>[2]
  readonly interruption: Interruption
  readonly kernelHost?: KernelHost
}

/** Resolves when everything has ended. */
async function serve(serving: Serving): Promise<void> {
  const { invocation, settings, store } = serving
  if (!invocation.isStdio) await requireToken(settings, store.records, invocation.dataDir)
  let changed = (): void => {}
  const kernel = await openKernel(serving, () => changed())
  try {
    await serveWith(serving, kernel, (listener) => {
      changed = listener
    })
  } finally {
    await kernel?.stop()
  }
}

async function serveWith(
  serving: Serving,
  kernel: ProjectKernel | undefined,
  onKernelChange: (listener: () => void) => void,
): Promise<void> {
  const { invocation, settings, store, host, log } = serving
  const health = new ServerHealth()
  const extend = async (loaded: ServedProject): Promise<ServedProject> => (kernel ? kernel.extend(loaded) : loaded)
  const project = await extend(serving.project)
  if (kernel) health.kernelProblems = () => kernel.problems
  const prepared = await prepareServer({ project, settings, store, version: await packageVersion(), health, host, log, kernel })
  const reload = new HotReload({
    ...{ first: serving.project, clock: systemClock, health, log },
    load: () => loadServedProject(invocation, { host, isTrusted: false, hasKernel: kernel !== undefined }),
    apply: async (changed) => applyChange(prepared, await extend(changed)),
    pathsOf: (changed) => watchedPaths(changed, invocation),
    trustFile: trustPathOf(host),
  })
  let stop: Stop | undefined
  try {
    await kernel?.attach(prepared.sessions)
    await reload.start()
    onKernelChange(() => reload.applyAgain())
    stop = await (invocation.isStdio ? serveProcess : serveNetwork)({ ...serving, project }, prepared, kernel)
    void resumeSessions(prepared, log)
    void kernel?.start().catch((error: unknown) => log.failure(error))
    await stop.requested
    log.note('Stopping: no new work is accepted, and running turns may continue.')
  } finally {
    health.isDraining = true
    prepared.server.drain()
    prepared.own.close()
    await reload.close()
    const result = await drainRuntime(prepared.runtime, stop ? settings.drainMs : 0, systemClock)
    // Its channels deliver the answers of the last turns.
    await kernel?.stop()
    await stop?.close()
    await prepared.close()
    if (result === 'released') log.note('Some turns were suspended. The next troupe serve in this folder continues them.')
  }
}

async function openKernel(
  { invocation, project, store, host, log, kernelHost }: Serving,
  onChange: () => void,
): Promise<ProjectKernel | undefined> {
  if (!project.extensions) return undefined
  const { ProjectKernel } = await import('../kernel/project-kernel.ts')
  const quarantined = kernelHost?.quarantined ?? readSupervisorState(supervisorPlace(invocation.dataDir, host)).quarantined
  return ProjectKernel.open({ project, store, host, log, kernelHost, quarantined, onChange })
}

async function resumeSessions({ own }: PreparedServer, log: ServeLog): Promise<void> {
  try {
    const count = await own.resume()
    if (count > 0) log.note(`Continues ${count} interrupted ${count === 1 ? 'session' : 'sessions'}.`)
  } catch (error) {
    log.failure(error)
  }
}

interface Stop {
  /** Somebody asked the server to end, or its only client has left. */
  readonly requested: Promise<void>
  close(): Promise<void>
}

async function serveNetwork(serving: Serving, prepared: PreparedServer, kernel: ProjectKernel | undefined): Promise<Stop> {
  const { project, settings, host, log, display, interruption, kernelHost } = serving
  if (isAnyAddress(settings.host) && (project.headends.hosts ?? []).length === 0)
    log.warn('Requests are refused unless their Host is a name of this machine. Add the names that clients use to `headends.hosts`.')
  const listening = await listenAt(prepared, settings)
  const facts = { host: settings.host, port: listening.port, agents: project.served, local: prepared.local }
  if (!kernelHost?.terminal) await printBanner(facts, host, display)
  // A person who talks to the assistant has seen it before a restart.
  else if (kernelHost.isFirst) await printUpBanner(facts, kernel?.status() ?? [], host)
  return { requested: aborted(interruption.signal), close: () => closeConnections(listening) }
}

/** MCP over standard input and output, for a program that starts this one. */
async function serveProcess({ log, interruption }: Serving, { dependencies, sessions }: PreparedServer): Promise<Stop> {
  const served = serveStdio({ ...dependencies, service: sessions }, process.stdin, process.stdout)
  log.note('Serves MCP over standard input and output.')
  return { requested: Promise.race([aborted(interruption.signal), served.closed]), close: () => served.close() }
}

async function applyChange({ runtime, check, agentsChanged }: PreparedServer, project: ServedProject): Promise<void> {
  check(project)
  const { adapter, hooks, sandbox } = project
  await runtime.update(project.config, { adapter, hooks, ...(sandbox && { sandbox }) })
  agentsChanged()
}

/** An address that other machines can reach needs a token that was created for it. */
async function requireToken({ host }: ServeSettings, records: Records, dataDir: string | undefined): Promise<void> {
  if (isLoopback(host)) return
  const now = systemClock.now()
  const tokens = await listTokens(records)
  if (tokens.some(({ expiresAt }) => expiresAt === undefined || expiresAt > now)) return
  throw new TroupeError('usage', `Other machines can reach the address ${host}, and there is no token for them.`, {
    remedy: `Create one first: troupe token create --name NAME${dataDirFlag(dataDir)}`,
  })
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve())
  })
}
