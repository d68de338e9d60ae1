import { isMap, isScalar, type Node } from 'yaml'
import { defaultLimits, describeBounds, isWithin, type NumberBounds } from '../../contracts/index.ts'
import type { SimpleType } from '../../policy/shape.ts'
import { parseDuration, parseSize, showDuration, showSize } from '../../util/parse-units.ts'
import { describeNode, didYouMean, listNames } from '../../yaml/messages.ts'
import { nodeToJson, type ReadResult, textOfNode, type ValueProblem } from '../../yaml/yaml-nodes.ts'
import { type ListEntry, readList, readTexts } from './read-list.ts'
import { readRules } from './read-rules.ts'

/** The type of an option of an agent, or of a value in a configuration. */
export type ValueType =
  | SimpleType
  | { readonly kind: 'text' }
  /** A list of texts for people. */
  | { readonly kind: 'texts'; readonly max: number; readonly maxChars: number }
  /** One name or a list of names. */
  | {
      readonly kind: 'names'
      readonly of: Extract<ListEntry, 'model' | 'host' | 'folder' | 'variable' | 'parameter' | 'extension' | 'event'>
    }
  | (NumberBounds & { readonly kind: 'number' })
  /** An integer from 1, `false` for 1, `true` for the default. */
  | { readonly kind: 'parallel' }
  | { readonly kind: 'schema' }
  | { readonly kind: 'file' }
  /** The tool name of an agent. */
  | { readonly kind: 'identifier' }
  /** Names, and patterns that end in `*`. */
  | { readonly kind: 'patterns'; readonly of: Extract<ListEntry, 'tool' | 'skill' | 'client tool'> }
  /** Files or names of agents. */
  | { readonly kind: 'references' }
  /** `ApprovalRule[]`. */
  | { readonly kind: 'rules' }
  /** MCP servers. */
  | { readonly kind: 'servers' }
  /** Any JSON object. */
  | { readonly kind: 'map' }

export interface ValueSpec {
  readonly type: ValueType
  readonly example: string
  /** Whether messages show the value or only its kind. Default: `value`. */
  readonly detail?: 'value' | 'kind'
}

/** Reads a node as a typed value. Of a schema it checks only that it is a map. */
export function readValue(key: string, { type, example, detail }: ValueSpec, node: Node | null): ReadResult {
  const scalar: unknown = isScalar(node) ? node.value : undefined
  const text = textOfNode(node)
  const refused = (expected: string, remedy?: string): ReadResult => ({
    ok: false,
    problems: [
      { node, message: `\`${key}\` must be ${expected}, not ${describeNode(node, detail)}`, ...(remedy !== undefined && { remedy }) },
    ],
  })
  /** `undefined`: the value is not as expected. */
  const accept = (value: unknown, expected: string, remedy?: string): ReadResult =>
    value === undefined ? refused(expected, remedy) : { ok: true, value }
  switch (type.kind) {
    case 'text':
      return accept(text === '' ? undefined : text, 'text')
    case 'texts':
      return readTexts(node, { key, type, example })
    case 'file':
      return accept(text === '' ? undefined : text, 'the path of a file')
    case 'identifier':
      return accept(identifier.test(text) ? text : undefined, 'a name', identifierRemedy)
    case 'names':
    case 'patterns':
      return readList(node, { key, of: type.of, example })
    case 'references':
      return readList(node, { key, of: 'agent', example })
    case 'rules':
      return readRules(key, node)
    case 'map':
      return readMap(node, refused)
    case 'number':
    case 'integer':
      return accept(isWithin(scalar, type) ? scalar : undefined, describeBounds(type))
    case 'duration': {
      const expected = `a duration${range('1ms', type.max && showDuration(type.max))}`
      return accept(integer(parseDuration(scalar), 1, type.max), expected, 'Write it like `500ms`, `30s`, `10m` or `2h`.')
    }
    case 'size': {
      const isLarge = type.min >= 1024 ** 2
      const min = isLarge ? showSize(type.min) : `${type.min} bytes`
      const examples = isLarge ? `\`${showSize(type.min)}\`, \`512MB\` or \`1GB\`` : '`512B`, `64KB` or `1MB`'
      const expected = `a size${range(min, type.max && `${type.max} bytes`)}`
      return accept(integer(parseSize(scalar), type.min, type.max), expected, `Write it like ${examples}.`)
    }
    case 'choice':
      return accept(type.of.includes(String(scalar)) ? scalar : undefined, `one of ${listNames(type.of)}`, didYouMean(text, type.of))
    case 'boolean':
      return accept(typeof scalar === 'boolean' ? scalar : undefined, '`true` or `false`')
    case 'parallel':
      if (typeof scalar === 'boolean') return { ok: true, value: scalar ? defaultLimits.parallelToolCalls : 1 }
      return accept(integer(scalar, 1), 'an integer of at least 1, `true` or `false`', '`false` means one at a time.')
    case 'servers':
      return accept(isMap(node) ? node : undefined, 'a map of MCP servers')
    case 'schema':
      return accept(isMap(node) ? node : undefined, 'a JSON Schema, written as a map')
    default:
      return type satisfies never
  }
}

/** Models see it with the prefix `agent__`. */
const identifier = /^[a-zA-Z0-9_][\w.-]{0,63}$/
const identifierRemedy = 'Use at most 64 letters, digits, `_`, `-` and `.`; begin with a letter or a digit.'

function readMap(node: Node | null, refused: (expected: string) => ReadResult): ReadResult {
  if (!isMap(node)) return refused('a map')
  const problems: ValueProblem[] = []
  const value = nodeToJson(node, problems)
  return problems.length > 0 ? { ok: false, problems } : { ok: true, value }
}

const range = (min: number | string, max: number | string | undefined): string =>
  max === undefined ? ` of at least ${min}` : ` from ${min} to ${max}`

const integer = (value: unknown, min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER): unknown =>
  Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max ? value : undefined
