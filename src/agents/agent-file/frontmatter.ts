import { type Document, type ErrorCode, isMap, isScalar, LineCounter, type Node, parseDocument, visit } from 'yaml'
import type { Position, SourceText } from '../values/source-text.ts'

/** A setting as written. `value` is null where nothing stands behind the key. */
export interface Setting {
  readonly key: string
  readonly at: Position
  readonly value: Node | null
  readonly valueAt: Position
}

export interface Frontmatter {
  /** Where it opens. */
  readonly at: Position
  readonly settings: readonly Setting[]
  /** False where the YAML is so wrong that nothing can be said about what is missing. */
  readonly whole: boolean
  positionOf(node: Node): Position
  /** `at` is where it is missed if it is not there, `line` where its text begins. */
  readonly prompt: { readonly text: string; readonly at: Position; readonly line: number }
}

const fence = '---'
/** Settings are a few lines. The bound keeps a hostile file from costing seconds. */
const maxFrontmatterLength = 32_768

/** Splits an agent file and reads its settings. What is wrong is told to `source`; `undefined` where the parts cannot be told apart. */
export function readFrontmatter(source: SourceText): Frontmatter | undefined {
  const { lines } = source
  const first = lines[0]?.startsWith('#!') ? 1 : 0
  const open = lines.findIndex((line, i) => i >= first && line.trim() !== '')
  const at = { line: Math.max(0, open) + 1, column: 1 }
  if (lines[open]?.trimEnd() !== fence) {
    source.problem(
      at,
      'an agent file begins with its settings between two lines of `---`',
      'Begin with `---`, `description: …`, `models: …`, `---`.',
    )
    return undefined
  }
  const close = lines.findIndex((line, i) => i > open && line.trimEnd() === fence)
  if (close === -1) {
    source.problem(at, 'the settings that begin here are never closed', 'Put a line of `---` between the settings and the prompt.')
    return undefined
  }
  const begin = lines.findIndex((line, i) => i > close && line.trim() !== '')
  const prompt = {
    text: lines
      .slice(close + 1)
      .join('\n')
      .trim(),
    at: { line: close + 1, column: 1 },
    line: begin + 1,
  }
  // Empty lines stand for what comes before, so that the parser counts lines as the file does.
  const yaml = '\n'.repeat(open + 1) + lines.slice(open + 1, close).join('\n')
  return { ...readSettings(source, yaml, at), at, prompt }
}

function readSettings(source: SourceText, yaml: string, at: Position): Pick<Frontmatter, 'settings' | 'whole' | 'positionOf'> {
  const counter = new LineCounter()
  const position = (offset: number): Position => {
    const { line, col } = counter.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  const positionOf = (node: Node): Position => position(node.range?.[0] ?? 0)
  const nothing = { settings: [], whole: false, positionOf }
  if (yaml.length > maxFrontmatterLength) {
    source.problem(
      at,
      `the settings are longer than ${maxFrontmatterLength} characters`,
      'Long text belongs below the settings, into the prompt; a long schema into a file (`output.schemaRef`).',
    )
    return nothing
  }
  try {
    const document = parseDocument(yaml, { lineCounter: counter, prettyErrors: false, logLevel: 'error' })
    const faults = [...document.errors, ...document.warnings]
    const broken = faults.find(({ code }) => !apart.has(code))
    for (const { pos, message, code } of broken ? [broken] : faults)
      source.problem(
        position(pos[0]),
        sentence(code === 'MULTIPLE_DOCS' ? 'text follows the end of the frontmatter' : message),
        yamlRemedy(code, source.lines, position(pos[0])),
      )
    // Whatever else is wrong may be only what the parser has made of it.
    if (broken) return nothing
    // Without these there can be neither, and most files have none.
    if (/[&*]/.test(yaml)) refuseAliases(source, document, positionOf)
    const { contents } = document
    if (contents === null) return { settings: [], whole: faults.length === 0, positionOf }
    if (!isMap<Node, Node | null>(contents)) {
      source.problem(positionOf(contents), 'the settings must be lines of `key: value`')
      return nothing
    }
    const settings = contents.items.map(({ key, value }) => ({
      key: isScalar(key) ? String(key.value) : yaml.slice(key.range?.[0], key.range?.[1]),
      at: positionOf(key),
      value: value ?? null,
      valueAt: value ? positionOf(value) : positionOf(key),
    }))
    return { settings, whole: faults.length === 0, positionOf }
  } catch (error) {
    // The parser is recursive: thousands of nested brackets exhaust its stack.
    source.problem(at, `the settings cannot be read as YAML: ${error instanceof Error ? error.message : String(error)}`)
    return nothing
  }
}

/** Faults that leave the rest as it was meant. */
const apart = new Set<ErrorCode>(['DUPLICATE_KEY', 'MULTIPLE_DOCS', 'TAG_RESOLVE_FAILED'])

const remedies: { readonly [Code in ErrorCode]?: string } = {
  DUPLICATE_KEY: 'Remove one of them.',
  MULTIPLE_DOCS: 'All settings stand between the first two lines of `---`.',
  TAG_RESOLVE_FAILED: 'Leave the tag out; put text that begins with `!` in quotes.',
  TAB_AS_INDENT: 'Indent with spaces.',
  MISSING_CHAR: 'Close the quote.',
  BAD_ALIAS: 'Put a value that begins with `*` in quotes: `tools: "*"`.',
}

/** What to write instead, from the line where the parser gave up. */
function yamlRemedy(code: ErrorCode, lines: readonly string[], { line }: Position): string {
  const known = remedies[code]
  if (known !== undefined) return known
  const [here = '', next = ''] = lines.slice(line - 1, line + 1)
  const [, key, text] = /^\s*([\w.-]+): +([^"'[{|>].*: .*)$/.exec(here) ?? []
  if (key !== undefined) return `Put the text in quotes: \`${key}: ${JSON.stringify(text)}\`.`
  const above = lines.slice(0, line - 1).join('\n')
  const isOpen = above.replaceAll(/[^[{]/g, '').length > above.replaceAll(/[^\]}]/g, '').length
  if (code === 'BAD_INDENT' && isOpen) return 'Close the bracket before the line ends, or indent all lines of the list alike.'
  if (code === 'BAD_INDENT') return 'Begin the line in the same column as the settings of its group above.'
  if (indentOf(next) > indentOf(here)) return `Line ${line + 1} is indented too far: begin it in the same column as line ${line}.`
  return 'Write each setting as `key: value` on a line of its own, and text with `: `, `#` or brackets in quotes.'
}

const indentOf = (text: string): number => text.length - text.trimStart().length

/** What stands in several places at once could make a file larger than it looks. */
function refuseAliases(source: SourceText, document: Document, positionOf: (node: Node) => Position): void {
  visit(document, {
    Alias: (_key, node) =>
      source.problem(
        positionOf(node),
        'aliases are not allowed here',
        `Put a text that begins with a star in quotes: \`"*${node.source}"\`.`,
      ),
    Value: (_key, node) => {
      if (node.anchor !== undefined) source.problem(positionOf(node), `the anchor \`&${node.anchor}\` is not allowed here`, 'Leave it out.')
    },
  })
}

function sentence(message: string): string {
  const first = message.split('\n', 1)[0] ?? message
  return `the settings are not valid YAML: ${first}`
}
