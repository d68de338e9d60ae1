// 1. The file is JSON: YAML and JavaScript syntax are problems, but comments and trailing commas do not hide other problems.
// 2. Reading does not throw; problems are collected with their places.
// 3. Lines in problems show no secrets.
import { LineCounter, type Node, parseDocument } from 'yaml'
import { messageOf } from '../../../util/message-of.ts'
import { type Position, SourceText } from '../../../yaml/source-text.ts'
import { neverClosed } from '../../../yaml/unclosed-bracket.ts'
import { positionAt } from '../../../yaml/yaml-nodes.ts'
import { decodeText } from '../../values/decode-text.ts'
import { maskJson } from '../hide-secrets.ts'
import { type FileOrigin, type LayerName, placeOf } from '../sourced.ts'
import { findJsonError } from './json-syntax.ts'

export const maxConfigLength = 262_144
const maxDepth = 64

/** One JSON file of the configuration. */
export class JsonSource {
  readonly root: Node | null
  readonly file: string
  readonly #layer: LayerName
  readonly #lines = new LineCounter()
  readonly #source: SourceText
  readonly notices: { readonly place: string; readonly message: string }[] = []

  constructor(content: string | Uint8Array, file: string, layer: LayerName) {
    this.file = file
    this.#layer = layer
    const decoded = decodeText(content, file, maxConfigLength)
    const text = decoded.ok ? decoded.text : ''
    this.#source = new SourceText(maskJson(text), file)
    this.#lines.addNewLine(0)
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) this.#lines.addNewLine(at + 1)
    if (!decoded.ok) this.problem(0, decoded.message, decoded.remedy)
    this.root = text.trim() === '' ? null : this.#parse(text)
  }

  problem(spot: Node | number, message: string, remedy?: string): void {
    this.#source.problem(this.#position(spot), message, remedy)
  }

  notice(spot: Node, message: string): void {
    this.notices.push({ place: placeOf(this.origin(spot)), message })
  }

  origin(spot: Node | number): FileOrigin {
    return { kind: 'file', layer: this.#layer, file: this.file, ...this.#position(spot) }
  }

  throwIfProblems(): void {
    this.#source.throwIfProblems('config_invalid', 'the configuration')
  }

  #position(spot: Node | number): Position {
    return positionAt(this.#lines, typeof spot === 'number' ? spot : (spot.range?.[0] ?? 0))
  }

  #parse(text: string): Node | null {
    const { json, isTooDeep } = this.#withoutExtras(text)
    if (isTooDeep || !this.#isJson(json)) return null
    try {
      // Our own reader finds duplicate keys; the parser would compare each key with each.
      return parseDocument<Node>(json, { prettyErrors: false, logLevel: 'silent', uniqueKeys: false }).contents
    } catch (error) {
      this.problem(0, `this cannot be read as JSON: ${messageOf(error)}`)
      return null
    }
  }

  /** Reports comments and trailing commas, and replaces them by spaces. */
  #withoutExtras(text: string): { readonly json: string; readonly isTooDeep: boolean } {
    const uncommented = text.replace(comments, (token, at: number) => {
      if (token.startsWith('"')) return token
      this.problem(at, 'JSON has no comments', 'Remove the comment.')
      return token.replace(/[^\n]/g, ' ')
    })
    let depth = 0
    let isTooDeep = false
    const json = uncommented.replace(commasAndBrackets, (token, at: number) => {
      if (token === ',') {
        this.problem(at, 'JSON has no comma after the last value', 'Remove the comma.')
        return ' '
      }
      if (token === '{' || token === '[') depth++
      if (token === '}' || token === ']') depth--
      if (depth > maxDepth && !isTooDeep) {
        isTooDeep = true
        this.problem(at, `this is nested more than ${maxDepth} levels deep`, 'Use fewer levels.')
      }
      return token
    })
    return { json, isTooDeep }
  }

  #isJson(json: string): boolean {
    const error = findJsonError(json)
    if (!error) return true
    if (error.unclosed !== undefined) {
      this.problem(error.unclosed, `this is not JSON: ${neverClosed(json[error.unclosed])}`, 'Close it.')
      return false
    }
    const there = json[error.at]
    const found = there === undefined ? 'found the end of the file' : `found ${JSON.stringify(there)}`
    this.problem(error.at, `this is not JSON: expected ${error.expected}, ${found}`, remedyFor(there, error.expected))
    return false
  }
}

// Both match strings too, so that nothing inside a string is replaced; what is never closed ends with the text.
const comments = /"(?:[^"\\\n]|\\.)*"?|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|#[^\n]*/g
const commasAndBrackets = /"(?:[^"\\\n]|\\.)*"?|,(?=\s*[}\]])|[{}[\]]/g

function remedyFor(there: string | undefined, expected: string): string {
  if (there === '"' && /^a (?:value|key)/.test(expected)) return 'Close the text on the same line; write `\\` as `\\\\`.'
  if (there === '"') return 'Is a comma missing before it?'
  if (there === "'" || /[\w$]/.test(there ?? '')) return 'Put keys and texts in double quotes: `{ "key": "value" }`.'
  return 'Check the JSON syntax near this position.'
}
