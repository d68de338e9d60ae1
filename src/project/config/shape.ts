// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
import { isMap, isScalar, isSeq, type Node, parse } from 'yaml'
import type { Json, JsonObject } from '../../contracts/index.ts'
import { hasPlaceholders, parsePlaceholders, placeholderRemedy } from '../../policy/placeholders.ts'
import type { Shape as PolicyShape, TextShape } from '../../policy/shape.ts'
import { describeNode, suggestName } from '../../yaml/messages.ts'
import { keyText, nodeToJson } from '../../yaml/yaml-nodes.ts'
import { readValue, type ValueSpec } from '../values/read-value.ts'
import { type FileOrigin, hasText, type Sourced, type SourcedMap, type SourcedValue, showPath, sourcedToJson } from './sourced.ts'

/** What a part of a configuration must look like. */
export type Shape = PolicyShape<ValueSpec>

/** What reads a file. */
interface ShapeSource {
  /** What it is called in problems. Default: the configuration. */
  readonly what?: string
  /** YAML without placeholders and secrets: `${` is plain text, problems show values, and examples are written as YAML. */
  readonly isPlainYaml?: true
  problem(node: Node, message: string, remedy?: string): void
  /** For findings that stop nothing. */
  notice(node: Node, message: string): void
  origin(node: Node): FileOrigin
}

interface Place {
  readonly source: ShapeSource
  readonly path: readonly string[]
}

/** Reads a node as a shape. Reports problems to the source and returns what is valid, with its origin. */
export function readShape(node: Node, shape: Shape, place: Place): Sourced | undefined {
  switch (shape.kind) {
    case 'names':
    case 'fields':
      return readMap(node, shape, place)
    case 'any':
      return isMap(node) ? readMap(node, { kind: 'names', of: shape, example: '{ "name": … }' }, place) : readAny(node, place)
    case 'or': {
      const isWord = isScalar(node) && node.value === shape.word
      return isWord ? { kind: 'value', value: shape.word, origin: place.source.origin(node) } : readShape(node, shape.of, place)
    }
    case 'list':
      return readList(node, shape, place)
    case 'value':
      return readTyped(node, shape, place)
    case 'text':
      return readText(node, shape, place)
    default:
      return shape satisfies never
  }
}

const likeThis = (example: string): string => `Write it like \`${example}\`.`

type MapShape = Extract<Shape, { readonly kind: 'names' | 'fields' }>

function readMap(node: Node, shape: MapShape, { source, path }: Place): Sourced | undefined {
  const what = path.length === 0 ? (source.what ?? 'the configuration') : `\`${showPath(path)}\``
  if (!isMap<Node, Node | null>(node)) {
    const example =
      shape.kind === 'names'
        ? shape.example
        : `{ ${Object.keys(shape.of)
            .map((key) => `${keyIn(source, key)}: …`)
            .join(', ')} }`
    source.problem(node, `${what} must be an object, not ${describeNode(node, source.isPlainYaml ? 'value' : 'kind')}`, likeThis(example))
    return undefined
  }
  const entries = new Map<string, Sourced>()
  const seen = new Set<string>()
  for (const { key, value } of node.items) {
    const name = keyText(key)
    const inner = shapeOfKey(shape, name)
    if (seen.has(name)) source.problem(key, `${what} has the key \`${name}\` twice`, 'Remove one of them.')
    else if (!inner && shape.kind === 'fields' && shape.isLenient) {
      source.notice(key, `\`${showPath([...path, name])}\` is not used`)
      continue
    } else if (!inner) source.problem(key, keyProblem(what, name, shape), keyRemedy(name, shape))
    else {
      const read = value && readShape(value, inner, { source, path: [...path, name] })
      if (read) entries.set(name, read)
    }
    seen.add(name)
  }
  const missing = shape.kind === 'fields' ? (shape.required ?? []).filter((key) => !seen.has(key)) : []
  if (missing.length > 0) {
    const names = missing.map((key) => (source.isPlainYaml ? `\`${key}\`` : `"${key}"`)).join(', ')
    source.problem(node, `${names} ${missing.length === 1 ? 'is' : 'are'} missing in ${what}`, missingRemedy(shape, missing, source))
  }
  const sealed = shape.kind === 'fields' && shape.isWhole === true
  const tree: SourcedMap = { kind: 'map', entries, origin: source.origin(node), sealed }
  const isValid = entries.size === seen.size
  const conflicts = shape.kind === 'fields' && isValid ? (shape.findConflicts?.(sourcedToJson(tree) as JsonObject) ?? []) : []
  for (const { key, message, remedy } of conflicts) {
    const pair = node.items.find((each) => keyText(each.key) === key.split('.', 1)[0])
    source.problem(pair?.key ?? node, `${what} ${message}`, remedy)
  }
  return tree
}

/** A key as the file writes it. */
const keyIn = ({ isPlainYaml }: ShapeSource, key: string): string => (isPlainYaml ? key : `"${key}"`)

function missingRemedy(shape: MapShape, missing: readonly string[], source: ShapeSource): string {
  const examples = missing.map((key) => `${keyIn(source, key)}: ${exampleOf(shapeOfKey(shape, key))}`)
  return `Add ${missing.length === 1 ? 'it' : 'them'}, for example \`${examples.join(source.isPlainYaml ? '`, `' : ', ')}\`.`
}

