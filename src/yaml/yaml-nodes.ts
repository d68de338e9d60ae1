import { type Document, isAlias, isMap, isScalar, isSeq, type LineCounter, type Node, parseDocument, visit } from 'yaml'
import { messageOf } from '../util/message-of.ts'
import type { Position, SourceText } from './source-text.ts'

/** A value that was read from a node, or the problems with it. */
export type ReadResult = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problems: readonly ValueProblem[] }

export interface ValueProblem {
  /** Null: the value as a whole. */
  readonly node: Node | null
  readonly message: string
  /** Default: an example of the value. */
  readonly remedy?: string
}

/** A node as JSON. Scalars that JSON does not have, such as `.nan`, are problems and become null. */
export function nodeToJson(node: Node | null, problems: ValueProblem[] = []): unknown {
  if (isMap<Node, Node | null>(node))
    return Object.fromEntries(node.items.map(({ key, value }) => [keyText(key), nodeToJson(value ?? null, problems)]))
  if (isSeq<Node>(node)) return node.items.map((each) => nodeToJson(each, problems))
  const value: unknown = isScalar(node) ? node.value : null
  const isJson = value === null || ['string', 'boolean'].includes(typeof value) || Number.isFinite(value)
  if (!isJson) problems.push({ node, message: `${String(value)} is not a JSON value`, remedy: 'Remove it.' })
  return isJson ? value : null
}

export const keyText = (key: Node): string => (isScalar(key) ? String(key.value) : '')

/** The trimmed text of a node; empty if it is not text. */
export const textOfNode = (node: Node | null | undefined): string =>
  isScalar(node) && typeof node.value === 'string' ? node.value.trim() : ''

export function positionAt(counter: LineCounter, offset: number): Position {
  const { line, col } = counter.linePos(offset)
  return { line: Math.max(1, line), column: Math.max(1, col) }
}

/** Aliases can make a small file expand to a huge one. */
export function refuseAliases(source: SourceText, document: Document, positionOf: (node: Node) => Position): void {
  visit(document, {
    Alias: (_key, node) =>
      source.problem(positionOf(node), 'aliases are not allowed', `Put text that begins with \`*\` in quotes: \`"*${node.source}"\`.`),
    Value: (_key, node) => {
      if (node.anchor !== undefined) source.problem(positionOf(node), `the anchor \`&${node.anchor}\` is not allowed`, 'Remove it.')
    },
  })
}

/** Parses a value that is written as in an agent file. */
export function parseValue(
  text: string,
): { readonly ok: true; readonly node: Node | null } | { readonly ok: false; readonly message: string } {
  try {
    const { contents, errors, warnings } = parseDocument<Node>(text, { prettyErrors: false, logLevel: 'error' })
    const [error] = [...errors, ...warnings]
    if (error) return { ok: false, message: error.message.split('\n', 1)[0] ?? '' }
    return isAlias(contents) ? { ok: false, message: 'aliases are not allowed' } : { ok: true, node: contents }
  } catch (error) {
    // The parser is recursive: thousands of nested brackets exhaust its stack.
    return { ok: false, message: messageOf(error) }
  }
}
