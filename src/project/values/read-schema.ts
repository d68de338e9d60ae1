import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'
import type { JsonSchema } from '../../contracts/index.ts'
import { checkSchema } from '../../util/json-schema/check-schema.ts'
import { SourceText, startOfText } from '../../yaml/source-text.ts'
import { neverClosed, unclosedBracket } from '../../yaml/unclosed-bracket.ts'
import { keyText, nodeToJson, positionAt, type ReadResult, type ValueProblem } from '../../yaml/yaml-nodes.ts'

const maxLength = 1_048_576

/** What a schema describes: the input of an agent is an object, its output anything. */
type SchemaRoot = 'object' | 'any'

/** Reads and checks a JSON Schema. */
export function readSchema(node: Node, root: SchemaRoot): ReadResult {
  const problems: ValueProblem[] = []
  const value = nodeToJson(node, problems)
  if (problems.length === 0) {
    for (const { place, message, remedy = 'Use JSON Schema 2020-12.' } of checkSchema(value, '', root))
      problems.push({ node: nodeAt(node, place), message: `${place === '' ? '' : `\`${place}\`: `}${message}`, remedy })
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, value }
}

/** Reads a JSON Schema from the text of a JSON or YAML file. Throws `agent_file_invalid` with all problems. */
export function parseSchemaFile(text: string, place: string, root: SchemaRoot): JsonSchema {
  const source = new SourceText(text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n'), place)
  const schema = readSource(source, root)
  source.throwIfProblems('agent_file_invalid', 'the schema')
  return (schema ?? {}) as JsonSchema
}

/** Shows no lines of a file that is not a schema: the path may lead to a file with secrets. */
function readSource(source: SourceText, root: SchemaRoot): unknown {
  const text = source.lines.join('\n')
  if (text.length > maxLength)
    return void source.problem(startOfText, `the file is longer than ${maxLength} characters`, 'Make it shorter.')
  const counter = new LineCounter()
  try {
    const document = parseDocument<Node>(text, { lineCounter: counter, prettyErrors: false, logLevel: 'error' })
    const { contents, errors, warnings } = document
    for (const error of [...errors, ...warnings]) {
      const open = unclosedBracket(document, text, error)
      const reason = open === undefined ? error.code.toLowerCase().replaceAll('_', ' ') : neverClosed(text[open])
      source.problemWithoutLine(positionAt(counter, open ?? error.pos[0]), `the file is neither JSON nor YAML (${reason})`)
    }
    if (errors.length + warnings.length > 0) return undefined
    if (!isMap(contents)) {
      const at = positionAt(counter, contents?.range?.[0] ?? 0)
      return void source.problemWithoutLine(at, 'a schema must be a map', 'Begin with `{ "type": "object", … }`.')
    }
    const read = readSchema(contents, root)
    if (read.ok) return read.value
    for (const { node, message, remedy } of read.problems) source.problem(positionAt(counter, node?.range?.[0] ?? 0), message, remedy)
  } catch {
    // The parser is recursive: thousands of nested brackets exhaust its stack.
    source.problemWithoutLine(startOfText, 'the file is neither JSON nor YAML')
  }
  return undefined
}

/** The node at a JSON pointer, or the nearest one: a scalar itself, or the key of a map or list. */
function nodeAt(root: Node, pointer: string): Node {
  let at: Node = root
  let shown: Node = root
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (isMap<Node, Node | null>(at)) {
      const pair = at.items.find(({ key }) => keyText(key) === name)
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
