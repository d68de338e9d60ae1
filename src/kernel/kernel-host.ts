import type { TerminalPort } from '../contracts/index.ts'
import type { SupervisorPort } from './shared/kernel-types.ts'
import type { Quarantined } from './supervisor/index.ts'

/** What `troupe up` gives to the kernel process. Without it, `troupe serve` runs the kernel alone. */
export interface KernelHost {
  readonly supervisor: SupervisorPort & { drains(ms: number): void }
  /** The same for all kernels of one supervisor: see `LeaseOptions`. */
  readonly supervisorId: string
  readonly quarantined: readonly Quarantined[]
  /** Ids of extensions that are left out of this start, to find the one that breaks it. */
  readonly held: readonly string[]
  /** Whether changed extensions are loaded again. */
  readonly watches: boolean
  /** The terminal in which the person talks to the assistant. Absent in a service. */
  readonly terminal?: TerminalPort
  /** Not a restart: the person has not seen the banner. */
  readonly isFirst: boolean
}
