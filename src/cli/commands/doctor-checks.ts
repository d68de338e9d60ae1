import { type Problem, TroupeError } from '../../contracts/index.ts'
import {
  checkProject,
  deliveryTable,
  findModels,
  homeFolder,
  httpSecrets,
  isDocumentFile,
  type ListedDocument,
  type LoadProjectOptions,
  listDocuments,
  loadProject,
  modelOptions,
  overlayFor,
  type ProjectReport,
  type RegisteredAgent,
  sandboxOf,
  serversOf,
  sessionPlace,
  storeName,
  storePlaceOf,
  webhooksOf,
  withSessions,
  withStore,
  workspaceToolProblems,
} from '../../project/index.ts'
import { systemClock } from '../../runtime/index.ts'
import { displaySentence } from '../../util/as-sentence.ts'
import { plural } from '../../util/plural.ts'
import { placeOf } from '../terminal/place-of.ts'
import type { Host } from '../terminal/process-host.ts'

/** The result of one check. Warnings and failures say how to fix them. */
export type Check =
  | { readonly status: 'ok' | 'info'; readonly what: string; readonly message: string }
  | { readonly status: 'warning' | 'fail'; readonly what: string; readonly message: string; readonly fix: string }

type DoctorOptions = Pick<LoadProjectOptions, 'configFile'>

interface DoctorReport {
  readonly checks: readonly Check[]
  /** Values that must not be printed, by name. */
  readonly secrets: { readonly [name: string]: string }
}

/** Checks everything that a run needs. */
export async function runDoctorChecks(host: Host, options: DoctorOptions): Promise<DoctorReport> {
  const project = await loadProject({ ...placeOf(host), ...options })
  const { config, environment } = project.setup
  const secrets = { ...overlayFor([], { config, environment }).secrets, ...httpSecrets({ config, environment, patterns: ['*'] }) }
  const checks = [
    nodeCheck(process.versions.node),
    ...configChecks(project),
    ...agentChecks(project),
    ...keyChecks(project),
    ...(await modelChecks(project, host, options)),
    ...(await startChecks(project, host, options)),
    ...(await toolChecks(project, host)),
    ...(await serverChecks(project, host)),
    ...(await documentChecks(project)),
    await storeCheck(project, host),
    ...(await webhookChecks(project, options, host)),
    ...(await sandboxChecks(project, host)),
    ...(await extensionChecks(host, options)),
  ]
  return { checks, secrets }
}

const minNode = [22, 22] as const

function nodeCheck(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isNew = major > minNode[0] || (major === minNode[0] && minor >= minNode[1])
  return isNew
    ? { status: 'ok', what: 'Node', message: version }
    : { status: 'fail', what: 'Node', message: `Version ${version} is too old.`, fix: `Install Node ${minNode.join('.')} or newer.` }
}

function configChecks({ setup, error }: ProjectReport): readonly Check[] {
  if (error?.problems.some(({ place }) => isConfigPlace(place)))
    return error.problems.filter(({ place }) => isConfigPlace(place)).map((problem) => problemCheck('fail', 'configuration', problem))
  const { config, diagnostics } = setup
  const warnings = diagnostics.filter(({ severity }) => severity !== 'info').map((each) => problemCheck('warning', 'configuration', each))
  const read = config.layers.flatMap(({ settings }) => (settings ? [settings.origin.file] : []))
  const found = read.length > 0 ? `read from ${[...new Set(read)].join(', ')}` : 'none (not required)'
  return [{ status: 'ok', what: 'configuration', message: found }, ...warnings]
}

const isConfigPlace = (place: string): boolean => /\.(?:json|env)(?::|$|\s)/.test(place) || place.startsWith('TROUPE_')

function agentChecks({ registry, error, diagnostics }: ProjectReport): readonly Check[] {
  const broken = (error?.problems ?? [])
    .filter(({ place }) => !isConfigPlace(place))
    .map((problem) => problemCheck('fail', 'agent', problem))
  const warnings = diagnostics
    .filter(({ severity, code }) => severity !== 'info' && code.startsWith('agent_'))
    .map((each) => problemCheck('warning', 'agent', { remedy: 'Check the file.', ...each }))
  if (registry.found.length === 0 && broken.length === 0)
    return [{ status: 'warning', what: 'agents', message: 'No agent file was found here.', fix: 'Create a project: troupe init' }]
  const valid = registry.ok
    ? registry.agents.map(({ definition, place }): Check => ({ status: 'ok', what: 'agent', message: `${definition.toolName} (${place})` }))
    : []
  return [...valid, ...broken, ...warnings]
}

function problemCheck(status: 'warning' | 'fail', what: string, { place, message, remedy = `Check ${place}.` }: Problem): Check {
  return { status, what, message: `${place}: ${displaySentence(message)}`, fix: remedy }
}

