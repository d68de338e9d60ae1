import { homedir } from 'node:os'
import type { SandboxPolicy } from '../../contracts/index.ts'
import { sandboxOf } from '../../project/index.ts'
import { type McpOptions, systemClock } from '../../runtime/index.ts'
import { dataFolder, homeFolder } from '../host/data-folder.ts'
import type { Host } from '../host/process-host.ts'
import type { Setup } from '../team/load-config.ts'
import { tokenFilesOf } from './token-files.ts'
import { PinFile } from './tool-pins.ts'

/** The pins of the user, always in the user's state folder: a project must not bring its own. */
export const pinFileOf = ({ env }: Pick<Host, 'env'>): PinFile => new PinFile(dataFolder({ flag: undefined, env, home: homedir() }))

/** What the servers of a command get from it. */
export const mcpOptionsOf = (
  host: Pick<Host, 'env'>,
  { config, workingDirectory }: Pick<Setup, 'config' | 'workingDirectory'>,
): McpOptions => ({
  workspace: workingDirectory,
  environment: host.env,
  sandbox: serverSandbox(host, { root: workingDirectory, policy: sandboxOf(config) }),
  pins: pinFileOf(host),
  tokens: tokenFilesOf(host),
})

/** Loaded when a server with a `sandbox` starts. */
function serverSandbox(
  { env }: Pick<Host, 'env'>,
  place: { readonly root: string; readonly policy: SandboxPolicy },
): NonNullable<McpOptions['sandbox']> {
  return {
    async start(...given) {
      const { processSandbox } = await import('../../tools/sandbox/index.ts')
      return processSandbox({ ...place, path: env.PATH ?? '', home: homeFolder(homedir()), clock: systemClock }).start(...given)
    },
  }
}
