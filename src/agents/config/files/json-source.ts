/*
 * 1. The file is JSON: what only YAML or JavaScript would take is a problem, but comments and last commas do not hide what
 *    else is wrong.
 * 2. Nothing throws while reading; problems are remembered with their places.
 * 3. Lines that are shown hold no secret.
 */
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'
import type { Json } from '../../../contracts/index.ts'
import { messageOf } from '../../../util/message-of.ts'
import { type Position, SourceText } from '../../values/source-text.ts'
import { maskJson } from '../hide-secrets.ts'
import type { FileOrigin, LayerName } from '../sourced.ts'
import { textOf } from './decode.ts'
import { findJsonError } from './json-syntax.ts'

const maxLength = 262_144
const maxDepth = 64

/** One JSON file of the configuration, every node with its place. */
export class JsonSource {
  readonly root: Node | null
  readonly file: string
  readonly #layer: LayerName
  readonly #text: string
  readonly #lines = new LineCounter()
  readonly #problems: { readonly at: Position; readonly message: string; readonly remedy: string | undefined }[] = []

  constructor(content: string | Uint8Array, file: string, layer: LayerName) {
    this.file = file
    this.#layer = layer
    const decoded = textOf(content, maxLength)
    this.#text = decoded.ok ? decoded.text : ''
    this.#lines.addNewLine(0)
    for (let at = this.#text.indexOf('\n'); at !== -1; at = this.#text.indexOf('\n', at + 1)) this.#lines.addNewLine(at + 1)
    if (!decoded.ok) this.problem(0, decoded.message, decoded.remedy)
    this.root = this.#text.trim() === '' ? null : this.#parse(this.#text)
  }

  problem(spot: Node | number, message: string, remedy?: string): void {
    this.#problems.push({ at: this.#position(spot), message, remedy })
  }

  origin(spot: Node | number): FileOrigin {
    return { kind: 'file', layer: this.#layer, file: this.file, ...this.#position(spot) }
  }

  /** Throws what was found. */
  done(): void {
    if (this.#problems.length === 0) return
    const shown = new SourceText(maskJson(this.#text), this.file)
    for (const { at, message, remedy } of this.#problems) shown.problem(at, message, remedy)
    shown.done('config_invalid', 'the configuration')
  }

  #position(spot: Node | number): Position {
    const { line, col } = this.#lines.linePos(typeof spot === 'number' ? spot : (spot.range?.[0] ?? 0))
    return { line, column: col }
  }

  #parse(text: string): Node | null {
    const { json, whole } = this.#withoutExtras(text)
    if (!whole || !this.#isJson(json)) return null
    try {
      // Keys are compared by our own reader: the parser compares each with each.
      return parseDocument<Node>(json, { prettyErrors: false, logLevel: 'silent', uniqueKeys: false }).contents
    } catch (error) {
      this.problem(0, `this cannot be read as JSON: ${messageOf(error)}`)
      return null
    }
  }

  /** Tells comments and commas that JSON does not have, and puts spaces in their places. */
  #withoutExtras(text: string): { readonly json: string; readonly whole: boolean } {
    const uncommented = text.replace(comments, (token, at: number) => {
      if (token.startsWith('"')) return token
      this.problem(at, 'JSON has no comments', 'Leave the comment out.')
      return token.replace(/[^\n]/g, ' ')
    })
    let depth = 0
    let deepest = 0
    const json = uncommented.replace(commasAndBrackets, (token, at: number) => {
      if (token === ',') {
        this.problem(at, 'JSON has no comma after the last value', 'Leave the comma out.')
        return ' '
      }
      if (token === '{' || token === '[') depth++
      if (token === '}' || token === ']') depth--
      if (depth > deepest) deepest = depth
      if (depth === maxDepth + 1 && deepest === depth)
        this.problem(at, `this is nested more than ${maxDepth} deep`, 'Settings are a few levels.')
      return token
    })
    return { json, whole: deepest <= maxDepth }
  }

  #isJson(json: string): boolean {
    const fault = findJsonError(json)
    if (fault) {
      const there = json[fault.at]
      const found = there === undefined ? 'and the file ends' : `not ${JSON.stringify(there)}`
      this.problem(fault.at, `this is not JSON: expected ${fault.expected}, ${found}`, remedyFor(there, fault.expected))
    }
    return fault === undefined
  }
}

// Each matches texts too, so that nothing inside of one is taken for anything else; and whatever is never closed, to its end.
const comments = /"(?:[^"\\\n]|\\.)*"?|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|#[^\n]*/g
const commasAndBrackets = /"(?:[^"\\\n]|\\.)*"?|,(?=\s*[}\]])|[{}[\]]/g

function remedyFor(there: string | undefined, expected: string): string {
  if (there === undefined) return 'Close what is open.'
  if (there === '"' && /^a (?:value|key)/.test(expected)) return 'Close the text on the same line; a `\\` in it is written `\\\\`.'
  if (there === '"') return 'Is a comma missing before it?'
  if (there === "'" || /[\w$]/.test(there)) return 'Keys and texts stand in double quotes: `{ "key": "value" }`.'
  return 'Compare it with `{ "key": "value", "list": [1, true] }`.'
}

/** A node as the JSON that it stands for. */
export function nodeToJson(node: Node | null): Json {
  if (isMap<Node, Node | null>(node))
    return Object.fromEntries(node.items.map(({ key, value }) => [isScalar(key) ? String(key.value) : '', nodeToJson(value ?? null)]))
  if (isSeq<Node>(node)) return node.items.map((each) => nodeToJson(each))
  return isScalar(node) ? (node.value as Json) : null
}
