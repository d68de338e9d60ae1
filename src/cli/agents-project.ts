import { existsSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import {
  type AgentDiagnostic,
  type ConfigDiagnostic,
  dialectFolders,
  findAgentPaths,
  loadRegistry,
  type Registry,
  registryError,
} from '../agents/index.ts'
import { TroupeError } from '../contracts/index.ts'
import { loadSetup, type Setup, setupWithoutConfig } from './config-setup.ts'
import type { Host } from './host.ts'
import { joinErrors } from './join-errors.ts'

export interface ProjectWishes {
  readonly configFile?: string
  /** Files and folders; none means the agents of the working directory, of the configuration and of other programs. */
  readonly paths?: readonly string[]
}

/** The agents of a place with what surrounds them, right or wrong. */
export interface Project {
  readonly setup: Setup
  readonly registry: Registry
  /** What is wrong with the configuration or with any agent, as one. */
  readonly error?: TroupeError
  readonly diagnostics: readonly (AgentDiagnostic | ConfigDiagnostic)[]
}

export async function loadProject(host: Pick<Host, 'env'>, { configFile, paths = [] }: ProjectWishes): Promise<Project> {
  const wrong: TroupeError[] = []
  const setup = await loadSetup(host, configFile === undefined ? {} : { configFile }).catch((error: unknown) => {
    if (!(error instanceof TroupeError)) throw error
    wrong.push(error)
    return setupWithoutConfig(host)
  })
  const { config, environment, trusted, variables, workingDirectory } = setup
  const registry = await loadRegistry({
    roots: paths.length > 0 ? paths.flatMap((path) => filesAt(path)) : usualFiles(workingDirectory),
    scope: paths.length > 0 ? 'reachable' : 'everything',
    workingDirectory,
    config: wrong.length > 0 ? undefined : config,
    environment,
    trusted,
    variables,
  })
  if (!registry.ok) wrong.push(registryError(registry.problems))
  return {
    setup,
    registry,
    ...(wrong.length > 0 && { error: joinErrors(wrong) }),
    diagnostics: [...setup.diagnostics, ...registry.diagnostics],
  }
}

/** As written where a file is named, so that problems name it as its author does. */
function filesAt(written: string): readonly string[] {
  const { paths, isNamed } = findAgentPaths(resolve(written))
  return isNamed ? [written] : paths.map((path) => relative('', path))
}

function usualFiles(folder: string): readonly string[] {
  const own = findAgentPaths(join(folder, '*.ai')).paths
  const foreign = dialectFolders.map((each) => join(folder, each)).filter((path) => existsSync(path))
  return [...own, ...foreign.flatMap((path) => findAgentPaths(path).paths)].map((path) => relative(folder, path))
}
