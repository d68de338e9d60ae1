import { homedir } from 'node:os'
import type { SandboxPolicy } from '../../contracts/index.ts'
import { systemClock } from '../../runtime/index.ts'
import type { WorkspaceKit } from '../../tools/kit/index.ts'
import { homeFolder } from '../host/data-folder.ts'
import type { Host } from '../host/process-host.ts'

interface KitOptions {
  readonly workspace: string
  readonly policy: SandboxPolicy
  /** Paths that agents cannot access: journals, trust, approvals. */
  readonly hidden: readonly string[]
  /** Files of hooks: changing them always needs an approval. */
  readonly guarded: readonly string[]
}

const defaultPath = '/usr/local/bin:/usr/bin:/bin'

/** The built-in tools and their sandbox. Loaded on demand. */
export async function builtinTools({ env }: Pick<Host, 'env'>, options: KitOptions): Promise<WorkspaceKit> {
  const { workspaceKit } = await import('../../tools/kit/index.ts')
  return workspaceKit({ ...options, clock: systemClock, home: homeFolder(homedir()), path: env.PATH ?? defaultPath })
}
