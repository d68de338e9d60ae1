/** From the kernel process to the supervisor, over the IPC channel. What must not get lost is in the crash files. */
export type KernelMessage =
  | { readonly type: 'beat' }
  | { readonly type: 'ready' }
  /** How long running turns may continue after `stop`. */
  | { readonly type: 'drain'; readonly ms: number }
  | { readonly type: 'restart' | 'shutdown'; readonly reason: string }

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
}

export const setupVariable = 'TROUPE_KERNEL'
