import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import {
  type AgentDiagnostic,
  type AgentOverrides,
  configError,
  loadRegistry,
  type Registry,
  registryError,
  unknownTools,
  unusedQueues,
} from '../../agents/index.ts'
import type { TroupeError } from '../../contracts/index.ts'
import { modelSourceNames } from '../../models/by-name/index.ts'
import type { Host } from '../host/process-host.ts'
import { misspeltModels } from '../models/misspelt-models.ts'
import { type ConfigOptions, type ReadSetup, readSetup } from './load-config.ts'

export interface ReadAgentsOptions extends ConfigOptions {
  /** Files that are asked for, relative to the working directory. */
  readonly roots: readonly string[]
  readonly scope: 'everything' | 'reachable'
  /** What the command line says over the files that are asked for. */
  readonly flags?: AgentOverrides
}

/** Agents with what surrounds them, right or wrong. */
export interface ReadAgents extends ReadSetup {
  readonly registry: Registry
  /** Of the surroundings and of the agents. */
  readonly wrong: readonly TroupeError[]
}

/** A child has the configuration of its team: what stands beside its own file applies only where it is run by itself. */
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
      if (!saysSomething(path) || (configFile !== undefined && resolve(configFile) === path)) return []
      const message = `it does not apply to \`${definition.toolName}\` in this team: a team has the configuration of the agent that is run`
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

function saysSomething(path: string): boolean {
  try {
    return !/^\s*(?:\{\s*\}\s*)?$/.test(readFileSync(path, 'utf8'))
  } catch {
    return false
  }
}

export async function readAgents(host: Pick<Host, 'env'>, { roots, scope, flags, ...display }: ReadAgentsOptions): Promise<ReadAgents> {
  const { setup, isConfigured, wrong } = await readSetup(host, display)
  const { config, environment, trusted, variables, workingDirectory } = setup
  const registry = await loadRegistry({
    roots,
    scope,
    workingDirectory,
    config,
    isConfigFaulty: !isConfigured,
    environment,
    trusted,
    variables,
    ...(flags && { flags }),
  })
  const named = registry.readable.flatMap(({ agent }) => agent.models.map((model) => model.split('/', 1)[0] ?? model))
  const diagnostics = [...setup.diagnostics, ...unusedQueues({ config, environment }, [...modelSourceNames, ...named])]
  const unknown = unknownTools(
    config,
    registry.found.map(({ toolName }) => `agent__${toolName}`),
  )
  const advice = [
    ...(await misspeltModels(registry.readable, setup)),
    ...(scope === 'reachable' ? unusedConfigs(registry, setup, display) : []),
  ]
  return {
    setup: { ...setup, diagnostics: [...diagnostics, ...unknown.diagnostics] },
    isConfigured,
    registry: { ...registry, diagnostics: [...registry.diagnostics, ...advice] },
    wrong: [
      ...wrong,
      ...(unknown.problems.length > 0 ? [configError(unknown.problems)] : []),
      ...(registry.ok ? [] : [registryError(registry.problems)]),
    ],
  }
}
