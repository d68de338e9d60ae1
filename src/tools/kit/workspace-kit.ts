import { type Clock, defaultSandboxPolicy, type Sandbox, type SandboxPolicy, type Tool } from '../../contracts/index.ts'
import { builtinTools } from '../builtin/index.ts'
import { type Availability, processSandbox } from '../sandbox/index.ts'
import { openWorkspace } from '../workspace/index.ts'
import { checkKitOptions } from './check-kit-options.ts'

export interface WorkspaceKitOptions {
  /** The folder that agents may change; absolute. */
  readonly workspace: string
  readonly clock: Clock
  /** The user's home folder: commands do not see it. */
  readonly home: string
  /** Search path for programs, like `PATH`. */
  readonly path: string
  /** Default: no network, and only the workspace is writable. */
  readonly policy?: Partial<SandboxPolicy>
  /** More folders and files that commands must not see, such as the data folder. */
  readonly hidden?: readonly string[]
  /** Files of the workspace that hooks run: read-only for commands; the file tools need a permission for each. */
  readonly guarded?: readonly string[]
  /** Private addresses that `web_fetch` may reach, each with its port. */
  readonly allowPrivate?: readonly string[]
}

/** The built-in tools for one folder, and the sandbox of their commands. */
export interface WorkspaceKit {
  readonly tools: readonly Tool[]
  /** For the runtime. */
  readonly sandbox: Sandbox
  /** Whether the sandbox works on this machine. Tries it once. */
  probe(): Promise<Availability>
}

/**
 * Every built-in tool, for one folder.
 *
 * @throws TroupeError `config_invalid` if the workspace is not an absolute path of a folder, or an option is unknown.
 */
export function workspaceKit(options: WorkspaceKitOptions): WorkspaceKit {
  checkKitOptions(options)
  const { workspace: root, clock, home, path, hidden = [], guarded = [], allowPrivate } = options
  const policy: SandboxPolicy = { ...defaultSandboxPolicy, ...options.policy }
  const sandbox = processSandbox({ root, path, home, clock, hidden, guarded, policy })
  return {
    tools: builtinTools({
      files: openWorkspace(root, { hidden, guarded }),
      shell: { root, sandbox, clock, path, home, policy, isConfined: policy.mode === 'required' },
      web: { clock, ...(allowPrivate && { allowPrivate }) },
    }),
    sandbox: { confinement: { kind: 'sandbox', name: sandbox.name, policy } },
    probe: () => sandbox.probe(),
  }
}
