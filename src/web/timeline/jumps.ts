import { type NodeId, spentByAttempts } from '../../view/index.ts'
import { nameOf } from './row-facts.ts'
import type { Row } from './rows.ts'

/** Rows that people look for first. */
interface Jumps {
  /** The model step or call that took longest, without waits for people. */
  readonly slowest?: { readonly id: NodeId; readonly ms: number }
  /** The model step that cost most. */
  readonly dearest?: { readonly id: NodeId; readonly cost: number }
  /** In their order. */
  readonly failed: readonly NodeId[]
}

export function jumpsOf(rows: readonly Row[]): Jumps {
  let slowest: Jumps['slowest']
  let dearest: Jumps['dearest']
  let candidates = 0
  let paid = 0
  const failed: NodeId[] = []
  for (const row of rows) {
    const { id } = row
    const ms = workMs(row)
    if (ms !== undefined) {
      candidates++
      if (ms > (slowest?.ms ?? 0)) slowest = { id, ms }
    }
    const cost = costOf(row)
    if (cost > 0) paid++
    if (cost > (dearest?.cost ?? 0)) dearest = { id, cost }
    if (isFailed(row)) failed.push(id)
  }
  // One alone is no finding.
  return { ...(slowest && candidates > 1 && { slowest }), ...(dearest && paid > 1 && { dearest }), failed }
}

/** The work of what has ended. The time of an agent is that of its steps and calls. */
function workMs({ of }: Row): number | undefined {
  if (of.kind === 'step') return of.step.attempts.reduce((sum, { latencyMs = 0 }) => sum + latencyMs, 0)
  if (of.kind === 'call' && !of.call.isAgent && !of.call.child && of.call.asked.length === 0) return of.call.latencyMs
  return undefined
}

function costOf({ of }: Row): number {
  if (of.kind !== 'step') return 0
  const { cost } = spentByAttempts(of.step.attempts)
  return cost === 'unknown' ? 0 : cost
}

/** An agent fails because something in it does: only that is counted. */
function isFailed({ of }: Row): boolean {
  if (of.kind === 'agent' || of.kind === 'turn' || of.kind === 'request') return false
  if (of.kind === 'step' && of.step.attempts.some(({ failure }) => failure)) return false
  const { status } = nameOf(of)
  return status === 'failed' || status === 'declined' || status === 'unknown'
}
