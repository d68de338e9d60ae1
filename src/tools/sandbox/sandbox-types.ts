import type { Clock, SandboxPolicy, ToolFailure } from '../../contracts/index.ts'

export interface ProcessSandboxOptions {
  /** The workspace: the one folder that commands may write to, unless their policy names more. */
  readonly root: string
  /** Where programs are looked for, as in `PATH`. */
  readonly path: string
  /** The person's home folder: commands do not see it. */
  readonly home: string
  readonly clock: Clock
  /** Further folders and files that no command may see, such as the data folder. */
  readonly hidden?: readonly string[]
  /** Files of the workspace that are read, never changed, such as what hooks run. */
  readonly guarded?: readonly string[]
  /** For commands that come without a policy of their own. */
  readonly policy?: SandboxPolicy
  /** Where the doors of commands that may reach hosts are kept. Default `/tmp`. */
  readonly scratch?: string
  /** The system that this runs on. */
  readonly platform?: string
}

/** A program to be run. */
export interface Command {
  readonly argv: readonly [string, ...string[]]
  readonly cwd: string
  /** All that it is given, besides what the sandbox itself sets. */
  readonly environment: { readonly [name: string]: string }
  readonly policy?: SandboxPolicy
  /** What it reads; without, it sees the end at once. */
  readonly stdin?: string
}

/** How a command is started behind the walls. */
export interface Launch {
  readonly file: string
  readonly args: readonly string[]
  readonly environment: { readonly [name: string]: string }
  /** What has to be written to the descriptors from 3 on, one for each; the walls are not complete without. */
  readonly inputs: readonly Buffer[]
  /** Open folders of ours that it gets, as the descriptors after all others. */
  readonly lent: readonly number[]
}

export interface Ending {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  /** Which limit ended it, in words. */
  readonly limit?: string
  /** Hosts that it was refused, each with the reason: `example.com:443 is not listed in sandbox.hosts`. */
  readonly refusedHosts: readonly string[]
  /** What it left where nothing may be left, and what was done about that. */
  readonly undone: readonly string[]
  /** What kept it from being started. */
  readonly startFault?: string
}

/** A command at work, with all that it has started. */
export interface RunningCommand {
  /** What it prints, errors among it, in order; in buffers that are used again. To be called once, and at once. */
  listen(take: (piece: Uint8Array) => void): void
  /** After this nothing of it is left, and its output has ended. */
  readonly ended: Promise<Ending>
  /** Asks all of its processes to end. */
  terminate(): void
  /** Ends all of its processes. */
  kill(): void
}

export type StartResult =
  | { readonly ok: true; readonly running: RunningCommand }
  /** `isReplaced`: something was not as it was a moment before; to begin anew may help. */
  | { readonly ok: false; readonly failure: ToolFailure; readonly isReplaced?: boolean }

/** `weaknesses`: what holds less well here than it could, in words. */
export type Availability =
  | { readonly kind: 'available'; readonly weaknesses: readonly string[] }
  | { readonly kind: 'unavailable'; readonly failure: ToolFailure }

export interface ProcessSandbox {
  /** `bubblewrap`, `sandbox-exec`, or `none` where there is none for this system. */
  readonly name: string
  /** Whether the walls hold. Tried for real, once. */
  probe(): Promise<Availability>
  /** Starts a command behind the walls, once they are known to hold. */
  start(command: Command): Promise<StartResult>
}
