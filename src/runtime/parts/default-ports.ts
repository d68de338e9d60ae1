import type { Approver, Clock, Ids, Random, Sandbox, TreeId } from '../../contracts/index.ts'
import { seededFraction } from '../../util/hash.ts'
import { Deadlines } from './deadlines.ts'

const deadlines = new Deadlines()
/** Kept in a constant: the global is a getter, and time is read a dozen times in every step. */
const stopwatch = performance

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => stopwatch.now(),
  after: (ms, fire) => deadlines.after(ms, fire),
}

/** Sortable by time, and not guessable. */
export const randomIds: Ids = { next: () => `${Date.now().toString(36)}-${crypto.randomUUID().slice(0, 18)}` }

export const seededRandom = (treeId: TreeId): Random => ({ fraction: (key) => seededFraction(`${treeId}/${key}`) })

export const denyAll: Approver = {
  decide: () => ({ decision: { kind: 'deny', feedback: 'there is no approver', cancel: true }, by: 'runtime' }),
}

export const noSandbox: Sandbox = { confinement: { kind: 'none' } }
