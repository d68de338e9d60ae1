import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { type ModelAdapter, TroupeError } from '../../contracts/index.ts'
import type { McpOptions } from '../../runtime/index.ts'
import { dataFolder, dataFolderProblem } from '../host/data-folder.ts'
import type { Host } from '../host/process-host.ts'
import { mcpOptionsOf } from '../mcp/server-host.ts'
import { joinErrors } from '../terminal/print-errors.ts'
import { type ResolvedAgents, schemaErrors } from './load-team.ts'
import { createWorkspaceTools, type WorkspaceToolOptions, type WorkspaceTools } from './workspace-tools.ts'

/** What a runtime needs for its agents, checked. */
export interface PreparedAgents extends Pick<WorkspaceTools, 'sandbox' | 'hooks' | 'withoutTerminal' | 'project' | 'kitAt'> {
  /** With the models that are available. */
  readonly agents: WorkspaceTools['agents']
  readonly adapter: ModelAdapter
  readonly shared: ResolvedAgents['shared'] & WorkspaceTools['shared']
  /** Of MCP servers. */
  readonly mcp: McpOptions
  readonly workspace: string
  /** The data folder. */
  readonly folder: string
  /** About the selected models. */
  readonly notices: readonly string[]
  /** Settings that are ignored, or applied only in part. */
  readonly diagnostics: ResolvedAgents['diagnostics']
}

/** Flags of the command line. */
export interface PrepareOptions extends Pick<WorkspaceToolOptions, 'allow' | 'deny' | 'dryRun' | 'hasExtensions'> {
  readonly dataDir?: string | undefined
}

/** Creates the tools of agents. Throws all problems that would prevent their start. */
export async function prepareAgents(resolved: ResolvedAgents, options: PrepareOptions, host: Host): Promise<PreparedAgents> {
  const { agents, adapter, setup, storePath } = resolved
  const folder = dataFolder({ flag: options.dataDir ?? storePath, env: host.env, home: homedir() })
  await checkSchemasAndFolder(agents, folder)
  const { config, workingDirectory } = setup
  const keys = config.layers.flatMap(({ variables }) => variables.map(({ file: { path } }) => path)).filter((path) => existsSync(path))
  const hidden = [folder, dataFolder({ flag: undefined, env: host.env, home: homedir() }), ...keys]
  const { allow, deny, dryRun, hasExtensions } = options
  const { shared, notices, ...kit } = await createWorkspaceTools(agents, {
    allow,
    deny,
    dryRun,
    hasExtensions,
    host,
    config,
    workingDirectory,
    hidden,
    moduleTools: resolved.moduleTools,
    // Trust for a dry run is not in the stored list.
    ...(dryRun && { trusted: setup.trusted }),
  })
  return {
    ...kit,
    adapter,
    shared: { ...resolved.shared, ...shared },
    mcp: mcpOptionsOf(host, setup),
    workspace: workingDirectory,
    folder,
    notices: [...resolved.notices, ...notices],
    diagnostics: resolved.diagnostics.filter(({ severity }) => severity !== 'info'),
  }
}

export async function checkSchemasAndFolder(agents: ResolvedAgents['agents'], folder: string): Promise<void> {
  const errors = [...(await schemaErrors(agents.map(({ definition, place }) => ({ agent: definition, place }))))]
  const unwritable = dataFolderProblem(folder)
  if (unwritable) errors.push(new TroupeError('config_invalid', 'The data folder cannot be used.', { problems: [unwritable] }))
  if (errors.length > 0) throw joinErrors(errors)
}
