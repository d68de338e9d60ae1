import { homedir } from 'node:os'
import type { Sandbox, SandboxPolicy, Tool } from '../contracts/index.ts'
import { systemClock } from '../runtime/index.ts'
import { homeFolder } from './data-folder.ts'
import type { Host } from './host.ts'

/** What agents act in the world with, and behind which walls. */
export interface BuiltinTools {
  readonly tools: readonly Tool[]
  readonly sandbox: Sandbox
}

interface Surroundings {
  /** The one folder that agents may change. */
  readonly workspace: string
  readonly policy: SandboxPolicy
  /** What no command may see: journals, trust, approvals. */
  readonly hidden: readonly string[]
}

/** Everything that an agent file may name under `tools`. Loaded when one does. */
export async function builtinTools({ env }: Pick<Host, 'env'>, { workspace, policy, hidden }: Surroundings): Promise<BuiltinTools> {
  const [{ askUserTool, fileTools, shellTool, updatePlanTool, webFetchTool }, { openWorkspace }, { processSandbox }] = await Promise.all([
    import('../tools/builtin/index.ts'),
    import('../tools/workspace/index.ts'),
    import('../tools/sandbox/index.ts'),
  ])
  const home = homeFolder(homedir())
  const path = env.PATH ?? '/usr/local/bin:/usr/bin:/bin'
  const walls = processSandbox({ root: workspace, path, home, clock: systemClock, hidden, policy })
  return {
    tools: [
      ...fileTools(openWorkspace(workspace)),
      shellTool({ root: workspace, sandbox: walls, clock: systemClock, path, home, policy, isConfined: policy.mode === 'required' }),
      webFetchTool({ clock: systemClock }),
      updatePlanTool(),
      askUserTool(),
    ],
    sandbox: { confinement: { kind: 'sandbox', name: walls.name, policy } },
  }
}
