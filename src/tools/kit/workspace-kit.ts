import { type Clock, defaultSandboxPolicy, type Sandbox, type SandboxPolicy, type Tool } from '../../contracts/index.ts'
import { askUserTool, fileTools, shellTool, updatePlanTool, webFetchTool } from '../builtin/index.ts'
import { type Availability, processSandbox } from '../sandbox/index.ts'
import { openWorkspace } from '../workspace/index.ts'
import { checkKitOptions } from './check-kit-options.ts'

export interface WorkspaceKitOptions {
  /** The one folder that agents may change; absolute. */
  readonly workspace: string
  readonly clock: Clock
  /** The person's home folder: commands do not see it. */
  readonly home: string
  /** Where programs are looked for, as in `PATH`. */
  readonly path: string
  /** What commands may do. Default: no network, nothing to write to but the workspace. */
  readonly policy?: Partial<SandboxPolicy>
  /** Further folders and files that no command may see, such as the data folder. */
  readonly hidden?: readonly string[]
  /** Files of the workspace that commands may only read, and that no broader permission covers for the file tools: what hooks run. */
  readonly guarded?: readonly string[]
  /** Addresses on this machine or network that `web_fetch` may reach, each with its port. */
  readonly allowPrivate?: readonly string[]
}

/** What agents act with in one folder, and the walls around it. */
export interface WorkspaceKit {
  readonly tools: readonly Tool[]
  /** For the runtime. */
  readonly sandbox: Sandbox
  /** Whether the walls hold here. Tried for real, once. */
  probe(): Promise<Availability>
}

/**
 * Every built-in tool, for one folder.
 *
 * @throws TroupeError `config_invalid` where that is no folder by its absolute path, or an option is unknown.
 */
export function workspaceKit(options: WorkspaceKitOptions): WorkspaceKit {
  checkKitOptions(options)
  const { workspace: root, clock, home, path, hidden = [], guarded = [], allowPrivate } = options
  const policy: SandboxPolicy = { ...defaultSandboxPolicy, ...options.policy }
  const walls = processSandbox({ root, path, home, clock, hidden, guarded, policy })
  return {
    tools: [
      ...fileTools(openWorkspace(root, { hidden, guarded })),
      shellTool({ root, sandbox: walls, clock, path, home, policy, isConfined: policy.mode === 'required' }),
      webFetchTool({ clock, ...(allowPrivate && { allowPrivate }) }),
      updatePlanTool(),
      askUserTool(),
    ],
    sandbox: { confinement: { kind: 'sandbox', name: walls.name, policy } },
    probe: () => walls.probe(),
  }
}
