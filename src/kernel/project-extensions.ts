import { join } from 'node:path'
import { extensionConfigsOf, extensionFolders, homeFolder, type ProjectPlace, type Setup } from '../project/index.ts'
import { systemClock } from '../runtime/index.ts'
import { findExtensions } from './loader/find-extensions.ts'
import { type ExtensionSandbox, extensionSandbox } from './process/extension-sandbox.ts'
import type { FoundExtension } from './shared/kernel-types.ts'
import { supervisorFolder } from './supervisor/index.ts'

/** Where extensions keep their files. `folder`: the data folder, which projects may share. */
export const extensionData = (folder: string, workspace: string): string => join(supervisorFolder(folder, workspace), 'extensions')

/** All extensions of a project, with its own trust. */
export const findProjectExtensions = ({ workingDirectory, environment, trusted, config }: Setup): Promise<readonly FoundExtension[]> =>
  findExtensions({
    places: extensionFolders({ cwd: workingDirectory, env: environment }),
    workspace: workingDirectory,
    trusted,
    configs: extensionConfigsOf({ config, environment }),
  })

/** For extensions that are not trusted. */
export const sandboxAt = ({ cwd, env }: ProjectPlace): ExtensionSandbox =>
  extensionSandbox({ workspace: cwd, path: env.PATH ?? '/usr/local/bin:/usr/bin:/bin', home: homeFolder(env), clock: systemClock })
