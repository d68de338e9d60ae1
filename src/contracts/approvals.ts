import type { ApprovalId, ItemId } from './ids.ts'
import type { JsonObject } from './json.ts'

export interface ApprovalKey {
  /** Canonical, e.g. `tool:delete_file` or `path:/srv/a`. */
  readonly key: string
  /** How a person reads it. */
  readonly label: string
}

export type ApprovalDecision =
  | { readonly kind: 'approve'; readonly breadth: 'once' | 'session' }
  | { readonly kind: 'deny'; readonly feedback?: string }
  /** Deny and end the turn. */
  | { readonly kind: 'abort' }

export interface ApprovalRequest {
  /** Unique everywhere, like the id of its call. */
  readonly id: ApprovalId
  readonly itemId: ItemId
  readonly tool: string
  readonly summary: string
  /** The exact arguments. They are what is approved: the call runs with these or not at all. */
  readonly input: JsonObject
  readonly keys: readonly ApprovalKey[]
  /** `unsandboxed` asks to run again outside the sandbox. */
  readonly scope: 'call' | 'unsandboxed'
}
