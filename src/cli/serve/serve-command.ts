import { type Records, type Store, TroupeError } from '../../contracts/index.ts'
import type { KernelHost, KernelProject, ProjectKernel } from '../../kernel/index.ts'
import { readSupervisorState } from '../../kernel/supervisor/index.ts'
import { hasExtensions, isAboutTrust, type Project, packageVersion, sentenceOf, trustPathOf } from '../../project/index.ts'
import { systemClock } from '../../runtime/index.ts'
import { listTokens } from '../../server/http/index.ts'
import { serveStdio } from '../../server/mcp/index.ts'
import { dataDirFlag } from '../approvals/next-commands.ts'
import type { WebDemo } from '../demo/web-demo.ts'
import { exitCodes } from '../host/exit-codes.ts'
import { openBrowser } from '../host/open-browser.ts'
import type { Host } from '../host/process-host.ts'
import { supervisorPlace } from '../kernel/supervisor-place.ts'
import { printUpBanner } from '../kernel/up-banner.ts'
import type { ServeInvocation } from '../options/serve-invocations.ts'
import type { Interruption } from '../run/interruption.ts'
import { withColour } from '../terminal/print-messages.ts'
import { HotReload } from './hot-reload.ts'
import { loadServed, type ServedProject } from './load-served.ts'
import { printBanner, webAddress } from './serve-banner.ts'
import { displayOf, type ServeLog, serveLog } from './serve-log.ts'
import { isAnyAddress, isLoopback, type ServeSettings, serveFlags, serveSettings } from './serve-settings.ts'
import { ServerHealth } from './server-health.ts'
import { listenAt, listenNear, type PreparedServer, prepareServer } from './start-server.ts'
import { closeConnections, drainRuntime } from './stop-server.ts'
import { watchedPaths } from './watched-paths.ts'

export interface ServeHost {
  readonly host: Host
  readonly interruption: Interruption
  /** Under `troupe up`. */
  readonly kernelHost?: KernelHost
  /** Under `troupe demo --web`. */
  readonly demo?: WebDemo
}

