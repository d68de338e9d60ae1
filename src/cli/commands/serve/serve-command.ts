import type { CreateKernelOptions, KernelHost, ProjectKernel } from '../../../kernel/index.ts'
import {
  hasExtensions,
  isAlarming,
  leftOutAgents,
  ModelConnections,
  type Project,
  type ProjectReport,
  sentenceOf,
} from '../../../project/index.ts'
import { createServer, type Server, type ServerLog, serverSettings } from '../../../server/index.ts'
import type { ServeInvocation } from '../../arguments/serve-invocations.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import type { Interruption } from '../../terminal/interruption.ts'
import { mayOpenBrowser, openBrowser } from '../../terminal/open-browser.ts'
import { withColour } from '../../terminal/print-messages.ts'
import type { Host } from '../../terminal/process-host.ts'
import { loadTrustedProject } from '../trust/load-trusted-project.ts'
import type { WebDemo } from './demo-parts.ts'
import { printBanner, webAddress } from './serve-banner.ts'
import { serveFlags } from './serve-flags.ts'
import { displayOf, serveLog } from './serve-log.ts'
import { printUpBanner } from './up-banner.ts'

export interface ServeHost {
  readonly host: Host
  readonly interruption: Interruption
  /** Under `troupe up`. */
  readonly kernelHost?: KernelHost
  /** Under `troupe demo --web`. */
  readonly demo?: WebDemo
}

interface Serving extends ServeHost {
  readonly invocation: ServeInvocation
  readonly log: ServerLog
  readonly display: Parameters<typeof printBanner>[2]
}

/** `troupe serve`: checks everything before anything is started, and serves until it is asked to end. */
export async function serveCommand(invocation: ServeInvocation, { host: given, ...hosts }: ServeHost): Promise<number> {
  const { interruption, demo } = hosts
  const display = displayOf(invocation, given)
  const host = withColour(given, display)
  const log = serveLog(host, display, !demo)
  const serving = { invocation, host, log, display, ...hosts }
  const { server, kernel } = await openServer(serving)
  try {
    await serve(server, { ...serving, kernel })
  } finally {
    const result = await server.close()
    if (result === 'released') log.note('Some turns were suspended. The next troupe serve in this folder continues them.')
  }
  return interruption.request === undefined ? exitCodes.done.code : exitCodes[interruption.request].code
}

interface Opened {
  readonly server: Server
  readonly kernel: ProjectKernel | undefined
}

async function openServer({ invocation, host, interruption, kernelHost, demo, log }: Serving): Promise<Opened> {
  const { agents, configFile, dataDir, allow, deny, isTrusted } = invocation
  const settings = serveFlags(invocation)
  const { alsoTrusted } = demo?.loading() ?? {}
  const report = await interruption.before(
    loadTrustedProject(
      {
        ...{ cwd: host.cwd, env: host.env, configFile, alsoTrusted },
        agents: agents.length > 0 ? agents : undefined,
        // An assistant works without the agents that cannot start.
        onMissingTools: kernelHost ? 'leave out' : 'refuse',
      },
      // A server asks nobody: untrusted files are reported.
      { host, isTrusted, storesTrust: isTrusted },
    ),
  )
  const opening = {
    ...{ dataDir, allow, deny },
    // The page offers every model that is connected.
    otherModels: ['auto'],
    // A person who is there can connect one in the page.
    allowsMissingModels: invocation.opens && mayOpenBrowser(host),
  }
  const hasKernel = kernelHost !== undefined || (agents.length === 0 && hasExtensions(host))
  const kernel = hasKernel ? await openKernel(report, { ...opening, log, host: kernelHost }) : undefined
  const project = kernel?.project ?? (await interruption.before(report.open({ ...opening, serves: true })))
  // The demonstration says itself what its models are.
  if (!demo && project.missingModels.length === 0) for (const notice of project.notices) log.note(notice)
  for (const each of project.diagnostics) (isAlarming(each) ? log.warn : log.note)(sentenceOf(each))
  for (const text of leftOutAgents(project)) log.warn(text)
  kernelHost?.supervisor.drains(serverSettings({ ...project.headends, ...settings }).drainMs)
  if (project.missingModels.length > 0) log.warn(missingModels(project))
  const common = { settings, log, models: new ModelConnections(), ...(demo && { demo: demo.models }) }
  return { server: await createServer(kernel ? { kernel, ...common } : { project, ...common }), kernel }
}

const missingModels = ({ missingModels: names }: Project): string =>
  `No model is available: the agents need ${names.join(', ')}. Connect one in the page.`

async function openKernel(project: ProjectReport, options: Omit<CreateKernelOptions, 'project'>): Promise<ProjectKernel> {
  const { createKernel } = await import('../../../kernel/index.ts')
  return createKernel({ project, ...options })
}

/** Resolves when the server is asked to end, or its only client has left. */
async function serve(server: Server, serving: Serving & Pick<Opened, 'kernel'>): Promise<void> {
  const { invocation, log, interruption } = serving
  const asked = aborted(interruption.signal)
  if (interruption.signal.aborted) return
  if (!invocation.isStdio) await serveNetwork(server, serving)
  const served = invocation.isStdio ? server.serveStdio(process.stdin, process.stdout) : undefined
  if (served) log.note('Serves MCP over standard input and output.')
  await (served ? Promise.race([asked, served.closed]) : asked)
  log.note('Stopping: no new work is accepted, and running turns may continue.')
}

async function serveNetwork(server: Server, serving: Serving & Pick<Opened, 'kernel'>): Promise<void> {
  const { invocation, host, log, display, kernelHost, kernel, demo } = serving
  const { agents, token, sessions } = server
  await server.listen({
    nearby: demo !== undefined && invocation.port === undefined,
    async listening(address) {
      const facts = { address, agents, local: token, demo: demo?.facts }
      if (!kernelHost?.terminal && !demo?.isAgain) await printBanner(facts, host, display)
      // A person who talks to the assistant has seen it before a restart.
      else if (kernelHost?.isFirst) await printUpBanner(facts, kernel?.status() ?? [], host)
      if (invocation.opens) openBrowser(new URL(webAddress(facts)), host)
      demo?.listening(address.port, sessions).catch((error: unknown) => log.failure(error))
    },
  })
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve())
  })
}
