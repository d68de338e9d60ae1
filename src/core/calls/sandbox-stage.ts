import type { ApprovalRequest } from '../../contracts/index.ts'

/** Whether a started call runs inside or outside the sandbox, or waits for permission to run outside. */
export type SandboxStage = { readonly kind: 'inside' } | { readonly kind: 'outside' } | EscalationStage

/** The sandbox stopped the first attempt. A person is asked to allow a second one outside, or has decided. */
export interface EscalationStage {
  readonly kind: 'asking' | 'allowed' | 'refused'
  readonly request: ApprovalRequest
  /** Of the person who refused. */
  readonly feedback?: string
}

export function escalationStage({ sandbox }: { readonly sandbox: SandboxStage }): EscalationStage | undefined {
  return sandbox.kind === 'inside' || sandbox.kind === 'outside' ? undefined : sandbox
}
