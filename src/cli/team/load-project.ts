import { basename, dirname, relative, resolve } from 'node:path'
import type { TroupeError } from '../../contracts/index.ts'
import {
  type AgentDiagnostic,
  type ConfigDiagnostic,
  findAgentPaths,
  isAgentFile,
  projectAgentPaths,
  type Registry,
} from '../../project/index.ts'
import type { Host } from '../host/process-host.ts'
import { joinErrors } from '../terminal/print-errors.ts'
import type { Setup } from './load-config.ts'
import { readAgents } from './read-agents.ts'

export interface ProjectOptions {
  readonly configFile?: string | undefined
  /** Whether to import trusted modules with tools. Default: `false`. */
  readonly importsModules?: boolean
}

/** The agents and the setup of a folder. Both may have errors. */
export interface Project {
  readonly setup: Setup
  /** Whether the whole configuration could be read. */
  readonly isConfigured: boolean
  readonly registry: Registry
  /** All errors of the configuration and the agents, joined. */
  readonly error?: TroupeError
  readonly diagnostics: readonly (AgentDiagnostic | ConfigDiagnostic)[]
}

/** The agents of the working directory, of the configuration and of other programs. */
export async function loadProject(host: Pick<Host, 'env'>, options: ProjectOptions): Promise<Project> {
  return load(host, { ...options, scope: 'everything', roots: usualFiles(process.cwd()) })
}

/**
 * The agents of files and folders, with their children. Each folder is a project of its own and is read with the
 * configuration in it, as a run would do.
 */
export async function loadPlaces(
  host: Pick<Host, 'env'>,
  { paths, ...options }: ProjectOptions & { readonly paths: readonly string[] },
): Promise<readonly Project[]> {
  const folders = new Map<string, string[]>()
  for (const path of new Set(paths.flatMap(filesAt))) {
    const folder = dirname(resolve(path))
    folders.set(folder, [...(folders.get(folder) ?? []), path])
  }
  const groups = folders.size > 0 ? [...folders.values()] : [[]]
  return Promise.all(groups.map((roots) => load(host, { ...options, scope: 'reachable', roots })))
}

interface Wanted extends ProjectOptions {
  readonly scope: 'everything' | 'reachable'
  readonly roots: readonly string[]
}

async function load(host: Pick<Host, 'env'>, options: Wanted): Promise<Project> {
  const file = options.scope === 'reachable' ? options.roots[0] : undefined
  const { setup, isConfigured, registry, errors } = await readAgents(host, { ...options, file })
  return {
    setup,
    isConfigured,
    registry,
    ...(errors.length > 0 && { error: joinErrors(errors) }),
    diagnostics: [...setup.diagnostics, ...registry.diagnostics],
  }
}

/** A file as written, so that errors show the same path; the agents of a folder. */
function filesAt(written: string): readonly string[] {
  const { paths, isNamed } = findAgentPaths(resolve(written))
  return isNamed ? [written] : paths.filter((path) => !isSkill(path) && isAgentFile(path)).map((path) => relative('', path))
}

const isSkill = (path: string): boolean => basename(path) === 'SKILL.md'

const usualFiles = (folder: string): readonly string[] => projectAgentPaths(folder).map((path) => relative(folder, path))
