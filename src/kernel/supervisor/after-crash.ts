import type { CrashFiles } from './crash-files.ts'
import type { Quarantined, SupervisorState } from './supervisor-state.ts'

export interface KernelEnd {
  readonly code: number | null
  readonly signal: string | null
  /** The supervisor killed it because its event loop was blocked. */
  readonly isBlocked: boolean
}

export type LoadedExtension = NonNullable<CrashFiles['loaded']>[number]

interface Crash extends CrashFiles {
  readonly end: KernelEnd
  readonly now: number
  /** The extension whose code ran when the kernel before this one was killed. */
  readonly killedIn?: string | undefined
}

/** Whether something else may have killed the process. */
export const isKilled = ({ signal, isBlocked }: KernelEnd): boolean => signal === 'SIGKILL' && !isBlocked

/** Those that are new or changed since the kernel last ran well, in the order in which they were loaded. */
export const changedExtensions = ({ lastGood }: SupervisorState, { loaded = [] }: CrashFiles): readonly LoadedExtension[] =>
  loaded.filter(({ id, hash, isBundled }) => !isBundled && lastGood[id] !== hash)

/**
 * The extension to quarantine after a crash: the one that ended or blocked the process, else the one whose code was running at a sudden
 * end. Without evidence there is none.
 */
export function quarantineAfterCrash(state: SupervisorState, crash: Crash): Quarantined | undefined {
  const { fault, blocked, active, loaded = [], end, now } = crash
  const proof = fault ?? blocked
  const suspect = loaded.find(({ id }) => id === (proof ?? (wasRunning(state, crash) ? active : undefined))?.extension)
  if (!suspect) return undefined
  const reason =
    fault?.reason ?? (end.isBlocked ? (blocked?.reason ?? 'it blocked the event loop') : `the process ended with ${endText(end)}`)
  const stage = fault?.stage ?? (suspect.id === active?.extension ? active.stage : 'background')
  return { id: suspect.id, hash: suspect.hash, reason, stage, at: now }
}

/** Whether running code is evidence. Anybody can kill a process: that takes a new or changed extension, in two kernels in a row. */
function wasRunning(state: SupervisorState, crash: Crash): boolean {
  const { active, end, killedIn } = crash
  if (!isKilled(end)) return end.signal !== null
  return active?.extension === killedIn && changedExtensions(state, crash).some(({ id }) => id === killedIn)
}

export function endText({ code, signal }: KernelEnd): string {
  if (signal === null) return `exit code ${code}`
  return signal === 'SIGABRT' ? 'SIGABRT (probably out of memory)' : signal
}