function exampleOf(shape: Shape | undefined): string {
  if (shape?.kind === 'text') return JSON.stringify(shape.example)
  return shape && 'example' in shape ? shape.example : '…'
}

function shapeOfKey(shape: MapShape, name: string): Shape | undefined {
  if (shape.kind === 'fields') return Object.hasOwn(shape.of, name) ? shape.of[name] : undefined
  // JavaScript objects treat this name specially.
  if (name === '__proto__') return undefined
  return shape.name === undefined || shape.name.test(name) ? shape.of : undefined
}

const keyProblem = (what: string, name: string, shape: MapShape): string =>
  shape.kind === 'fields' ? `unknown key \`${name}\` in ${what}` : `\`${name}\` is not a valid name in ${what}`

function keyRemedy(name: string, shape: MapShape): string {
  if (shape.kind === 'fields') return suggestName(name, Object.keys(shape.of))
  return `${shape.naming ?? 'Choose another name'}. ${likeThis(shape.example)}`
}

type ListShape = Extract<Shape, { readonly kind: 'list' }>

function readList(node: Node, shape: ListShape, { source, path }: Place): SourcedValue | undefined {
  const what = `\`${showPath(path)}\``
  if (!isSeq<Node>(node)) {
    source.problem(
      node,
      `${what} must be a list, not ${describeNode(node, source.isPlainYaml ? 'value' : 'kind')}`,
      likeThis(shape.example),
    )
    return undefined
  }
  if (node.items.length === 0 && shape.isRequired) source.problem(node, `${what} is an empty list`, likeThis(shape.example))
  const read = node.items.flatMap((each, index) => {
    const item = readShape(each, shape.of, { source, path: [...path, String(index)] })
    return item ? [{ node: each, value: sourcedToJson(item) }] : []
  })
  const { uniqueBy } = shape
  const names = uniqueBy === undefined ? [] : read.map(({ value }) => (value as JsonObject)[uniqueBy])
  for (const [index, name] of names.entries())
    if (name !== undefined && names.indexOf(name) < index)
      source.problem(
        read[index]?.node ?? node,
        `${what} has two entries with the same \`${uniqueBy}\``,
        `Give each its own \`${uniqueBy}\`.`,
      )
  const entries = shape.of.kind === 'fields' ? read.map((each) => source.origin(each.node)) : undefined
  return { kind: 'value', value: read.map(({ value }) => value), origin: source.origin(node), ...(entries && { entries }) }
}

type ValueShape = Extract<Shape, { readonly kind: 'value' }>

function readTyped(node: Node, shape: ValueShape, { source, path }: Place): SourcedValue | undefined {
  const key = showPath(path)
  const detail = shape.summary === undefined && shape.type.kind !== 'choice' && !source.isPlainYaml ? 'kind' : 'value'
  const read = readValue(key, { ...shape, detail }, node)
  if (!read.ok) {
    const example = likeThis(source.isPlainYaml ? `${path.at(-1)}: ${shape.example}` : JSON.stringify(parse(shape.example)))
    for (const { node: at, message, remedy = example } of read.problems) source.problem(at ?? node, message, remedy)
    return undefined
  }
  const value = read.value as Json
  if (source.isPlainYaml || !hasText(value, hasPlaceholders)) return { kind: 'value', value, origin: source.origin(node) }
  const remedy = path[0] === 'defaults' ? 'Write the value, or set it with a TROUPE_ variable.' : literalRemedy
  source.problem(node, `\`${key}\` cannot have placeholders`, remedy)
  return undefined
}

function readAny(node: Node, { source }: Place): SourcedValue {
  const checkKeys = (inner: Node): void => {
    if (isSeq<Node>(inner)) for (const each of inner.items) checkKeys(each)
    if (!isMap<Node, Node | null>(inner)) return
    const seen = new Set<string>()
    for (const { key, value } of inner.items) {
      const name = keyText(key)
      if (name === '__proto__') source.problem(key, 'the name `__proto__` cannot be used', 'Choose another name.')
      if (seen.has(name)) source.problem(key, `the key \`${name}\` is set twice`, 'Remove one of them.')
      seen.add(name)
      if (value) checkKeys(value)
    }
  }
  checkKeys(node)
  return { kind: 'value', value: nodeToJson(node) as Json, origin: source.origin(node) }
}

const literalRemedy = 'Write the value itself; `$${` stands for a literal `${`.'

function readText(node: Node, shape: TextShape, { source, path }: Place): SourcedValue | undefined {
  const refused = (message: string, remedy = likeThis(JSON.stringify(shape.example))): undefined =>
    void source.problem(node, `\`${showPath(path)}\` ${message}`, remedy)
  const value: unknown = isScalar(node) ? node.value : undefined
  if (typeof value !== 'string' || (value.trim() === '' && !shape.mayBeEmpty))
    return refused(`must be text, not ${describeNode(node, source.isPlainYaml ? 'value' : 'kind')}`)
  const parsed = parsePlaceholders(value)
  if (!parsed.ok) return refused(`cannot be read: ${parsed.message}`, placeholderRemedy)
  if (shape.isLiteral && hasPlaceholders(value)) return refused('cannot have placeholders', literalRemedy)
  const message = hasPlaceholders(value) ? undefined : shape.check?.(value)
  return message === undefined ? { kind: 'value', value, origin: source.origin(node) } : refused(message)
}
