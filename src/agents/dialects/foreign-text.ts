import type { Position } from '../source-text.ts'

export interface ForeignSetting {
  readonly key: string
  readonly at: Position
  /** Null where nothing stands behind the key. */
  readonly value: unknown
  readonly valueAt: Position
}

/** A file, taken apart. */
export interface ForeignText {
  /** Where the settings begin. */
  readonly at: Position
  readonly settings: readonly ForeignSetting[]
  /** What stands below the settings, in formats where something does. */
  readonly prompt?: { readonly value: string; readonly at: Position }
}
