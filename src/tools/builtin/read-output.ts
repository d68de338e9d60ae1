import type { JsonObject, ToolContext, ToolOutput } from '../../contracts/index.ts'
import { utf8Length } from '../../util/fit-text.ts'
import { plural } from '../../util/plural.ts'
import { showValue } from '../../util/show-value.ts'
import { type Hit, type LinePart, OutputLines, searchOutput } from './output-lines.ts'
import type { ReadInput } from './read-output-tool.ts'

const mostBytes = 22_500
/** For the head, hints and the next call. */
const frameBytes = 300
const mostHits = 50
const longestLine = 2_000
const longestHit = 600
/** Columns before the match in a long line. */
const beforeHit = 150

interface Request {
  readonly handle: string
  readonly fromLine: number
  readonly lines: number
  readonly context: number
  /** The answer must fit the output limit itself. */
  readonly room: number
}

export async function readOutput(input: ReadInput, { maxOutputBytes, storedOutput }: ToolContext): Promise<ToolOutput> {
  const { handle, from_line: fromLine, from_column: column, lines, search, context } = input
  const request = { handle, fromLine, lines, context, room: Math.max(100, Math.min(mostBytes, maxOutputBytes - frameBytes)) }
  const text = await storedOutput(handle)
  if (text === undefined) {
    const remedy = 'Use the handle shown in the cut output: read_output {"handle":"…"}.'
    return {
      ok: false,
      error: { class: 'invalid_input', message: `No stored output has the handle ${showValue(handle)}.`, remedy },
    }
  }
  const output = new OutputLines(text)
  if (fromLine > Math.max(output.count, 1)) {
    const message = `from_line ${fromLine} is past the end: the output has ${plural(output.count, 'line')}.`
    return { ok: false, error: { class: 'invalid_input', message, remedy: `Use a line from 1 to ${Math.max(output.count, 1)}.` } }
  }
  if (search !== undefined) return { ok: true, content: found(output, request, { wanted: search, column: column ?? 1 }) }
  return { ok: true, content: column === undefined ? page(output, request) : longLine(output, request, column) }
}

function page(output: OutputLines, request: Request): string {
  const rows = new Rows(request.room)
  /** How to read the rest of the first line that was cut. */
  let hint: string | undefined
  let line = request.fromLine
  for (const end = Math.min(output.count, line + request.lines - 1); line <= end; line++) {
    const part = output.part(line, 1, { columns: longestLine, bytes: request.room })
    if (!rows.add(`${line}: ${shown(part)}`)) break
    if (part.to < part.of) hint ??= `Long lines are cut. Read on with ${call(request, { from_line: line, from_column: part.to + 1 })}`
  }
  const size = sizeOf(output)
  const head = output.count === 0 ? `The output is empty: ${size}.` : `Lines ${request.fromLine}-${line - 1} of ${size}.`
  const next = line <= output.count ? `Next: ${call(request, { from_line: line })}` : 'End of the output.'
  return [head, ...rows.list, ...(hint === undefined ? [] : [hint]), next].join('\n')
}

function longLine(output: OutputLines, request: Request, column: number): string {
  const line = request.fromLine
  const part = output.part(line, column, { columns: request.room, bytes: request.room })
  const head = `Line ${line} of ${sizeOf(output)}.`
  if (part.text === '') return `${head}\nThe line ends at column ${part.of}, before column ${column}.`
  const next = part.to < part.of ? `Next: ${call(request, { from_line: line, from_column: part.to + 1 })}` : 'End of the line.'
  return `${head}\n${line}: ${part.text} [columns ${part.from}-${part.to} of ${part.of}]\n${next}`
}

function found(output: OutputLines, request: Request, { wanted, column }: { readonly wanted: string; readonly column: number }): string {
  const from = { line: request.fromLine, column }
  const { hits, total } = searchOutput(output, { wanted, from, longest: longestHit, stride: longestHit - beforeHit, most: mostHits + 1 })
  const within = from.line === 1 && from.column === 1 ? '' : ` from line ${from.line} on`
  const head = `${total === 0 ? 'No hits' : plural(total, 'hit')} for ${showValue(wanted)}${within} in ${sizeOf(output)}.`
  if (total === 0) return `${head} Try a shorter text, or page with ${call(request, {})}`
  const rows = new Rows(request.room)
  const shownHits = addHits({ rows, output }, hits.slice(0, mostHits), request.context)
  const next = hits[shownHits]
  if (next === undefined) return [head, ...rows.list].join('\n')
  const where = { search: wanted, from_line: next.line, ...(next.column > 1 && { from_column: next.column }) }
  return [head, ...rows.list, `${total - shownHits} more: ${call(request, where)}`].join('\n')
}

/** Adds matches with context lines, each line once. Returns the number of matches that fit. */
function addHits({ rows, output }: { rows: Rows; output: OutputLines }, hits: readonly Hit[], context: number): number {
  let last = 0
  for (const [index, hit] of hits.entries()) {
    const before = Math.max(last + 1, hit.line - context, 1)
    const after = Math.min(hit.line + context, (hits[index + 1]?.line ?? output.count + 1) - 1, output.count)
    const block: string[] = last > 0 && before > last + 1 ? ['--'] : []
    for (let line = before; line < hit.line; line++) block.push(contextRow(output, line))
    block.push(hitRow(output, hit))
    for (let line = hit.line + 1; line <= after; line++) block.push(contextRow(output, line))
    if (!rows.add(block.join('\n'))) return index
    last = Math.max(hit.line, after)
  }
  return hits.length
}

const contextRow = (output: OutputLines, line: number): string =>
  `  ${line}: ${shown(output.part(line, 1, { columns: longestHit / 2, bytes: 400 }))}`

function hitRow(output: OutputLines, { line, column }: Hit): string {
  const isShort = output.length(line) <= longestHit
  return `> ${line}: ${shown(output.part(line, isShort ? 1 : column - beforeHit, { columns: longestHit, bytes: 4 * longestHit }))}`
}

const shown = ({ text, from, to, of }: LinePart): string => (from === 1 && to === of ? text : `${text} [columns ${from}-${to} of ${of}]`)

class Rows {
  readonly list: string[] = []
  #left: number

  constructor(room: number) {
    this.#left = room
  }

  /** The first row is always added. */
  add(row: string): boolean {
    this.#left -= utf8Length(row) + 1
    if (this.#left < 0 && this.list.length > 0) return false
    this.list.push(row)
    return true
  }
}

const call = ({ handle }: Request, more: JsonObject): string => `read_output ${JSON.stringify({ handle, ...more })}`

const sizeOf = (output: OutputLines): string => `${plural(output.count, 'line')} (${utf8Length(output.text)} bytes)`
