import { existsSync } from 'node:fs'
import { basename, dirname, relative, resolve } from 'node:path'
import { TroupeError } from '../contracts/index.ts'
import { modelSourceNames } from '../models/by-name/index.ts'
import { joinErrors } from '../util/join-errors.ts'
import { type OverrideArguments, parseOverrides } from './agent-file/overrides.ts'
import { configError } from './config/load-config.ts'
import type { FileState } from './config/trust/trust-records.ts'
import { unknownExtensions, unknownTools, unusedQueues } from './config/unknown-names.ts'
import { serverFaults } from './mcp/server-faults.ts'
import { misspeltModels } from './models/check-model-names.ts'
import { openProject, validAgents } from './open-project.ts'
import type { AgentOverrides } from './options/option-values.ts'
import type { ProjectReport } from './project-report.ts'
import { findAgentPaths } from './registry/find-agent-paths.ts'
import { isAgentFile } from './registry/load-foreign-file.ts'
import { loadRegistry, registryError } from './registry/load-registry.ts'
import type { OnMissingTools } from './registry/missing-tools.ts'
import { projectAgentPaths } from './registry/project-agents.ts'
import type { RegisteredAgent } from './registry/registered-agent.ts'
import { extensionIds } from './setup/extension-folders.ts'
import type { ProjectPlace } from './setup/project-place.ts'
import { readSetup, type Setup } from './setup/read-setup.ts'
import { type StartDiagnostic, withIgnoredSettings } from './setup/start-diagnostics.ts'
import { untrustedFiles } from './trust/untrusted-files.ts'
import { unusedConfigFiles } from './unused-config-files.ts'
import { unknownAgents, webhookProblems } from './webhooks/webhook-settings.ts'
import { ModuleImporter } from './workspace/tool-modules.ts'

export interface LoadProjectOptions extends ProjectPlace {
  /**
   * One agent file, or a list of files, folders and patterns such as `agents/*.ai`; with the agents that they call. Default: every
   * agent of the project.
   */
  readonly agents?: string | readonly string[] | undefined
  /** A configuration file that is read before the others. */
  readonly configFile?: string | undefined
  /** Settings for the named agents that win over their files. */
  readonly settings?: OverrideArguments | undefined
  /** Files to trust in their current form, besides those that a person has trusted. */
  readonly alsoTrusted?: readonly FileState[] | undefined
  /** Whether to import trusted modules with tools. Default: `true`. */
  readonly importsModules?: boolean | undefined
  /**
   * What happens to agents that list tools that cannot exist. `refuse`: it is a problem of the report. `report`: they start without
   * these tools, with a diagnostic. `leave out`: only the other agents start, and the orchestrator without these tools. Default: `refuse`.
   */
  readonly onMissingTools?: OnMissingTools | undefined
}

/**
 * Reads the agents, the configuration and the list of trusted files of a folder. Problems of their content are in the report.
 *
 * @example
 * const project = await loadProject({ cwd: '/srv/agents', env: process.env })
 * const server = await createServer({ project })
 *
 * @throws TroupeError `usage` if there is no such folder, or a named folder or pattern contains no agent.
 */
export async function loadProject(options: LoadProjectOptions): Promise<ProjectReport> {
  if (!existsSync(options.cwd))
    throw new TroupeError('usage', `There is no folder ${options.cwd}.`, { remedy: 'Give `cwd` of an existing folder.' })
  return readReport(options, () => filesToRead(options))
}

/**
 * The agents of files and folders, with those that they call. Each folder is a project of its own and is read with the configuration
 * in it, as a run would do.
 */
export async function loadProjectsAt(
  paths: readonly string[],
  options: Omit<LoadProjectOptions, 'agents'>,
): Promise<readonly ProjectReport[]> {
  const { cwd } = options
  const folders = Map.groupBy(new Set(paths.flatMap((path) => agentFilesAt(path, cwd))), (path) => dirname(resolve(cwd, path)))
  const groups = folders.size > 0 ? [...folders.values()] : [[]]
  return Promise.all(
    groups.map((files) => readReport(options, () => ({ scope: 'reachable', files, configFolderOf: files[0], written: files }))),
  )
}

/** One agent file with everything that it needs, for display: tools may be missing. Throws all other errors. Resolves no models. */
export async function readAgent(file: string, options: Omit<LoadProjectOptions, 'agents'>): Promise<ReadAgent> {
  const report = await loadProject({ ...options, agents: file, onMissingTools: 'report' })
  try {
    return { ...validAgents(report), setup: report.setup, diagnostics: report.diagnostics }
  } catch (error) {
    throw error instanceof TroupeError ? withIgnoredSettings(error, report.diagnostics) : error
  }
}

interface ReadAgent {
  readonly root: RegisteredAgent
  /** The agent and those that it calls. */
  readonly agents: readonly RegisteredAgent[]
  readonly setup: Setup
  readonly diagnostics: readonly StartDiagnostic[]
}

interface FilesToRead {
  readonly scope: 'everything' | 'reachable'
  /** As written: files, folders and patterns. */
  readonly written: readonly string[]
  /** Relative to the folder. */
  readonly files: readonly string[]
  /** The folder of this file may have a configuration, too. */
  readonly configFolderOf: string | undefined
}

