import type { ApprovalRequest } from '../../contracts/index.ts'

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
