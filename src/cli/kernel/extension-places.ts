import { readdirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { ExtensionPlace, FoundExtension } from '../../kernel/index.ts'
import { supervisorFolder } from '../../kernel/supervisor/index.ts'
import { bundledExtensions } from '../bundled-extensions.ts'
import { homeFolder } from '../host/data-folder.ts'
import type { Setup } from '../team/load-config.ts'

/** Where new extensions of a project are written. */
export const projectExtensions = (workspace: string): string => join(workspace, 'extensions')

/** Where extensions keep their files. `folder`: the data folder, which projects may share. */
export const extensionData = (folder: string, workspace: string): string => join(supervisorFolder(folder, workspace), 'extensions')

/** Nearest first. */
export const extensionPlaces = (workspace: string): readonly ExtensionPlace[] => [
  { folder: projectExtensions(workspace), source: 'project' },
  { folder: join(workspace, 'sandbox', 'extensions'), source: 'project' },
  { folder: join(homeFolder(homedir()), '.ai-agent', 'extensions'), source: 'user' },
  { folder: bundledExtensions(), source: 'bundled' },
]

/** Whether `troupe serve` runs the kernel here. */
export const hasExtensions = (workspace: string): boolean =>
  extensionPlaces(workspace).some(({ folder, source }) => source === 'project' && isFolder(folder))

/** Names of the folders in all places. Their manifests are not read. */
export const extensionIds = (workspace: string): readonly string[] =>
  extensionPlaces(workspace).flatMap(({ folder }) => (isFolder(folder) ? readdirSync(folder) : []))

/** A project may have a file with that name. */
const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false

/** All extensions of a project, with its own trust. */
export async function findProjectExtensions({ workingDirectory, trusted }: Setup): Promise<readonly FoundExtension[]> {
  const { findExtensions } = await import('../../kernel/index.ts')
  return findExtensions({ places: extensionPlaces(workingDirectory), workspace: workingDirectory, trusted })
}
