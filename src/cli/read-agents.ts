import { type AgentOverrides, idleQueues, loadRegistry, type Registry, registryError } from '../agents/index.ts'
import type { TroupeError } from '../contracts/index.ts'
import { modelSourceNames } from '../models/by-name/index.ts'
import { type ReadSetup, readSetup, type SetupWishes } from './config-setup.ts'
import type { Host } from './host.ts'

export interface AgentsWishes extends SetupWishes {
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

export async function readAgents(host: Pick<Host, 'env'>, { roots, scope, flags, ...wishes }: AgentsWishes): Promise<ReadAgents> {
  const { setup, isConfigured, wrong } = await readSetup(host, wishes)
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
  const named = registry.said.flatMap(({ agent }) => agent.models.map((model) => model.split('/', 1)[0] ?? model))
  const diagnostics = [...setup.diagnostics, ...idleQueues({ config, environment }, [...modelSourceNames, ...named])]
  return {
    setup: { ...setup, diagnostics },
    isConfigured,
    registry,
    wrong: [...wrong, ...(registry.ok ? [] : [registryError(registry.problems)])],
  }
}
