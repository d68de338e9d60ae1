/*
 * 1. Reading does not throw: each problem is stored with its place. `done` throws all of them; `refuse` throws one instead.
 * 2. Anchors, aliases and merge keys are refused, so that a small text cannot expand.
 */
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from 'yaml'
import { type ErrorCode, type Problem, TroupeError } from '../contracts/index.ts'
import { nearestNames } from '../util/nearest-names.ts'

const maxProblems = 25

/** Where a problem is: a node, or an offset into the text. */
type Spot = Node | number

/** Reads YAML strictly: unknown keys are problems, and every problem has its line. */
export class YamlSource {
  readonly root: Node | null
  readonly #problems: Problem[] = []
  readonly #lines: readonly string[]
  readonly #counter = new LineCounter()
  readonly #place: string
  #document: Document | undefined

  constructor(text: string, place: string) {
    this.#place = place
    this.#lines = text.split(/\r\n|\n/)
    this.root = this.#parse(text)
  }

  problem(spot: Spot, message: string, remedy?: string): void {
    const { line, col } = this.#counter.linePos(typeof spot === 'number' ? spot : (spot.range?.[0] ?? 0))
    const written = this.#lines[line - 1]
    this.#problems.push({
      place: `${this.#place}:${Math.max(1, line)}:${Math.max(1, col)}`,
      message: sentence(message),
      ...(remedy !== undefined && { remedy }),
      ...(written !== undefined && { line: written }),
    })
  }

  /** For a text that is something else, perhaps private: throws without showing any of it. */
  refuse(code: ErrorCode, { what, message, remedy }: { readonly what: string; readonly message: string; readonly remedy: string }): never {
    const problem = { place: `${this.#place}:1:1`, message: sentence(message), remedy }
    throw new TroupeError(code, sentence(`${what} ${this.#place} has a problem`), { problems: [problem] })
  }

  /** The values of a map by key. Unknown keys are problems. */
  fields<Key extends string>(node: Node, what: string, known: readonly Key[]): { readonly [K in Key]?: Node | null } {
    const found: { [K in Key]?: Node | null } = {}
    if (!isMap<Node, Node | null>(node)) {
      this.problem(node, `${what} must be a map with ${list(known)}, not ${kindOf(node)}`)
      return found
    }
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : ''
      if ((known as readonly string[]).includes(name)) found[name as Key] = value
      else this.problem(key, `${what} has no key \`${name}\``, suggestion(name, known))
    }
    return found
  }

  items(node: Node, what: string): readonly Node[] {
    if (isSeq<Node>(node)) return node.items
    this.problem(node, `${what} must be a list, not ${kindOf(node)}`)
    return []
  }

  text(node: Node | null, what: string): string | undefined {
    if (isScalar(node) && typeof node.value === 'string') return node.value
    this.problem(node ?? 0, `${what} must be text, not ${kindOf(node)}`, 'Put it in quotes.')
    return undefined
  }

  /** The value of a node as plain data. */
  plain(node: Node): unknown {
    return this.#document === undefined ? undefined : node.toJS(this.#document)
  }

  /** Throws the problems, in the order of the text. */
  done(code: ErrorCode, what: string): void {
    if (this.#problems.length === 0) return
    const all = this.#problems.toSorted(byPlace)
    const shown = all.length > maxProblems ? `; here are the first ${maxProblems}` : ''
    const count = all.length === 1 ? 'a problem' : `${all.length} problems`
    throw new TroupeError(code, sentence(`${what} ${this.#place} has ${count}${shown}`), { problems: all.slice(0, maxProblems) })
  }

  #parse(text: string): Node | null {
    try {
      const document = parseDocument(text, { lineCounter: this.#counter, prettyErrors: false, stringKeys: true })
      for (const error of [...document.errors, ...document.warnings]) this.problem(error.pos[0], firstLine(error.message))
      visit(document, {
        Alias: (_key, node) => this.problem(node, 'aliases are not allowed here', 'Write the value out.'),
        Value: (_key, node) => {
          if (node.anchor !== undefined) this.problem(node, `the anchor \`&${node.anchor}\` is not allowed here`, 'Leave it out.')
        },
      })
      this.#document = document
      return document.contents
    } catch (error) {
      this.problem(0, `the text cannot be read as YAML: ${error instanceof Error ? firstLine(error.message) : String(error)}`)
      return null
    }
  }
}

export function kindOf(node: Node | null | undefined): string {
  if (isMap(node)) return 'a map'
  if (isSeq(node)) return 'a list'
  if (isAlias(node)) return 'an alias'
  const value = isScalar(node) ? node.value : null
  if (value === null) return 'nothing'
  return typeof value === 'string' ? 'text' : `the ${typeof value} ${String(value)}`
}

/** The nearest name, or all names if none is near. */
export function suggestion(wanted: string, known: readonly string[]): string {
  const near = nearestNames(wanted, known)
  return near.length > 0 ? `Did you mean ${list(near)}?` : `Known here: ${list(known)}.`
}

const list = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ')
const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
const firstLine = (message: string): string => message.split('\n', 1)[0] ?? message

function byPlace(a: Problem, b: Problem): number {
  const [lineA = 0, columnA = 0] = a.place.split(':').slice(-2).map(Number)
  const [lineB = 0, columnB = 0] = b.place.split(':').slice(-2).map(Number)
  return lineA - lineB || columnA - columnB
}
