import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { TroupeError } from '../../contracts/index.ts'
import { modelSourceNames } from '../../models/by-name/index.ts'
import {
  type AgentDiagnostic,
  type AgentOverrides,
  configError,
  loadRegistry,
  type Registry,
  registryError,
  unknownTools,
  unusedQueues,
} from '../../project/index.ts'
import type { Host } from '../host/process-host.ts'
import { extensionIds } from '../kernel/extension-places.ts'
import { misspeltModels } from '../models/check-model-names.ts'
import { type ConfigOptions, type ReadSetup, readSetup } from './load-config.ts'
import { ModuleImporter, type ModuleTools } from './tool-modules.ts'

export interface ReadAgentsOptions extends ConfigOptions {
  /** The requested files, relative to the working directory. */
  readonly roots: readonly string[]
  readonly scope: 'everything' | 'reachable'
  /** Settings of the command line for the requested files. */
  readonly flags?: AgentOverrides
  /** Whether to import trusted modules with tools. Default: `false`. */
  readonly importsModules?: boolean
}

/** Agents and their setup, which may have errors. */
export interface ReadAgents extends ReadSetup {
  readonly registry: Registry
  readonly moduleTools: ModuleTools
  /** Files that agents use besides agent files: schemas and included files. */
  readonly usedFiles: readonly string[]
  /** Errors of the setup and of the agents. */
  readonly errors: readonly TroupeError[]
}

/** A team has the configuration of its root. Warns about configuration files next to children. */
function unusedConfigs(
  registry: Registry,
  { workingDirectory }: ReadSetup['setup'],
  { file, configFile }: ConfigOptions,
): readonly AgentDiagnostic[] {
  const read = new Set([workingDirectory, ...(file === undefined ? [] : [dirname(resolve(file))])])
  const children = registry.ok ? registry.agents.filter(({ path }) => !read.has(dirname(path))) : []
  const folders = new Map(children.map((agent) => [dirname(agent.path), agent]))
  return [...folders].flatMap(([folder, { definition }]) =>
    ['.ai-agent.json', '.ai-agent.env'].flatMap((name): readonly AgentDiagnostic[] => {
      const path = join(folder, name)
      if (!hasContent(path) || (configFile !== undefined && resolve(configFile) === path)) return []
      const message = `this file does not apply to \`${definition.toolName}\` as a child: a team uses the configuration of its root agent`
      return [
        {
          code: 'agent_config_unused',
          severity: 'warning',
          place: path,
          message,
          remedy: `Add its settings to ${join(workingDirectory, name)}.`,
        },
      ]
    }),
  )
}

function hasContent(path: string): boolean {
  try {
    return !/^\s*(?:\{\s*\}\s*)?$/.test(readFileSync(path, 'utf8'))
  } catch {
    return false
  }
}

export async function readAgents(
  host: Pick<Host, 'env'>,
  { roots, scope, flags, importsModules = false, ...options }: ReadAgentsOptions,
): Promise<ReadAgents> {
  const { setup, isConfigured, errors } = await readSetup(host, options)
  const { config, environment, trusted, variables, workingDirectory } = setup
  const importer = new ModuleImporter()
  const usedFiles = new Set<string>()
  const registry = await loadRegistry({
    onFile: (path) => void usedFiles.add(path),
    roots,
    scope,
    workingDirectory,
    config,
    isConfigFaulty: !isConfigured,
    environment,
    trusted,
    variables,
    ...(flags && { flags }),
    ...(importsModules && { importModules: importer.importModules }),
  })
  const named = registry.readable.flatMap(({ agent }) => agent.models.map((model) => model.split('/', 1)[0] ?? model))
  const diagnostics = [...setup.diagnostics, ...unusedQueues({ config, environment }, [...modelSourceNames, ...named])]
  const unknown = unknownTools(config, [...registry.found.map(({ toolName }) => `agent__${toolName}`), ...registry.moduleTools.names], {
    areIncomplete: registry.moduleTools.areIncomplete,
    sources: extensionIds(workingDirectory),
  })
  const advice = [
    ...(await misspeltModels(registry.readable, setup)),
    ...(scope === 'reachable' ? unusedConfigs(registry, setup, options) : []),
  ]
  return {
    setup: { ...setup, diagnostics: [...diagnostics, ...unknown.diagnostics] },
    isConfigured,
    moduleTools: importer.loaded,
    usedFiles: [...usedFiles],
    registry: { ...registry, diagnostics: [...registry.diagnostics, ...advice] },
    errors: [
      ...errors,
      ...(unknown.problems.length > 0 ? [configError(unknown.problems)] : []),
      ...(registry.ok ? [] : [registryError(registry.problems)]),
    ],
  }
}
