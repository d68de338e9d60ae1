import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { homeFolder } from './data-folder.ts'
import { isBuilt, packageFile } from './package-file.ts'
import type { ProjectPlace } from './project-place.ts'
import { realPath } from './real-path.ts'

/** A folder of extensions, and who put them there. */
interface ExtensionFolder {
  readonly folder: string
  readonly source: 'project' | 'user' | 'bundled'
}

/** Where new extensions of a project are written. */
export const projectExtensions = (workspace: string): string => join(workspace, 'extensions')

/** The folder of the extensions that Troupe brings: their sources, or what the build makes of them. Absolute. */
export const bundledExtensions = (): string => fileURLToPath(packageFile(isBuilt() ? 'dist/extensions' : 'extensions'))

/** Nearest first. In the repository of Troupe, the sources of the bundled extensions are no extensions of the project. */
export const extensionFolders = ({ cwd, env }: ProjectPlace): readonly ExtensionFolder[] => [
  ...(isOwnSource(cwd) ? [] : [{ folder: projectExtensions(cwd), source: 'project' as const }]),
  { folder: join(cwd, 'sandbox', 'extensions'), source: 'project' },
  { folder: join(homeFolder(env), '.ai-agent', 'extensions'), source: 'user' },
  { folder: bundledExtensions(), source: 'bundled' },
]

const isOwnSource = (cwd: string): boolean => realPath(cwd) === realPath(fileURLToPath(packageFile('.')))

/** Whether the project has extensions of its own. */
export const hasExtensions = (place: ProjectPlace): boolean =>
  extensionFolders(place).some(({ folder, source }) => source === 'project' && isFolder(folder))

/** Names of the folders in all places. Their manifests are not read. */
export const extensionIds = (place: ProjectPlace): readonly string[] =>
  extensionFolders(place).flatMap(({ folder }) => (isFolder(folder) ? readdirSync(folder) : []))

/** A project may have a file with that name. */
const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
