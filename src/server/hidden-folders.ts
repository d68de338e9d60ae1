import { homedir } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { RunOrigin } from '../contracts/index.ts'
import { homeFolder, type Project, packageFile } from '../project/index.ts'

interface Folders {
  readonly project: Project | undefined
  /** The data folder. */
  readonly folder: string | undefined
  readonly origin: RunOrigin | undefined
}

/** Folders that only admins see, by the names that others see instead. */
export const hiddenFolders = ({ project, folder, origin }: Folders): { readonly [shown: string]: string } => ({
  '<home>': project ? homeFolder(project.report.setup.environment) : homedir(),
  '<troupe>': fileURLToPath(packageFile('.')),
  ...(folder !== undefined && { '<data>': folder }),
  ...(origin && { '<workspace>': origin.workspace }),
})
