import { mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock, ToolFailure } from '../../contracts/index.ts'
import { type Command, processSandbox, type StartResult } from '../../tools/sandbox/index.ts'
import type { ExtensionManifest, FoundExtension } from '../shared/kernel-types.ts'
import { extensionPolicy } from './process-limits.ts'
import { reachableFolders } from './reachable-folders.ts'

interface ExtensionSandboxOptions {
  /** The folder of the project. */
  readonly workspace: string
  /** `PATH`, to find bubblewrap. */
  readonly path: string
  readonly home: string
  readonly clock: Clock
}

export type OpenableExtension = Pick<FoundExtension, 'id' | 'folder'> & { readonly manifest: ExtensionManifest }

interface SandboxedProgram extends Pick<Command, 'argv'> {
  /** A folder that it can write to. It is created. */
  readonly dataDir: string
  /** Files and folders that it can read besides its own. */
  readonly readable: readonly string[]
}

/** Starts programs of extensions that are not trusted. */
export interface ExtensionSandbox {
  /** Why none can be started here. */
  unavailable(): Promise<ToolFailure | undefined>
  /** @throws TroupeError if a permission of the manifest cannot be given. */
  start(extension: OpenableExtension, program: SandboxedProgram): Promise<StartResult>
}

/** Programs see nothing of this machine but the system. */
const path = '/usr/local/bin:/usr/bin:/bin'

/**
 * The full sandbox: no network but `permissions.hosts`, the folder of the extension read-only, its data folder, and the folders of
 * the project in `permissions`. No environment but `PATH`.
 */
export function extensionSandbox({ workspace, ...host }: ExtensionSandboxOptions): ExtensionSandbox {
  const ofWorkspace = processSandbox({ ...host, root: workspace })
  const probe = () => ofWorkspace.probe()
  return {
    async unavailable() {
      const availability = await probe()
      return availability.kind === 'unavailable' ? availability.failure : undefined
    },
    async start({ folder, manifest }, { argv, dataDir, readable }) {
      mkdirSync(dataDir, { recursive: true })
      const [own, project, root] = [folder, workspace, dataDir].map((each) => realpathSync(each)) as [string, string, string]
      const { read, write, hidden } = reachableFolders(manifest, workspace)
      const sandbox = processSandbox({
        ...host,
        root,
        probe,
        onlyReadable: [own, ...readable.map((each) => realpathSync(each)), ...read],
        hidden,
        guarded: [own, join(project, 'extensions'), join(project, 'sandbox')],
      })
      const policy = { ...extensionPolicy, hosts: manifest.permissions.hosts, writable: write }
      return sandbox.start({ argv, cwd: root, environment: { PATH: path }, policy, isPiped: true })
    },
  }
}
