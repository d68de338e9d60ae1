import type { ApprovalRequest } from '../../contracts/index.ts'

/** Where a started call stands with the sandbox: running in it or outside, or between the two, where it runs nowhere. */
export type SandboxStage = { readonly kind: 'inside' } | { readonly kind: 'outside' } | EscalationStage

/** The attempt inside has failed. Somebody is asked, or has answered. */
export interface EscalationStage {
  readonly kind: 'asking' | 'allowed' | 'refused'
  readonly request: ApprovalRequest
  /** What whoever refused has said. */
  readonly feedback?: string
}

/** Whoever drove such a call may be gone: nothing of it is lost. */
export function escalationStage({ sandbox }: { readonly sandbox: SandboxStage }): EscalationStage | undefined {
  return sandbox.kind === 'inside' || sandbox.kind === 'outside' ? undefined : sandbox
}
