import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { agentPathsOf, dialectFolders, homeFolder, hooksOf, type Project, skillsOf } from '../../project/index.ts'
import { contextFile } from '../../tools/project-context/index.ts'
import { userSkillDirectories } from '../../tools/skills/index.ts'
import { isInside } from '../../util/is-inside.ts'

/** Files and folders whose changes change the definitions of agents. Paths are absolute and real. */
export interface WatchedPaths {
  readonly files: ReadonlySet<string>
  /** Agent files directly in these. */
  readonly folders: ReadonlySet<string>
  /** Agent files in these and in folders below them. */
  readonly agentTrees: ReadonlySet<string>
  /** Everything below these. */
  readonly skillTrees: ReadonlySet<string>
}

const configNames = ['.ai-agent.json', '.ai-agent.env', '.mcp.json']
const agentName = /\.(?:ai|md|toml)$/i
const isSkipped = (path: string): boolean => /[/\\](?:node_modules|\.git)(?:[/\\]|$)/.test(path)

export function watchedPaths({ report, hooks }: Pick<Project, 'report' | 'hooks'>): WatchedPaths {
  const { setup, registry, moduleTools, usedFiles, asked } = report
  const { agents, configFile } = asked
  const { config, environment, workingDirectory } = setup
  const home = homeFolder(environment)
  const agentFiles = registry.files.map((file) => resolve(workingDirectory, file))
  const configFolders = [workingDirectory, ...agentFiles.map((file) => dirname(file)), join(home, '.ai-agent'), '/etc/ai-agent']
  const named = agents.map((written) => resolve(workingDirectory, written))
  const hookFolders = hooks.length > 0 ? hooksOf(config).map(({ baseDir }) => baseDir) : []
  return {
    files: real([
      ...agentFiles,
      ...usedFiles,
      ...moduleTools.files,
      ...configFolders.flatMap((folder) => configNames.map((name) => join(folder, name))),
      ...[workingDirectory, ...hookFolders].map((folder) => join(folder, contextFile)),
      ...(configFile === undefined
        ? []
        : [resolve(workingDirectory, configFile), `${resolve(workingDirectory, configFile).replace(/\.json$/i, '')}.env`]),
    ]),
    folders: real([...agentFiles.map((file) => dirname(file)), ...(named.length === 0 ? [workingDirectory] : named.map(fixedFolder))]),
    agentTrees: real([
      ...(named.length === 0
        ? dialectFolders.map((folder) => join(workingDirectory, folder))
        : named.filter(isFolderOrPattern).map(fixedFolder)),
      ...agentPathsOf({ config, environment }).filter(isFolderOrPattern).map(fixedFolder),
    ]),
    skillTrees: real([...skillsOf(config).directories, ...userSkillDirectories(workingDirectory), ...userSkillDirectories(home)]),
  }
}

const magic = /[*?[\]{}]/
const isFolderOrPattern = (path: string): boolean => magic.test(path) || !agentName.test(path)

/** The folder of a file, a folder itself, or the last folder of a pattern without wildcards. */
function fixedFolder(path: string): string {
  let folder = isFolderOrPattern(path) ? path : dirname(path)
  while (magic.test(folder)) folder = dirname(folder)
  return folder
}

/** Existing folders are resolved; a file may not exist yet. */
function real(paths: readonly string[]): ReadonlySet<string> {
  return new Set(
    paths.map((path) => {
      const folder = dirname(path)
      if (existsSync(path)) return realpathSync(path)
      return existsSync(folder) ? join(realpathSync(folder), basename(path)) : path
    }),
  )
}

/** The folders to watch. Those that do not exist cannot be watched; they are looked for again after each change. */
export const foldersToWatch = ({ files, folders, agentTrees, skillTrees }: WatchedPaths): ReadonlySet<string> =>
  new Set([...[...files].map((file) => dirname(file)), ...folders, ...agentTrees, ...skillTrees].filter((path) => existsSync(path)))

/** Whether a change of this file may change a definition. */
export const isRelevant = (path: string, paths: WatchedPaths): boolean =>
  paths.files.has(path) ||
  (agentName.test(path) && (paths.folders.has(dirname(path)) || isBelow(path, paths.agentTrees))) ||
  isBelow(path, paths.skillTrees)

/** Whether relevant files may be in this folder. */
export const isSearched = (folder: string, { agentTrees, skillTrees }: WatchedPaths): boolean =>
  isBelow(folder, agentTrees) || isBelow(folder, skillTrees)

const isBelow = (path: string, trees: ReadonlySet<string>): boolean => !isSkipped(path) && [...trees].some((tree) => isInside(tree, path))
