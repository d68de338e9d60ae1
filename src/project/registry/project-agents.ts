import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { TroupeError } from '../../contracts/index.ts'
import { fileStem, safeName } from '../agent-file/safe-name.ts'
import { dialectFolders } from '../dialects/detect-dialect.ts'
import { parseForeignAgent } from '../dialects/parse-foreign-agent.ts'
import { isOwnFile, readContent, realPath } from './agent-paths.ts'
import { configuredPaths } from './configured-agents.ts'
import { Confinement } from './confinement.ts'
import { findAgentPaths } from './find-agent-paths.ts'
import { dialectIn } from './load-foreign-file.ts'
import type { RegistryOptions } from './registry-options.ts'

export interface NamedAgent {
  readonly name: string
  readonly path: string
}

/** Of the agent that people talk to. It is found here without an entry in the configuration. */
const orchestratorFile = join('agents', 'orchestrator.ai')

/** Absolute paths of the agents in a project's folder and in those of other programs. */
export function projectAgentPaths(folder: string): readonly string[] {
  const own = [...findAgentPaths(join(folder, '*.ai')).paths, ...[join(folder, orchestratorFile)].filter((path) => existsSync(path))]
  const foreign = dialectFolders.map((each) => join(folder, each)).filter((path) => existsSync(path))
  return [...own, ...foreign.flatMap((path) => findAgentPaths(path).paths)]
}

/** Skips files that cannot be read. */
export function projectAgents(folder: string): readonly NamedAgent[] {
  try {
    return namedAgents(projectAgentPaths(folder))
  } catch (error) {
    if (error instanceof TroupeError) return []
    throw error
  }
}

/** The agents of the project and of the configuration, with their names only: nothing else in the files is checked. */
export function listAgentNames({ config, trusted, environment, workingDirectory }: ProjectFiles): readonly NamedAgent[] {
  const listed = configuredPaths({ config, environment }, new Confinement(config, trusted))
  return namedAgents([...projectAgentPaths(workingDirectory), ...(listed?.files.map(({ path }) => path) ?? [])])
}

type ProjectFiles = Pick<RegistryOptions, 'config' | 'trusted' | 'environment' | 'workingDirectory'>

function namedAgents(paths: readonly string[]): readonly NamedAgent[] {
  return [...new Set(paths.map(realPath))].flatMap((path) => {
    const name = nameIn(path)
    return name === undefined ? [] : [{ name, path }]
  })
}

/** The agents with a name, preferably those in the folder of `from`. */
export function agentsNamed(written: string, among: readonly NamedAgent[], from?: string): readonly NamedAgent[] {
  const called = among.filter(({ name, path }) => path !== from && (name === written || name === safeName(written)))
  const beside = from === undefined ? [] : called.filter(({ path }) => dirname(path) === dirname(from))
  return beside.length > 0 ? beside : called
}

function nameIn(path: string): string | undefined {
  const content = readContent(path)
  if (!content.ok) return undefined
  if (isOwnFile(path)) return toolNameIn(content.bytes) ?? fileStem(path)
  const dialect = dialectIn(path, content.bytes)
  if (dialect === undefined) return undefined
  try {
    return parseForeignAgent(content.bytes, path, dialect).name
  } catch (error) {
    if (error instanceof TroupeError) return undefined
    throw error
  }
}

const toolNameIn = (bytes: Uint8Array): string | undefined =>
  /^toolName:[ \t]*["']?([\w.-]+)/m.exec(new TextDecoder().decode(bytes.subarray(0, 32_768)))?.[1]