/** Missing skills, hooks and folders. */
async function toolChecks(project: ProjectReport, host: Host): Promise<readonly Check[]> {
  const { problems, warnings } = await workspaceToolProblems(project, host)
  return [...problems.map((each) => problemCheck('fail', 'tools', each)), ...warnings.map((each) => problemCheck('warning', 'tools', each))]
}

/** Reads the OpenAPI documents as a session does, over the network if need be. Problems of files are reported by `toolChecks`. */
async function documentChecks({ setup }: ProjectReport): Promise<readonly Check[]> {
  const what = 'openapi'
  const read = (which: (spec: string) => boolean) =>
    listDocuments({ ...setup, patterns: ['*'] }, { trusted: async () => setup.trusted, which })
  const count = ({ name, tools }: ListedDocument): readonly Check[] =>
    tools === 0 ? [] : [{ status: 'ok', what, message: `${name}: ${plural(tools, 'tool')}` }]
  const files = await read(isDocumentFile)
  const fetched = await read((spec) => !isDocumentFile(spec))
  const problems = fetched.flatMap((each) => each.problems).map((each) => problemCheck('warning', what, each))
  return [...[...files, ...fetched].flatMap(count), ...problems]
}

/** Connects to trusted MCP servers, each within a deadline. */
async function serverChecks({ registry, setup }: ProjectReport, host: Host): Promise<readonly Check[]> {
  const own = registry.ok ? registry.agents.flatMap((owner) => owner.servers.map((server) => ({ ...server, owner }))) : []
  const trusted = [...serversOf(setup.config), ...own].filter(({ isTrusted }) => isTrusted)
  if (trusted.length === 0) return []
  const { stateOf } = await import('./mcp/list-servers.ts')
  return Promise.all(
    trusted.map(async (server): Promise<Check> => {
      const { isConnected, state, remedy } = await stateOf(server, setup, host)
      const message = `${server.name}: ${state}`
      if (isConnected && remedy === undefined) return { status: 'ok', what: 'MCP server', message }
      const status = !isConnected && server.definition.required ? 'fail' : 'warning'
      return { status, what: 'MCP server', message, fix: remedy ?? `Check the definition in ${server.origin.file}.` }
    }),
  )
}

/** Lists names only, never values. */
function keyChecks({ setup }: ProjectReport): readonly Check[] {
  const { variables } = overlayFor([], { config: setup.config, environment: setup.environment })
  const keys = Object.keys(variables)
    .filter((name) => /_API_KEY$/.test(name))
    .toSorted()
  return [{ status: 'info', what: 'keys', message: keys.length > 0 ? `${keys.join(', ')} (values not shown)` : 'No API key is set.' }]
}

/** Checks for each list of models whether one of them is available. Contacts servers on this machine only. */
async function modelChecks({ registry }: ProjectReport, host: Host, options: DoctorOptions): Promise<readonly Check[]> {
  const agents = registry.ok ? registry.agents : []
  const lists = new Map<string, readonly RegisteredAgent[]>()
  for (const agent of agents) {
    const key = agent.definition.models.join(', ')
    lists.set(key, [...(lists.get(key) ?? []), agent])
  }
  const checks: Check[] = []
  for (const [names, users] of lists) {
    const [first] = users
    // With the configuration next to its file, as a run would read it.
    if (first) checks.push(...(await modelCheck(names, first, (await reportOf(first, host, options)).setup)))
  }
  return checks
}

const reportOf = ({ place }: RegisteredAgent, host: Host, options: DoctorOptions): Promise<ProjectReport> =>
  loadProject({ ...placeOf(host), ...options, agents: place })

/** Problems that would prevent a run from starting, by the checks of `troupe run`. Models are reported by `modelChecks`. */
async function startChecks({ registry }: ProjectReport, host: Host, options: DoctorOptions): Promise<readonly Check[]> {
  const roots = registry.ok ? registry.agents.filter(({ isChild }) => !isChild) : []
  const checks: Check[] = []
  for (const root of roots) {
    try {
      await checkProject(await reportOf(root, host, options))
    } catch (error) {
      if (!(error instanceof TroupeError)) throw error
      const { code, message, remedy, problems } = error
      const reported = problems.length > 0 ? problems : [{ place: root.place, message, ...(remedy !== undefined && { remedy }) }]
      if (!code.startsWith('model_')) checks.push(...reported.map((problem) => problemCheck('fail', 'run', problem)))
    }
  }
  return [...new Map(checks.map((check) => [check.message, check])).values()]
}

