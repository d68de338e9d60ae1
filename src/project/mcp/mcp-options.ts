import type { SandboxPolicy } from '../../contracts/index.ts'
import { type McpOptions, systemClock } from '../../runtime/index.ts'
import { sandboxOf } from '../config/section-values.ts'
import { dataFolder, homeFolder } from '../setup/data-folder.ts'
import type { ProjectPlace } from '../setup/project-place.ts'
import type { Setup } from '../setup/read-setup.ts'
import { tokenFilesOf } from './token-files.ts'
import { PinFile } from './tool-pins.ts'

/** The pins of the user, always in the user's state folder: a project must not bring its own. */
export const pinFileOf = ({ env }: Pick<ProjectPlace, 'env'>): PinFile => new PinFile(dataFolder({ flag: undefined, env }))

/** What the servers of a command get from it. */
export const mcpOptionsOf = (
  place: Pick<ProjectPlace, 'env'>,
  { config, workingDirectory }: Pick<Setup, 'config' | 'workingDirectory'>,
): McpOptions => ({
  workspace: workingDirectory,
  environment: place.env,
  sandbox: serverSandbox(place, { root: workingDirectory, policy: sandboxOf(config) }),
  pins: pinFileOf(place),
  tokens: tokenFilesOf(place),
})

/** Loaded when a server with a `sandbox` starts. */
function serverSandbox(
  { env }: Pick<ProjectPlace, 'env'>,
  confined: { readonly root: string; readonly policy: SandboxPolicy },
): NonNullable<McpOptions['sandbox']> {
  return {
    async start(...given) {
      const { processSandbox } = await import('../../tools/sandbox/index.ts')
      return processSandbox({ ...confined, path: env.PATH ?? '', home: homeFolder(env), clock: systemClock }).start(...given)
    },
  }
}
