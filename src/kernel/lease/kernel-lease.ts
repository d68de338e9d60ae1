// One kernel of a store runs what works in the background: bus, schedules, channels, services.
//
// 1. The holder renews its lease. A lease that was not renewed for six seconds is free.
// 2. The next kernel of the same supervisor takes it over immediately: the one before it has ended.
import { type Clock, type Ids, type Records, TroupeError } from '../../contracts/index.ts'
import { keepAlive } from '../../util/keep-alive.ts'
import { recordTable } from '../shared/record-table.ts'

const [namespace, key] = ['lease', 'kernel']
const renewMs = 2_000
const leaseMs = 6_000

export interface LeaseOptions {
  readonly clock: Clock
  readonly ids: Ids
  /** For people: `troupe up, process 4711`. */
  readonly holder: string
  /** The same for all kernels that one supervisor starts. */
  readonly supervisor?: string
  /** This process did not run for a while, and another kernel has it now. */
  readonly onLost: (holder: string) => void
}

export interface KernelLease {
  /** It is free immediately. */
  release(): Promise<void>
}
/** `freeInMs`: if its holder has crashed. */
type Acquired =
  | { readonly ok: true; readonly lease: KernelLease }
  | { readonly ok: false; readonly holder: string; readonly freeInMs: number }

interface StoredLease {
  readonly id: string
  readonly holder: string
  readonly supervisor?: string
  readonly until: number
}

/** A wall clock that went back does not keep the lease of a dead kernel. */
const isHeld = ({ until }: StoredLease, now: number): boolean => until > now && until <= now + leaseMs

/** Who runs the kernel of these records. */
export async function kernelHolder(records: Pick<Records, 'get'>, now: number): Promise<string | undefined> {
  const stored = (await records.get(namespace, key))?.value as StoredLease | undefined
  return stored && isHeld(stored, now) ? stored.holder : undefined
}

export async function acquireKernelLease(records: Records, options: LeaseOptions): Promise<Acquired> {
  const { clock, ids, holder, supervisor, onLost } = options
  const table = recordTable<StoredLease>(records, namespace)
  const id = ids.next()
  /** The lease of another kernel, if it has one. */
  const write = async (isFirst: boolean): Promise<StoredLease | undefined> => {
    const now = clock.now()
    const mine = { id, holder, ...(supervisor !== undefined && { supervisor }), until: now + leaseMs }
    const isOther = (stored: StoredLease): boolean => {
      if (stored.id === id || !isHeld(stored, now)) return false
      return !isFirst || supervisor === undefined || stored.supervisor !== supervisor
    }
    const before = await table.update(key, (stored) => (stored !== undefined && isOther(stored) ? stored : mine))
    return before !== undefined && isOther(before) ? before : undefined
  }
  const other = await write(true)
  if (other !== undefined) return { ok: false, holder: other.holder, freeInMs: other.until - clock.now() }

  let isReleased = false
  let cancel = (): void => {}
  let renewal: Promise<void> | undefined
  const renewLater = (): void => {
    cancel = clock.after(renewMs, () => {
      renewal = renew()
    })
  }
  const renew = async (): Promise<void> => {
    // A store that fails for a moment is no reason to stop: the next renewal decides.
    const next = await write(false).catch(() => undefined)
    if (isReleased) return
    if (next === undefined) renewLater()
    else onLost(next.holder)
  }
  renewLater()
  const release = async (): Promise<void> => {
    isReleased = true
    cancel()
    // It would write the lease again.
    await renewal
    await table.update(key, (stored) => (stored?.id === id ? undefined : stored))
  }
  return { ok: true, lease: { release } }
}

/** Waits once for a holder that may have crashed. @throws if it is alive. */
export async function takeKernelLease(records: Records, options: LeaseOptions): Promise<KernelLease> {
  const first = await acquireKernelLease(records, options)
  if (first.ok) return first.lease
  // Deadlines do not keep the process alive.
  const release = keepAlive()
  await new Promise<void>((resolve) => options.clock.after(first.freeInMs, resolve)).finally(release)
  const second = await acquireKernelLease(records, options)
  if (second.ok) return second.lease
  throw new TroupeError('usage', `The extensions of this project run already: ${second.holder}.`, {
    remedy: 'Stop that process, or use another folder with --data-dir.',
  })
}
