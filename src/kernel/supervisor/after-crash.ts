import type { CrashFiles } from './crash-files.ts'
import type { Quarantined, SupervisorState } from './supervisor-state.ts'

export interface KernelEnd {
  readonly code: number | null
  readonly signal: string | null
  /** The supervisor killed it because its event loop was blocked. */
  readonly isBlocked: boolean
}

/**
 * The extensions to quarantine after a crash: the one that caused it; without proof, those that are new or changed since the kernel last
 * ran well. Bundled ones need more: they change together with the kernel.
 */
export function quarantineAfterCrash(
  state: SupervisorState,
  crash: CrashFiles & { readonly end: KernelEnd; readonly now: number },
): readonly Quarantined[] {
  const { fault, blocked, active, loaded = [], end, now } = crash
  const reason =
    fault?.reason ?? (end.isBlocked ? (blocked?.reason ?? 'it blocked the event loop') : `the process ended with ${endText(end)}`)
  const unproven = loaded.filter(({ id, hash, isBundled }) => !isBundled && state.lastGood[id] !== hash)
  const proof = fault ?? blocked
  // Code that was running is a hint. It may have been killed by something else: what ran well does not kill its process.
  const isKilled = end.signal === 'SIGKILL' && !end.isBlocked
  const isHinted = unproven.some(({ id }) => id === active?.extension) || (unproven.length === 0 && !isKilled)
  const candidates = proof || isHinted ? loaded : []
  const suspect = candidates.find(({ id }) => id === (proof ?? active)?.extension)
  if (!suspect)
    return unproven.map(({ id, hash }) => ({ id, hash, reason: `${reason} after it was added or changed`, stage: 'unknown', at: now }))
  const stage = fault?.stage ?? (suspect.id === active?.extension ? active.stage : 'background')
  return [{ id: suspect.id, hash: suspect.hash, reason, stage, at: now }]
}

export function endText({ code, signal }: KernelEnd): string {
  if (signal === null) return `exit code ${code}`
  return signal === 'SIGABRT' ? 'SIGABRT (probably out of memory)' : signal
}
