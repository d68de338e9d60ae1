import type { SourceLocation } from '../../yaml/source-text.ts'
import { locationOf, type OptionValues } from '../options/option-values.ts'

/** An entry of `tools`. One that ends in `?` is optional: its tools may be absent. */
interface ToolEntry {
  /** Without the mark. */
  readonly written: string
  readonly isOptional: boolean
  readonly at: SourceLocation
}

const mark = /\?$/

export const toolOfEntry = (entry: string): string => entry.replace(mark, '')

/** In the order of the file. */
export function toolEntries(values: OptionValues): readonly ToolEntry[] {
  const option = values.get('tools')
  const entries = (option?.value ?? []) as readonly string[]
  return entries.map((entry, index) => ({
    written: toolOfEntry(entry),
    isOptional: mark.test(entry),
    at: option ? locationOf(option, index) : { place: 'tools' },
  }))
}
