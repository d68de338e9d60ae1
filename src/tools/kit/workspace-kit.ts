import { statSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import {
  type Clock,
  defaultSandboxPolicy,
  type Problem,
  type Sandbox,
  type SandboxPolicy,
  type Tool,
  TroupeError,
} from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { nearestNames } from '../../util/nearest-names.ts'
import { showValue } from '../../util/show-value.ts'
import { builtinTools } from '../builtin/index.ts'
import { type Availability, processSandbox } from '../sandbox/index.ts'
import { openWorkspace } from '../workspace/index.ts'

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

const known: { readonly [Key in keyof Required<WorkspaceKitOptions>]: true } = {
  workspace: true,
  clock: true,
  home: true,
  path: true,
  policy: true,
  hidden: true,
  guarded: true,
  allowPrivate: true,
}

/** @throws TroupeError `config_invalid` with all problems, before anything is opened. */
function checkKitOptions(options: WorkspaceKitOptions): void {
  const problems = [...Object.keys(options).flatMap(unknownKey), ...workspaceProblems(options.workspace)]
  if (problems.length === 0) return
  const lines = problems.map(({ place, message, remedy }) => `${place}: ${message}. ${remedy}`)
  throw new TroupeError('config_invalid', `The workspace tools cannot be created:\n  ${lines.join('\n  ')}`, { problems })
}

function unknownKey(key: string): readonly Problem[] {
  if (Object.hasOwn(known, key)) return []
  const [near] = nearestNames(key, Object.keys(known))
  const remedy = near === undefined ? `Known options: ${Object.keys(known).join(', ')}.` : `Did you mean "${near}"?`
  return [{ place: key, message: 'unknown option', remedy }]
}

function workspaceProblems(workspace: unknown): readonly Problem[] {
  const place = 'workspace'
  if (typeof workspace !== 'string' || !isAbsolute(workspace)) {
    const message = `expected the absolute path of a folder, found ${showValue(workspace, 200)}`
    const isPath = typeof workspace === 'string' && workspace !== ''
    const remedy = isPath ? `From the current folder that is ${showValue(resolve(workspace), 200)}.` : 'Name the folder to work in.'
    return [{ place, message, remedy }]
  }
  const fault = folderFault(workspace)
  const message = `expected the path of a folder that exists, found ${showValue(workspace, 200)}, which ${fault}`
  return fault === undefined ? [] : [{ place, message, remedy: 'Create the folder, or name another one.' }]
}

function folderFault(path: string): string | undefined {
  try {
    const stat = statSync(path, { throwIfNoEntry: false })
    if (!stat) return 'does not exist'
    return stat.isDirectory() ? undefined : 'is not a folder'
  } catch (error) {
    return `cannot be opened: ${messageOf(error)}`
  }
}
