import type { SandboxPolicy } from '../../contracts/index.ts'
import { changingTools } from '../../policy/foreign-tools.ts'

/** What a value out of a few means for the agent. */
export interface ChoiceMeaning {
  readonly infer?: boolean
  readonly enabled?: boolean
  readonly denied?: readonly string[]
  readonly sandbox?: Partial<SandboxPolicy>
  /** Told, because it is not what the file's author would expect. */
  readonly warning?: string
  /** Such a file is not for us. */
  readonly refused?: string
}

/** How the value of a key is read and where it goes. */
export type KeyRule =
  | { readonly kind: 'text'; readonly into: 'name' | 'displayName' | 'description' | 'usage' | 'prompt' }
  | { readonly kind: 'models' }
  | { readonly kind: 'tools' }
  | { readonly kind: 'denied' }
  | { readonly kind: 'permissions' }
  | { readonly kind: 'names'; readonly into: 'skills' | 'agents' }
  | {
      readonly kind: 'number'
      readonly into: 'temperature' | 'topP' | 'maxToolTurns'
      readonly least: number
      readonly most: number
      readonly whole?: true
    }
  | { readonly kind: 'minutes' }
  | { readonly kind: 'effort' }
  | { readonly kind: 'servers' }
  | { readonly kind: 'choice'; readonly of: { readonly [value: string]: ChoiceMeaning } }
  /** Changes nothing here, and is no promise either: kept as it is. */
  | { readonly kind: 'metadata' }
  /** Understood, and not done. `except` are the values that ask for nothing. */
  | { readonly kind: 'unsupported'; readonly instead: string; readonly except?: readonly unknown[] }

export type KeyTable = { readonly [key: string]: KeyRule }

export const text = (into: Extract<KeyRule, { kind: 'text' }>['into']): KeyRule => ({ kind: 'text', into })
export const models: KeyRule = { kind: 'models' }
export const tools: KeyRule = { kind: 'tools' }
export const permissions: KeyRule = { kind: 'permissions' }
export const effort: KeyRule = { kind: 'effort' }
export const servers: KeyRule = { kind: 'servers' }
export const metadata: KeyRule = { kind: 'metadata' }
export const turns: KeyRule = { kind: 'number', into: 'maxToolTurns', least: 1, most: 1_000_000, whole: true }
export const temperature: KeyRule = { kind: 'number', into: 'temperature', least: 0, most: 2 }
export const topP: KeyRule = { kind: 'number', into: 'topP', least: 0, most: 1 }
export const choice = (of: { readonly [value: string]: ChoiceMeaning }): KeyRule => ({ kind: 'choice', of })
export const unsupported = (instead: string, except: readonly unknown[] = []): KeyRule => ({ kind: 'unsupported', instead, except })

export const readOnly: ChoiceMeaning = {
  denied: changingTools,
  // Should it get a shell all the same, by the word of a person, that has walls.
  sandbox: { mode: 'required', hosts: [], writable: [] },
  warning: 'here it means that the agent has neither a shell nor tools that write',
}
export const notLoosened: ChoiceMeaning = { warning: 'a file cannot loosen what the session allows: its approvals and sandbox hold' }