/** `troupe serve`: checks everything before anything is started, and serves until it is asked to end. */
export async function serveCommand(invocation: ServeInvocation, { host: given, interruption, ...hosts }: ServeHost): Promise<number> {
  const { kernelHost, demo } = hosts
  const display = displayOf(invocation, given)
  const host = withColour(given, display)
  const log = serveLog(host, display, !demo)
  const flags = serveFlags(invocation)
  const hasKernel = kernelHost !== undefined || (invocation.agents.length === 0 && hasExtensions(given))
  const project = await interruption.before(
    loadServed(invocation, { host, isTrusted: invocation.isTrusted, hasKernel, ...demo?.loading() }),
  )
  // The demonstration says itself what its models are.
  if (!demo) for (const notice of project.notices) log.note(notice)
  // Missing trust may be the cause of unexpected behaviour.
  for (const each of project.diagnostics) (isAboutTrust(each) ? log.warn : log.note)(sentenceOf(each))
  const settings = serveSettings(flags, project.headends)
  kernelHost?.supervisor.drains(settings.drainMs)
  const store = await interruption.before(project.openStore())
  try {
    await serve({ invocation, project, settings, store, host, log, display, interruption, ...hosts })
  } finally {
    await project.close()
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
  readonly demo?: WebDemo
}

/** Resolves when everything has ended. */
async function serve(serving: Serving): Promise<void> {
  const { invocation, settings, store } = serving
  if (!invocation.isStdio) await requireToken(settings, store.records, invocation.dataDir)
  const listeners: KernelListeners = { onChange() {}, onStatus() {} }
  const kernel = await openKernel(serving, listeners)
  try {
    await serveWith(serving, kernel, listeners)
  } finally {
    await kernel?.stop()
  }
}

/** They are set when the server exists: the kernel is opened before. */
interface KernelListeners {
  onChange(): void
  onStatus(): void
}

async function serveWith(serving: Serving, kernel: ProjectKernel | undefined, listeners: KernelListeners): Promise<void> {
  const { invocation, settings, store, host, log, demo } = serving
  const health = new ServerHealth()
  const extend = async (loaded: Project): Promise<Project> => (await (kernel ?? demo?.models)?.extend(loaded)) ?? loaded
  const project = await extend(serving.project)
  if (kernel) health.kernelProblems = () => kernel.problems
  const version = await packageVersion()
  const prepared = await prepareServer({
    project,
    flags: invocation,
    settings,
    store,
    version,
    health,
    host,
    log,
    kernel,
    demo: demo?.models,
  })
  const reload = new HotReload({
    ...{ first: serving.project, clock: systemClock, health, log },
    load: () => loadServed(invocation, { host, isTrusted: false, hasKernel: kernel !== undefined, ...demo?.loading() }),
    apply: async (changed) => applyChange(prepared, await extend(changed)),
    reloaded: () => prepared.statusChanged(),
    pathsOf: (changed) => watchedPaths(changed, invocation),
    trustFile: trustPathOf(host),
  })
  let stop: Stop | undefined
  try {
    await kernel?.attach(prepared.sessions)
    await reload.start()
    listeners.onChange = () => reload.applyAgain()
    listeners.onStatus = () => prepared.statusChanged()
    demo?.models.attach(() => reload.applyNow())
    stop = await (invocation.isStdio ? serveProcess : serveNetwork)({ ...serving, project }, prepared, kernel)
    void prepared.own.resume().catch((error: unknown) => log.failure(error))
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
  listeners: KernelListeners,
): Promise<ProjectKernel | undefined> {
  if (!isKernelProject(project)) return undefined
  const { ProjectKernel } = await import('../../kernel/index.ts')
  const quarantined = kernelHost?.quarantined ?? readSupervisorState(supervisorPlace(invocation.dataDir, host)).quarantined
  const [onChange, onStatus] = [() => listeners.onChange(), () => listeners.onStatus()]
  return ProjectKernel.open({ project, store, log, kernelHost, quarantined, onChange, onStatus })
}

const isKernelProject = (project: ServedProject): project is KernelProject => project.extensions !== undefined

interface Stop {
  /** Somebody asked the server to end, or its only client has left. */
  readonly requested: Promise<void>
  close(): Promise<void>
}

async function serveNetwork(serving: Serving, prepared: PreparedServer, kernel: ProjectKernel | undefined): Promise<Stop> {
  const { invocation, project, settings, host, log, display, interruption, kernelHost, demo } = serving
  if (isAnyAddress(settings.host) && (project.headends.hosts ?? []).length === 0)
    log.warn('Requests are refused unless their Host is a name of this machine. Add the names that clients use to `headends.hosts`.')
  const listening = await (demo && invocation.port === undefined ? listenNear : listenAt)(prepared, settings)
  const facts = { host: settings.host, port: listening.port, agents: project.served, local: prepared.local, demo: demo?.facts }
  if (!kernelHost?.terminal && !demo?.isAgain) await printBanner(facts, host, display)
  // A person who talks to the assistant has seen it before a restart.
  else if (kernelHost?.isFirst) await printUpBanner(facts, kernel?.status() ?? [], host)
  if (invocation.opens) openBrowser(new URL(webAddress(facts)), host)
  demo?.listening(listening.port, prepared.sessions).catch((error: unknown) => log.failure(error))
  return { requested: aborted(interruption.signal), close: () => closeConnections(listening) }
}

/** MCP over standard input and output, for a program that starts this one. */
async function serveProcess({ log, interruption }: Serving, { dependencies, sessions }: PreparedServer): Promise<Stop> {
  const served = serveStdio({ ...dependencies, service: sessions }, process.stdin, process.stdout)
  log.note('Serves MCP over standard input and output.')
  return { requested: Promise.race([aborted(interruption.signal), served.closed]), close: () => served.close() }
}

async function applyChange({ runtime, check, applied }: PreparedServer, project: Project): Promise<void> {
  check(project)
  const { adapter, hooks, sandbox } = project
  await runtime.update(project.config, { adapter, hooks, ...(sandbox && { sandbox }) })
  applied(project)
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
