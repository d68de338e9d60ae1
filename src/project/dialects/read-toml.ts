import { parse, TomlError } from 'smol-toml'
import { messageOf } from '../../util/message-of.ts'
import { type Position, type SourceText, startOfText } from '../../yaml/source-text.ts'
import type { ForeignText } from './foreign-agent.ts'

const maxDepth = 64

/** Reads settings in TOML, including the prompt. Reports problems to `source`. */
export function readToml(source: SourceText): ForeignText | undefined {
  try {
    const table = parse(source.lines.join('\n'), { maxDepth })
    const positions = keyPositions(source.lines)
    const settings = Object.entries(table).map(([key, value]) => {
      const at = positions.get(key) ?? startOfText
      return { key, at, value: withoutDates(value), valueAt: at }
    })
    return { at: startOfText, settings }
  } catch (error) {
    const at = error instanceof TomlError ? { line: error.line, column: error.column } : startOfText
    const [first = ''] = messageOf(error).split('\n', 1)
    source.problem(at, `the file is not valid TOML: ${first.replace(/^Invalid TOML document: /, '')}`)
    return undefined
  }
}

/** Finds top-level keys by line, because the parser has no positions. Skips multi-line strings. */
function keyPositions(lines: readonly string[]): ReadonlyMap<string, Position> {
  const positions = new Map<string, Position>()
  let inTable = false
  let closing: string | undefined
  for (const [index, line] of lines.entries()) {
    if (closing !== undefined) {
      if (line.includes(closing)) closing = undefined
      continue
    }
    const [, table] = /^\s*\[\[?\s*["']?([\w-]+)/.exec(line) ?? []
    const [, key] = (!inTable && /^\s*["']?([\w-]+)["']?\s*[.=]/.exec(line)) || []
    const found = table ?? key
    if (table !== undefined) inTable = true
    if (found !== undefined && !positions.has(found)) positions.set(found, { line: index + 1, column: line.indexOf(found) + 1 })
    const [opening = ''] = /"""|'''/.exec(line) ?? []
    if (opening !== '' && line.split(opening).length % 2 === 0) closing = opening
  }
  return positions
}

function withoutDates(value: unknown): unknown {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
  if (Array.isArray(value)) return value.map(withoutDates)
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withoutDates(each)]))
  return value
}
