import { type ErrorCode, isMap, LineCounter, type Node, parseDocument, YAMLMap } from 'yaml'
import { messageOf } from '../util/message-of.ts'
import type { Position, SourceText } from './source-text.ts'
import { yamlProblem } from './unclosed-bracket.ts'
import { positionAt, refuseAliases } from './yaml-nodes.ts'

/** A setting as written. `value` is null if the key has no value. */
export interface Setting {
  readonly key: string
  readonly at: Position
  readonly value: Node | null
  readonly valueAt: Position
}

export interface Frontmatter {
  /** Where it begins. */
  readonly at: Position
  readonly settings: readonly Setting[]
  /** False if the YAML is invalid, so settings may be missing from the list. */
  readonly isComplete: boolean
  positionOf(node: Node): Position
  /** The text below the settings, `line` is its first. `at` is the closing `---`. */
  readonly prompt: { readonly text: string; readonly at: Position; readonly line: number }
}

/** What a file with frontmatter is called in problems. */
export interface FrontmatterKind {
  readonly file: string
  /** The beginning of such a file. */
  readonly example: string
  /** What is below the settings. */
  readonly body: string
}

const agentFile: FrontmatterKind = { file: 'an agent file', example: '`---`, `description: …`, `models: …`, `---`', body: 'the prompt' }
const fence = '---'
/** Keeps a hostile file from taking seconds to parse. */
const maxFrontmatterLength = 32_768

/** Splits a file and reads its settings. Reports problems to `source`; `undefined` if the settings have no beginning or no end. */
export function readFrontmatter(source: SourceText, kind: FrontmatterKind = agentFile): Frontmatter | undefined {
  const { lines } = source
  const first = lines[0]?.startsWith('#!') ? 1 : 0
  const open = lines.findIndex((line, i) => i >= first && line.trim() !== '')
  const at = { line: Math.max(0, open) + 1, column: 1 }
  if (lines[open]?.trimEnd() !== fence)
    return void source.problem(at, `${kind.file} must begin with settings between two lines of \`---\``, `Begin with ${kind.example}.`)
  const close = lines.findIndex((line, i) => i > open && line.trimEnd() === fence)
  if (close === -1)
    return void source.problem(
      at,
      'the settings that begin here have no end',
      `Add a line of \`---\` between the settings and ${kind.body}.`,
    )
  const body = lines.slice(close + 1)
  const prompt = {
    text: body.join('\n').trim(),
    at: { line: close + 1, column: 1 },
    line: lines.findIndex((line, i) => i > close && line.trim() !== '') + 1,
  }
  // Empty lines replace the lines above, so that the parser counts lines as the file does.
  const yaml = '\n'.repeat(open + 1) + lines.slice(open + 1, close).join('\n')
  return { ...readSettings(source, yaml, at), at, prompt }
}

/** Reads YAML in which `at` is the beginning of the settings. */
export function readSettings(
  source: SourceText,
  yaml: string,
  at: Position,
): Pick<Frontmatter, 'settings' | 'isComplete' | 'positionOf'> & { readonly root?: YAMLMap<Node, Node | null> } {
  const counter = new LineCounter()
  const positionOf = (node: Node): Position => positionAt(counter, node.range?.[0] ?? 0)
  const nothing = { settings: [], isComplete: false, positionOf }
  if (yaml.length > maxFrontmatterLength) {
    const message = `the settings are longer than ${maxFrontmatterLength} characters`
    source.problem(at, message, 'Move long text below the settings, and a long schema into a file (`output.schemaRef`).')
    return nothing
  }
  try {
    const document = parseDocument(yaml, { lineCounter: counter, prettyErrors: false, logLevel: 'error' })
    const errors = [...document.errors, ...document.warnings]
    const fatal = errors.find(({ code }) => !recoverable.has(code))
    for (const error of fatal ? [fatal] : errors) {
      const { code } = error
      const { at, message, remedy } = yamlProblem(document, yaml, error)
      const position = positionAt(counter, at)
      const what = code === 'MULTIPLE_DOCS' ? 'text follows the end of the frontmatter' : message
      source.problem(position, `the settings are not valid YAML: ${what}`, remedy ?? yamlRemedy(code, source.lines, position))
    }
    // Other problems may be consequences of the first one.
    if (fatal) return nothing
    // Most files have no such character, and so neither aliases nor anchors.
    if (/[&*]/.test(yaml)) refuseAliases(source, document, positionOf)
    const { contents } = document
    const isComplete = errors.length === 0
    if (contents === null) return { settings: [], isComplete, positionOf, root: new YAMLMap() }
    if (!isMap<Node, Node | null>(contents)) {
      source.problem(
        positionOf(contents),
        'the settings must be lines of `key: value`',
        'Begin with a line such as `description: What it does`.',
      )
      return nothing
    }
    return { settings: contents.items.map((pair) => settingOf(pair, positionOf)), isComplete, positionOf, root: contents }
  } catch (error) {
    // The parser is recursive: thousands of nested brackets exhaust its stack.
    source.problem(at, `the settings cannot be read as YAML: ${messageOf(error)}`)
    return nothing
  }
}

/** A pair of a YAML map as a setting. */
export function settingOf(
  { key, value }: { readonly key: Node; readonly value: Node | null },
  positionOf: (node: Node) => Position,
): Setting {
  return {
    key: 'value' in key ? String(key.value) : key.toString(),
    at: positionOf(key),
    value: value ?? null,
    valueAt: positionOf(value ?? key),
  }
}

/** Errors after which the rest of the document is still as it was meant. */
const recoverable = new Set<ErrorCode>(['DUPLICATE_KEY', 'MULTIPLE_DOCS', 'TAG_RESOLVE_FAILED'])

const remedies: { readonly [Code in ErrorCode]?: string } = {
  DUPLICATE_KEY: 'Remove one of them.',
  MULTIPLE_DOCS: 'Put all settings between the first two lines of `---`.',
  TAG_RESOLVE_FAILED: 'Remove the tag; put text that begins with `!` in quotes.',
  TAB_AS_INDENT: 'Indent with spaces.',
  MISSING_CHAR: 'Close the quote.',
  BAD_ALIAS: 'Put a value that begins with `*` in quotes: `tools: "*"`.',
}

function yamlRemedy(code: ErrorCode, lines: readonly string[], { line }: Position): string {
  const known = remedies[code]
  if (known !== undefined) return known
  const [here = '', next = ''] = lines.slice(line - 1, line + 1)
  const [, key, text] = /^\s*([\w.-]+): +([^"'[{|>].*: .*)$/.exec(here) ?? []
  if (key !== undefined) return `Put the text in quotes: \`${key}: ${JSON.stringify(text)}\`.`
  if (code === 'BAD_INDENT') return 'Begin the line in the same column as the settings of its group above.'
  if (indentOf(next) > indentOf(here)) return `Line ${line + 1} is indented too far: begin it in the same column as line ${line}.`
  return 'Write each setting as `key: value` on its own line, and put text with `: `, `#` or brackets in quotes.'
}

const indentOf = (text: string): number => text.length - text.trimStart().length
