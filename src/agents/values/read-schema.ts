import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'
import type { JsonSchema } from '../../contracts/index.ts'
import { checkSchema } from '../../util/json-schema/check-schema.ts'
import { type Position, SourceText } from './source-text.ts'
import { type Fault, nodeToJson } from './yaml-nodes.ts'

export type ReadSchema = { readonly ok: true; readonly schema: JsonSchema } | { readonly ok: false; readonly faults: readonly Fault[] }

const maxLength = 1_048_576

/** What a schema is about: the input of an agent is an object, its output anything. */
export type SchemaRoot = 'object' | 'any'

/** A JSON Schema out of YAML, checked; each fault stands at the node that it is about. */
export function readSchema(node: Node, root: SchemaRoot): ReadSchema {
  const faults: Fault[] = []
  const schema = nodeToJson(node, faults)
  if (faults.length === 0) {
    for (const { place, message, remedy = 'JSON Schema 2020-12 is meant.' } of checkSchema(schema, '', root))
      faults.push({ node: nodeAt(node, place), message: `${place === '' ? '' : `\`${place}\`: `}${message}`, remedy })
  }
  return faults.length > 0 ? { ok: false, faults } : { ok: true, schema: schema as JsonSchema }
}

/** A file with a JSON Schema in JSON or YAML. Throws `agent_file_invalid` with everything that is wrong, each at its line. */
export function parseSchemaFile(text: string, place: string, root: SchemaRoot): JsonSchema {
  const source = new SourceText(text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n'), place)
  const schema = text.length > maxLength ? tooLong(source) : schemaOf(source, root)
  source.done('agent_file_invalid', 'the schema')
  return schema ?? {}
}

function tooLong(source: SourceText): undefined {
  source.problem({ line: 1, column: 1 }, `the file is longer than ${maxLength} characters`, 'A schema is a page or two.')
}

/** Of a file that is no schema at all nothing is shown: a path may lead to anything, and what it leads to may be a secret. */
function schemaOf(source: SourceText, root: SchemaRoot): JsonSchema | undefined {
  const counter = new LineCounter()
  const at = (offset: number): Position => {
    const { line, col } = counter.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  try {
    const document = parseDocument<Node>(source.lines.join('\n'), { lineCounter: counter, prettyErrors: false, logLevel: 'error' })
    const wrong = [...document.errors, ...document.warnings]
    for (const { pos, code } of wrong) source.problemWithoutLine(at(pos[0]), `this is neither JSON nor YAML (${wordsOf(code)})`)
    if (wrong.length > 0) return undefined
    if (!isMap(document.contents)) {
      const begin = at(document.contents?.range?.[0] ?? 0)
      source.problemWithoutLine(begin, 'a schema must be a map', 'Begin with `{ "type": "object", … }`.')
      return undefined
    }
    const read = readSchema(document.contents, root)
    if (read.ok) return read.schema
    for (const { node, message, remedy } of read.faults) source.problem(at(node?.range?.[0] ?? 0), message, remedy)
  } catch {
    // The parser is recursive: thousands of nested brackets exhaust its stack.
    source.problemWithoutLine(at(0), 'this is neither JSON nor YAML that can be read')
  }
  return undefined
}

/** `BAD_INDENT` → `bad indent`. */
const wordsOf = (code: string): string => code.toLowerCase().replaceAll('_', ' ')

/** Where `/properties/city/type` stands: the value, or the key of a value with parts. As near as the pointer leads. */
function nodeAt(root: Node, pointer: string): Node {
  let at: Node = root
  let shown: Node = root
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (isMap<Node, Node | null>(at)) {
      const pair = at.items.find(({ key }) => isScalar(key) && String(key.value) === name)
      if (!pair?.value) return pair?.key ?? shown
      shown = isScalar(pair.value) ? pair.value : pair.key
      at = pair.value
    } else if (isSeq<Node>(at)) {
      const item = at.items[Number(name)]
      if (!item) return shown
      at = item
      shown = item
    } else return shown
  }
  return shown
}
