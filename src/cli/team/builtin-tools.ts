import { homedir } from 'node:os'
import type { SandboxPolicy } from '../../contracts/index.ts'
import { systemClock } from '../../runtime/index.ts'
import type { WorkspaceKit } from '../../tools/kit/index.ts'
import { homeFolder } from '../host/data-folder.ts'
import type { Host } from '../host/process-host.ts'

interface Surroundings {
  /** The one folder that agents may change. */
  readonly workspace: string
  readonly policy: SandboxPolicy
  /** What nobody may see: journals, trust, approvals. */
  readonly hidden: readonly string[]
  /** What nobody may change without being asked about it: what hooks are made of. */
  readonly guarded: readonly string[]
}

const usualPath = '/usr/local/bin:/usr/bin:/bin'

/** Everything that an agent file may name under `tools`. Loaded when one does. */
export async function builtinTools({ env }: Pick<Host, 'env'>, surroundings: Surroundings): Promise<WorkspaceKit> {
  const { workspaceKit } = await import('../../tools/kit/index.ts')
  return workspaceKit({ ...surroundings, clock: systemClock, home: homeFolder(homedir()), path: env.PATH ?? usualPath })
}
