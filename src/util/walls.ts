import type { ApprovalRequest, Lane } from '../contracts/index.ts'
import { laneConflict } from './lane-conflict.ts'

/** Where a started call stands with the sandbox: running in it or outside, or between the two, where it runs nowhere. */
export type Walls = { readonly kind: 'inside' } | { readonly kind: 'outside' } | AtTheWalls

/** The attempt inside has failed. Somebody is asked, or has answered. */
export interface AtTheWalls {
  readonly kind: 'asking' | 'allowed' | 'refused'
  readonly request: ApprovalRequest
  /** What whoever refused has said. */
  readonly feedback?: string
}

/** Whoever drove such a call may be gone: nothing of it is lost. */
export function atTheWalls({ walls }: { readonly walls: Walls }): AtTheWalls | undefined {
  return walls.kind === 'inside' || walls.kind === 'outside' ? undefined : walls
}

/** As much of a call as it takes. */
interface InLine {
  readonly itemId: string
  readonly kind: string
  readonly walls?: Walls
  readonly intent?: { readonly lane: Lane }
}

/** Whether a call asks to leave the sandbox, or may not overlap with one before it that does. */
export function isHeldUp(calls: Iterable<InLine>, { itemId, intent }: InLine & Required<Pick<InLine, 'intent'>>): boolean {
  for (const each of calls) {
    const isAsking = each.walls?.kind === 'asking'
    if (isAsking && (each.itemId === itemId || (each.intent && laneConflict(each.intent.lane, intent.lane)))) return true
    if (each.itemId === itemId) return false
  }
  return false
}