async function modelCheck(
  names: string,
  { definition, path }: RegisteredAgent,
  { config, environment }: ProjectReport['setup'],
): Promise<readonly Check[]> {
  try {
    const { variables, providers, aliases } = overlayFor(definition.models, { config, environment })
    const sources = { ...modelOptions(path, { env: variables }), providers, aliases, looksAtServers: true }
    const { models, notices, servers } = await findModels(definition.models, sources)
    const message = `${models.join(', ')}${notices.length > 0 ? ` (${notices.join(' ')})` : ''}`
    const [absent] = servers
    if (!absent) return [{ status: 'ok', what: 'models', message }]
    const { message: reason, remedy = 'Use another model.' } = absent
    // With none left, a run would start and fail at its first request.
    if (servers.length === models.length) return [problemCheck('fail', 'models', { place: names, message: reason, remedy })]
    return [{ status: 'warning', what: 'models', message, fix: remedy }]
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error
    const searched = error.problems.map(
      ({ place, message }): Check => ({ status: 'info', what: 'models', message: `${place}: ${displaySentence(message)}` }),
    )
    const remedy = error.remedy ?? error.problems.find((each) => each.remedy !== undefined)?.remedy ?? 'Use another model.'
    return [problemCheck('fail', 'models', { place: names, message: error.message, remedy }), ...searched]
  }
}

async function storeCheck({ setup }: ProjectReport, host: Host): Promise<Check> {
  const { config, environment } = setup
  let name = 'store'
  try {
    const place = storePlaceOf({ config, environment, cwd: host.cwd })
    name = storeName(place)
    await withStore(place, async () => undefined)
    return { status: 'ok', what: 'journal', message: name }
  } catch (error) {
    const { message, remedy = 'Make the folder writable, or use another one with --data-dir.' } = error as TroupeError
    return problemCheck('fail', 'journal', { place: name, message, remedy })
  }
}

/** Sends nothing. Variables that are missing are reported by `startChecks`. */
async function webhookChecks({ setup }: ProjectReport, options: DoctorOptions, host: Host): Promise<readonly Check[]> {
  const what = 'webhook'
  const { config, environment } = setup
  try {
    const { outgoing, incoming } = webhooksOf({ config, environment })
    const received = incoming.map(({ name, agent }): Check => ({ status: 'ok', what, message: `/hooks/${name} → agent ${agent}` }))
    if (outgoing.length === 0) return received
    const place = await sessionPlace(options, placeOf(host))
    const stored = await withSessions(place, [], ({ records }) => deliveryTable(records, setup.workingDirectory).list())
    const sent = outgoing.map(({ name, url, events }): Check => {
      const last = stored.findLast(({ webhook, error }) => webhook === name && error !== undefined)
      if (!last) return { status: 'ok', what, message: `${name}: ${events.join(', ')} → ${new URL(url).host}` }
      return { status: 'warning', what, message: `${name}: the last delivery failed: ${last.error}`, fix: 'See: troupe webhooks list' }
    })
    return [...sent, ...received]
  } catch (error) {
    if (error instanceof TroupeError) return []
    throw error
  }
}

/** Problems of extensions, without running their code. */
async function extensionChecks(host: Host, options: DoctorOptions): Promise<readonly Check[]> {
  const what = 'extension'
  const { inspectExtensions } = await import('../../kernel/index.ts')
  // A data folder that cannot be used is reported by `storeCheck`.
  const extensions = await inspectExtensions(options, host).catch((error: unknown) => {
    if (error instanceof TroupeError) return []
    throw error
  })
  return extensions.flatMap(({ found, state, runs, problems, quarantined }): readonly Check[] => {
    const { id, source } = found
    if (state === 'disabled') return []
    if (quarantined)
      return [
        {
          status: 'warning',
          what,
          message: `${id} is quarantined: ${quarantined.reason}`,
          fix: `Fix it. Then: troupe extensions enable ${id}`,
        },
      ]
    if (problems.length > 0) return problems.map((each) => problemCheck(state === 'invalid' ? 'fail' : 'warning', what, each))
    if (runs === 'sandbox') return [{ status: 'info', what, message: `${id} is not trusted: it runs in the sandbox` }]
    return source === 'bundled' ? [] : [{ status: 'ok', what, message: id }]
  })
}

/** Tests whether the sandbox works here by starting one and trying to escape. */
async function sandboxChecks({ setup: { config, workingDirectory } }: ProjectReport, { env }: Host): Promise<readonly Check[]> {
  const what = 'sandbox'
  const policy = sandboxOf(config)
  if (policy.mode === 'off') {
    const message = 'The sandbox is off: commands run with all your permissions.'
    return [{ status: 'warning', what, message, fix: 'Remove `sandbox: { mode: off }` from the configuration.' }]
  }
  const { processSandbox } = await import('../../tools/sandbox/index.ts')
  const home = homeFolder(env)
  const sandbox = processSandbox({ root: workingDirectory, path: env.PATH ?? '', home, clock: systemClock, policy })
  const found = await sandbox.probe()
  if (found.kind === 'available')
    return [{ status: 'ok', what, message: sandbox.name }, ...found.weaknesses.map((message): Check => ({ status: 'info', what, message }))]
  const { message, remedy = 'To run commands without a sandbox, set `sandbox: { mode: off }` in the configuration.' } = found.failure
  // A warning, because only agents with a shell need the sandbox.
  return [{ status: 'warning', what, message: `The tool \`shell\` does not work here: ${message}`, fix: remedy }]
}
