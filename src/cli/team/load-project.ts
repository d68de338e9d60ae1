import { basename, dirname, relative, resolve } from 'node:path'
import {
  type AgentDiagnostic,
  type ConfigDiagnostic,
  findAgentPaths,
  isAgentFile,
  projectAgentPaths,
  type Registry,
} from '../../agents/index.ts'
import type { TroupeError } from '../../contracts/index.ts'
import type { Host } from '../host/process-host.ts'
import { joinErrors } from '../terminal/print-errors.ts'
import type { Setup } from './load-config.ts'
import { readAgents } from './read-agents.ts'

export interface ProjectOptions {
  readonly configFile?: string
}

/** The agents of a place with what surrounds them, right or wrong. */
export interface Project {
  readonly setup: Setup
  /** Whether the configuration could be read: otherwise nobody knows what it would have said. */
  readonly isConfigured: boolean
  readonly registry: Registry
  /** What is wrong with the configuration or with any agent, as one. */
  readonly error?: TroupeError
  readonly diagnostics: readonly (AgentDiagnostic | ConfigDiagnostic)[]
}

/** The agents of the working directory, of the configuration and of other programs. */
export async function loadProject(host: Pick<Host, 'env'>, { configFile }: ProjectOptions): Promise<Project> {
  return load(host, { ...(configFile !== undefined && { configFile }), scope: 'everything', roots: usualFiles(process.cwd()) })
}

/**
 * The agents of files and folders, with their children. Those of one folder are looked at together, and with the
 * configuration that stands there, as a run of them would: so a folder of projects is right where each of them is.
 */
export async function loadPlaces(
  host: Pick<Host, 'env'>,
  { paths, configFile }: ProjectOptions & { readonly paths: readonly string[] },
): Promise<readonly Project[]> {
  const folders = new Map<string, string[]>()
  for (const path of new Set(paths.flatMap(filesAt))) {
    const folder = dirname(resolve(path))
    folders.set(folder, [...(folders.get(folder) ?? []), path])
  }
  const groups = folders.size > 0 ? [...folders.values()] : [[]]
  const given = configFile === undefined ? {} : { configFile }
  return Promise.all(groups.map((roots) => load(host, { ...given, scope: 'reachable', roots })))
}

interface Wanted extends ProjectOptions {
  readonly scope: 'everything' | 'reachable'
  readonly roots: readonly string[]
}

async function load(host: Pick<Host, 'env'>, { configFile, scope, roots }: Wanted): Promise<Project> {
  const [file] = scope === 'reachable' ? roots : []
  const display = { ...(configFile !== undefined && { configFile }), ...(file !== undefined && { file }) }
  const { setup, isConfigured, registry, wrong } = await readAgents(host, { ...display, scope, roots })
  return {
    setup,
    isConfigured,
    registry,
    ...(wrong.length > 0 && { error: joinErrors(wrong) }),
    diagnostics: [...setup.diagnostics, ...registry.diagnostics],
  }
}

/** As written where a file is named, so that problems name it as its author does. Of a folder, those that are agents. */
function filesAt(written: string): readonly string[] {
  const { paths, isNamed } = findAgentPaths(resolve(written))
  return isNamed ? [written] : paths.filter((path) => !isSkill(path) && isAgentFile(path)).map((path) => relative('', path))
}

/** A skill has a name and a description too, and is no agent. */
const isSkill = (path: string): boolean => basename(path) === 'SKILL.md'

const usualFiles = (folder: string): readonly string[] => projectAgentPaths(folder).map((path) => relative(folder, path))
