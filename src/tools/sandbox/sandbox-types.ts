import type { Readable, Writable } from 'node:stream'
import type { Clock, SandboxPolicy, ToolFailure } from '../../contracts/index.ts'

export interface ProcessSandboxOptions {
  /** The workspace: the one folder that commands can write to, unless their policy names more. */
  readonly root: string
  readonly path: string
  /** The person's home folder, which commands do not see. */
  readonly home: string
  readonly clock: Clock
  /** Further folders and files that commands do not see, such as the data folder. */
  readonly hidden?: readonly string[]
  /** Files of the workspace that commands can only read, such as the programs of hooks. */
  readonly guarded?: readonly string[]
  /** For programs that are not trusted. They see the system and these files, which they can only read, and no Git identity. */
  readonly onlyReadable?: readonly string[]
  /** Instead of a test of its own: the test of another sandbox on this machine. */
  readonly probe?: () => Promise<Availability>
  /** For commands without a policy of their own. */
  readonly policy?: SandboxPolicy
  /** The folder for temporary files. Default `/tmp`. */
  readonly scratch?: string
  readonly platform?: string
}

export interface Command {
  readonly argv: readonly [string, ...string[]]
  readonly cwd: string
  /** Its whole environment, besides what the sandbox itself sets. */
  readonly environment: { readonly [name: string]: string }
  readonly policy?: SandboxPolicy
  readonly stdin?: string
  /** For a program that lives as long as its owner: the caller has its input and output, and errors are separate. */
  readonly isPiped?: boolean
}

/** Input and output of a piped command. */
export interface CommandPipes {
  readonly stdin: Writable
  readonly stdout: Readable
  /** The last characters of standard error. */
  errors(): string
}

export interface Ending {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  /** The limit that ended it, as text. */
  readonly limit?: string
  /** Hosts that it was refused, each with the reason: `example.com:443 is not listed in sandbox.hosts`. */
  readonly refusedHosts: readonly string[]
  /** Files and folders that it could not change, relative to the workspace or absolute. */
  readonly readOnly: readonly string[]
  readonly startFault?: string
}

/** A running command with all of its processes. */
export interface RunningCommand {
  /** Delivers its output and errors, in order, in buffers that are reused. Call it once, immediately. */
  listen(take: (piece: Uint8Array) => void): void
  /** Resolves when no process of it is left and its output is closed. */
  readonly ended: Promise<Ending>
  terminate(): void
  kill(): void
  /** Present if the command is piped. Then `listen` has no effect. */
  readonly pipes?: CommandPipes
}

export type StartResult = { readonly ok: true; readonly running: RunningCommand } | { readonly ok: false; readonly failure: ToolFailure }

/** `weaknesses`: what is not fully protected on this system, as text. */
export type Availability =
  | { readonly kind: 'available'; readonly weaknesses: readonly string[] }
  | { readonly kind: 'unavailable'; readonly failure: ToolFailure }

export interface ProcessSandbox {
  /** `bubblewrap`, `sandbox-exec`, or `none` where this system has none. */
  readonly name: string
  /** Whether the sandbox works. Tested once, with real attempts to escape. */
  probe(): Promise<Availability>
  /** Starts a command in the sandbox, after the probe. */
  start(command: Command): Promise<StartResult>
}
