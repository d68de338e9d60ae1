/** From the kernel process to the supervisor, over the IPC channel. What must not get lost is in the crash files. */
export type KernelMessage =
  | { readonly type: 'beat' }
  | { readonly type: 'ready' }
  /** How long running turns may continue after `stop`. */
  | { readonly type: 'drain'; readonly ms: number }
  | { readonly type: 'shutdown'; readonly reason: string }
  /** `isForced`: a person asks for it. Such restarts are not counted. */
  | { readonly type: 'restart'; readonly reason: string; readonly isForced?: boolean }

export interface SupervisorMessage {
  readonly type: 'stop'
}

/** What the supervisor tells the kernel process at its start, as JSON in the variable `TROUPE_KERNEL`. */
export interface KernelSetup {
  readonly folder: string
  readonly beatMs: number
  readonly blockedMs: number
  /** Not a restart. */
  readonly isFirst: boolean
  /** Ids of extensions that are left out of this start, to find the one that breaks it. */
  readonly held: readonly string[]
  /** For this time it refuses restarts that extensions request: there were too many. */
  readonly refusesRestartsMs: number
}

export const setupVariable = 'TROUPE_KERNEL'
