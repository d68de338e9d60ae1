import type { Node } from 'yaml'

/** One value, or what is wrong with it: each time at a node, or at the value as a whole. */
export type Read = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly faults: readonly Fault[] }
export interface Fault {
  readonly node: Node | null
  readonly message: string
  /** Without one, an example tells how to write it. */
  readonly remedy?: string
}