function filesToRead({ agents, cwd }: LoadProjectOptions): FilesToRead {
  if (agents === undefined)
    return { scope: 'everything', files: projectAgentPaths(cwd).map((path) => relative(cwd, path)), configFolderOf: undefined, written: [] }
  if (typeof agents === 'string') return { scope: 'reachable', files: [agents], configFolderOf: agents, written: [agents] }
  const files = [...new Set(agents.flatMap((written) => agentFilesAtLeastOne(written, cwd)))]
  const folders = new Set(files.map((path) => dirname(resolve(cwd, path))))
  return { scope: 'reachable', files, configFolderOf: folders.size === 1 ? files[0] : undefined, written: agents }
}

/** A file as written, so that errors show the same path; the agents of a folder. */
function agentFilesAt(written: string, cwd: string): readonly string[] {
  const { paths, isNamed } = findAgentPaths(resolve(cwd, written))
  return isNamed ? [written] : paths.filter((path) => !isSkill(path) && isAgentFile(path)).map((path) => relative(cwd, path))
}

const isSkill = (path: string): boolean => basename(path) === 'SKILL.md'

function agentFilesAtLeastOne(written: string, cwd: string): readonly string[] {
  const found = agentFilesAt(written, cwd)
  if (found.length > 0) return found
  throw new TroupeError('usage', `--agent ${written}: no agent file found.`, {
    remedy: 'Name a file, a folder or a pattern such as "agents/*.ai".',
  })
}

/** `find`: again for each reading, because files are added and removed. */
async function readReport(options: Omit<LoadProjectOptions, 'agents'>, find: () => FilesToRead): Promise<ProjectReport> {
  const { cwd, env, configFile, alsoTrusted, importsModules = true, onMissingTools = 'refuse' } = options
  const { scope, files, written, configFolderOf: file } = find()
  const overrides = readOverrides(options.settings)
  const { setup, isConfigured, errors: setupErrors } = await readSetup({ cwd, env }, { configFile, file, alsoTrusted })
  const { config, environment, trusted, variables } = setup
  const importer = new ModuleImporter()
  const usedFiles = new Set<string>()
  const extensions = extensionIds({ cwd, env })
  const registry = await loadRegistry({
    onFile: (path) => void usedFiles.add(path),
    roots: files,
    scope,
    workingDirectory: cwd,
    config,
    isConfigFaulty: !isConfigured,
    environment,
    trusted,
    variables,
    flags: overrides.values,
    findServerFaults: serverFaults(setup),
    onMissingTools,
    extensions,
    ...(importsModules && { importModules: importer.importModules }),
  })
  const providers = registry.readable.flatMap(({ agent }) => agent.models.map((model) => model.split('/', 1)[0] ?? model))
  const unknown = unknownTools(config, [...registry.found.map(({ toolName }) => `agent__${toolName}`), ...registry.moduleTools.names], {
    areIncomplete: registry.moduleTools.areIncomplete,
    extensions,
  })
  const strangers = unknownExtensions(config, extensions)
  const names = registry.found.map(({ name }) => name)
  const diagnostics = [
    ...setup.diagnostics,
    ...unusedQueues({ config, environment }, [...modelSourceNames, ...providers]),
    ...unknown.diagnostics,
    ...strangers.diagnostics,
    ...(scope === 'everything' ? unknownAgents(config, names) : []),
  ]
  const advice = [
    ...(await misspeltModels(registry.readable, setup)),
    ...(scope === 'reachable' ? unusedConfigFiles(registry, setup, { file, configFile }) : []),
  ]
  const templates = await webhookProblems(config)
  const errors = [
    ...overrides.errors,
    ...setupErrors,
    ...[unknown.problems, strangers.problems, templates].flatMap((problems) => (problems.length > 0 ? [configError(problems)] : [])),
    ...(registry.ok ? [] : [registryError(registry.problems)]),
  ]
  const error = errors.length === 0 ? undefined : joinErrors(errors)
  const report: ProjectReport = {
    ok: error === undefined,
    problems: error?.problems ?? [],
    ...(error && { error }),
    errors,
    diagnostics: [...diagnostics, ...registry.diagnostics, ...advice],
    setup: { ...setup, diagnostics },
    isConfigured,
    registry: { ...registry, diagnostics: [...registry.diagnostics, ...advice] },
    untrusted: untrustedFiles(setup, registry),
    moduleTools: importer.loaded,
    usedFiles: [...usedFiles],
    asked: { agents: written, configFile },
    files,
    named: scope === 'reachable' && registry.ok ? registry.roots : [],
    async open(given) {
      try {
        return await openProject(report, given)
      } catch (thrown) {
        throw thrown instanceof TroupeError ? withIgnoredSettings(thrown, report.diagnostics) : thrown
      }
    },
    reload: () => readReport(options, find),
  }
  return report
}

interface ReadOverrides {
  readonly values: AgentOverrides
  readonly errors: readonly TroupeError[]
}

function readOverrides(written: OverrideArguments = { settings: [] }): ReadOverrides {
  try {
    return { values: parseOverrides(written), errors: [] }
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error
    return { values: new Map(), errors: [error] }
  }
}
