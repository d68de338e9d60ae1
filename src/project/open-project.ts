import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Store, TroupeError } from '../contracts/index.ts'
import { contractProblems, type StatedContracts } from '../tools/index.ts'
import { joinErrors } from '../util/join-errors.ts'
import { headendsOf, telemetryOf } from './config/section-values.ts'
import { mcpOptionsOf } from './mcp/mcp-options.ts'
import { type ResolvedAgents, resolveModels } from './models/resolve-models.ts'
import type { OpenProjectOptions, Project, ProjectReport } from './project-report.ts'
import type { RegisteredAgent } from './registry/registered-agent.ts'
import { checkServed, servedConfig } from './served-agents.ts'
import { dataFolder, dataFolderProblem } from './setup/data-folder.ts'
import { openPlace } from './setup/open-place.ts'
import { sentenceOf } from './setup/start-diagnostics.ts'
import { type StorePlace, storePlaceOf } from './setup/store-place.ts'
import { withDeliveries } from './webhooks/stored-deliveries.ts'
import { type WebhookSettings, webhooksOf } from './webhooks/webhook-settings.ts'
import { createWorkspaceTools } from './workspace/workspace-tools.ts'

/** What `report.open` does, without its notes about ignored settings. Throws all problems that would prevent a start. */
export async function openProject(report: ProjectReport, options: OpenProjectOptions = {}): Promise<Project> {
  const { allow = [], deny = [], dryRun = false, serves = false, hasExtensions } = options
  const { setup, moduleTools, named } = report
  const { config, environment: env, workingDirectory: cwd } = setup
  const { resolved, offered, place, webhooks } = await checkProject(report, options)
  const { folder, database } = place
  const { agents, shared, warnings, withoutTerminal, project, sandbox, hooks, kitAt } = await createWorkspaceTools(resolved.agents, {
    ...{ allow, deny, dryRun, hasExtensions, config, moduleTools },
    place: { env },
    workingDirectory: cwd,
    hidden: [folder, dataFolder({ flag: undefined, env }), ...variableFiles(report)],
    trusted: setup.trusted,
  })
  const served = offered.map(({ definition }) => definition.name)
  const loop = { agents, ...resolved.shared, ...shared }
  const [only, ...others] = named
  const store = openedOnce(async () => withDeliveries(await openPlace(place), webhooks.outgoing, cwd))
  return {
    report,
    config: serves
      ? servedConfig(loop, resolved.agents, served)
      : { ...loop, ...(only !== undefined && others.length === 0 && { agentSelection: { agent: only } }) },
    adapter: resolved.adapter,
    missingModels: resolved.missingModels,
    hooks,
    ...(sandbox && { sandbox }),
    ...(kitAt && { kitAt }),
    mcp: mcpOptionsOf({ env }, setup),
    agents: resolved.agents,
    served,
    leftOut: report.registry.leftOut,
    workspace: cwd,
    folder,
    ...(database && { database }),
    root: project,
    onUnavailable: withoutTerminal,
    headends: headendsOf(config),
    telemetry: telemetryOf({ config, environment: env }),
    webhooks,
    notices: [...resolved.notices, ...warnings.map(sentenceOf)],
    warnings,
    diagnostics: [...report.diagnostics, ...resolved.diagnostics].filter(({ severity }) => severity !== 'info'),
    options,
    reload: async () => openProject(await report.reload(), options),
    openStore: store.open,
    close: store.close,
  }
}

interface CheckedProject {
  readonly resolved: ResolvedAgents
  /** The agents that can be asked. */
  readonly offered: readonly RegisteredAgent[]
  readonly place: StorePlace
  readonly webhooks: WebhookSettings
}

/** Checks agents, models, schemas and the data folder. Loads no hooks and no tools. */
export async function checkProject(report: ProjectReport, options: OpenProjectOptions = {}): Promise<CheckedProject> {
  const { dataDir, dryRun = false, serves = false, otherModels = [], allowsMissingModels = false } = options
  const { setup } = report
  const { config, environment: env, workingDirectory: cwd } = setup
  const { agents, offered } = chosenAgents(report, options)
  if (serves) checkServed(offered)
  const webhooks = webhooksOf({ config, environment: env })
  const resolved = await resolveModels(agents, setup, {
    file: resolve(cwd, report.files[0] ?? 'agent.ai'),
    isTeam: !serves,
    looksAtServers: dryRun,
    otherModels,
    allowsMissingModels,
  })
  const place = storePlaceOf({ dataDir, cwd, config, environment: env })
  await checkSchemasAndFolder(resolved.agents, place)
  return { resolved, offered, place, webhooks }
}

interface ChosenAgents {
  readonly agents: readonly RegisteredAgent[]
  /** Those that can be asked. */
  readonly offered: readonly RegisteredAgent[]
}

/** A named agent comes before those that it calls. */
function chosenAgents(
  { registry, errors, named }: ProjectReport,
  { agents: given, addedAgents = [], errors: further = [] }: OpenProjectOptions,
): ChosenAgents {
  if (!registry.ok || errors.length + further.length > 0) throw joinErrors([...further, ...errors])
  const all = given ?? registry.agents
  const [first] = named
  const root = all.find(({ definition }) => definition.name === first)
  const isOffered = ({ definition, isChild }: RegisteredAgent): boolean => (named.length > 0 ? named.includes(definition.name) : !isChild)
  return {
    agents: [...addedAgents, ...(root ? [root] : []), ...all.filter((agent) => agent !== root)],
    offered: [...addedAgents, ...all.filter(isOffered)],
  }
}

/** The agents of a report without errors. @throws TroupeError with all errors. */
export function validAgents(report: ProjectReport): { readonly root: RegisteredAgent; readonly agents: readonly RegisteredAgent[] } {
  const { agents } = chosenAgents(report, {})
  const [root] = agents
  if (!root) throw new TroupeError('internal', `The agent of ${report.files[0]} is not among those that were read.`)
  return { root, agents }
}

/** Files with keys, which agents cannot read. */
const variableFiles = ({ setup: { config } }: ProjectReport): readonly string[] =>
  config.layers.flatMap(({ variables }) => variables.map(({ file: { path } }) => path)).filter((path) => existsSync(path))

/** Schemas that look right and cannot be compiled all the same, as an error. */
export async function schemaErrors(files: readonly StatedContracts[]): Promise<readonly TroupeError[]> {
  const problems = await contractProblems(files)
  return problems.length === 0 ? [] : [new TroupeError('agent_file_invalid', 'Some schemas cannot be used.', { problems })]
}

async function checkSchemasAndFolder(agents: readonly RegisteredAgent[], { folder, database }: StorePlace): Promise<void> {
  const errors = [...(await schemaErrors(agents.map(({ definition, place }) => ({ agent: definition, place }))))]
  const unwritable = database ? undefined : dataFolderProblem(folder)
  if (unwritable) errors.push(new TroupeError('config_invalid', 'The data folder cannot be used.', { problems: [unwritable] }))
  if (errors.length > 0) throw joinErrors(errors)
}

function openedOnce(openStore: () => Promise<Store>): { open(): Promise<Store>; close(): Promise<void> } {
  let opened: Promise<Store> | undefined
  return {
    open() {
      opened ??= openStore()
      return opened
    },
    close: async () => (await opened?.catch(() => undefined))?.close(),
  }
}
