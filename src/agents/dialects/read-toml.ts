import { parse, TomlError } from 'smol-toml'
import { messageOf } from '../../util/message-of.ts'
import type { Position } from '../values/source-text.ts'
import type { Findings } from './findings.ts'
import type { ForeignText } from './foreign-agent.ts'

const beginning: Position = { line: 1, column: 1 }
/** Settings are a few lines; the prompt is one of them here. */
const maxDepth = 64

/** Settings in TOML, the prompt among them. What is wrong is told to `findings`. */
export function readToml(findings: Findings): ForeignText | undefined {
  try {
    const table = parse(findings.lines.join('\n'), { maxDepth: maxDepth })
    const places = keyPlaces(findings.lines)
    const settings = Object.entries(table).map(([key, value]) => {
      const at = places.get(key) ?? beginning
      return { key, at, value: plain(value), valueAt: at }
    })
    return { at: beginning, settings }
  } catch (error) {
    const at = error instanceof TomlError ? { line: error.line, column: error.column } : beginning
    findings.problem(at, `the file is not valid TOML: ${firstLine(messageOf(error))}`)
    return undefined
  }
}

/** Where the keys of the top level stand. The parser does not tell, so lines are looked at, but not those inside long strings. */
function keyPlaces(lines: readonly string[]): ReadonlyMap<string, Position> {
  const places = new Map<string, Position>()
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
    if (found !== undefined && !places.has(found)) places.set(found, { line: index + 1, column: line.indexOf(found) + 1 })
    const [opening = ''] = /"""|'''/.exec(line) ?? []
    if (opening !== '' && line.split(opening).length % 2 === 0) closing = opening
  }
  return places
}

/** Dates as text; everything else as it is. */
function plain(value: unknown): unknown {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
  if (Array.isArray(value)) return value.map((each) => plain(each))
  if (typeof value === 'object' && value !== null) return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]))
  return value
}

const firstLine = (message: string): string => message.split('\n', 1)[0]?.replace(/^Invalid TOML document: /, '') ?? message
