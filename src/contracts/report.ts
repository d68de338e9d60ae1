import type { OutputContract } from './agent.ts'
import type { Json } from './json.ts'

export interface Report {
  readonly format: OutputContract['format']
  readonly text: string
  readonly value?: Json
}

/** The position of a session in its tree. */
export interface Trace {
  readonly originId: string
  readonly parentId?: string
  /** Agents from the root to this one. */
  readonly callPath: string
  /** Turns from the root's to this session's. */
  readonly turnPath: string
}
