// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
import { isMap, isScalar, isSeq, type Node } from 'yaml'
import type { Json, JsonObject } from '../../contracts/index.ts'
import type { AgentOption } from '../agent-file/agent-options.ts'
import { describeNode, didYouMean, listNames } from '../values/messages.ts'
import { readValue } from '../values/read-value.ts'
import { type JsonSource, nodeToJson } from './files/json-source.ts'
import { hasText, type Sourced, type SourcedMap, type SourcedValue, showPath, sourcedToJson } from './sourced.ts'
import { hasPlaceholders, parsePlaceholders, placeholderRemedy } from './variables/placeholders.ts'

/** What a part of a configuration must look like. */
export type Shape =
  /** `fault` looks at what is written where no variable is needed to know it. */
  | {
      readonly kind: 'text'
      readonly example: string
      /** Nothing in it stands for a variable. */
      readonly isLiteral?: true
      fault?(text: string): string | undefined
    }
  | { readonly kind: 'choice'; readonly of: readonly string[] }
  | { readonly kind: 'whole'; readonly least: number; readonly example: string }
  | { readonly kind: 'amount'; readonly example: string }
  | { readonly kind: 'flag' }
  | { readonly kind: 'list'; readonly of: Shape; readonly example: string; readonly least?: number; readonly uniqueBy?: string }
  /** A map whose keys are names that people choose; `naming` says in words which fit `name`. */
  | { readonly kind: 'names'; readonly of: Shape; readonly example: string; readonly name?: RegExp; readonly naming?: string }
  | {
      readonly kind: 'fields'
      readonly of: { readonly [key: string]: Shape }
      readonly required?: readonly string[]
      /** What does not go together, among values that are right one by one. */
      together?(values: JsonObject): readonly FieldConflict[]
    }
  /** The default of an agent's option. */
  | { readonly kind: 'option'; readonly option: AgentOption }
  /** Kept as it is, for those who read it. */
  | { readonly kind: 'any' }

export interface FieldConflict {
  readonly key: string
  readonly message: string
  readonly remedy: string
}

export interface Place {
  readonly source: JsonSource
  readonly path: readonly string[]
}

/** Reads a node as a shape. What is wrong is told to the source; what is right is given, with its origin. */
export function readShape(node: Node, shape: Shape, place: Place): Sourced | undefined {
  switch (shape.kind) {
    case 'names':
    case 'fields':
      return readMap(node, shape, place)
    case 'any':
      return isMap(node) ? readMap(node, { kind: 'names', of: shape, example: '{ "name": … }' }, place) : readAny(node, place)
    case 'list':
      return readList(node, shape, place)
    case 'option':
      return readOption(node, shape.option, place)
    default:
      return readScalar(node, shape, place)
  }
}

type MapShape = Extract<Shape, { readonly kind: 'names' | 'fields' }>

function readMap(node: Node, shape: MapShape, { source, path }: Place): Sourced | undefined {
  const what = path.length === 0 ? 'the configuration' : `\`${showPath(path)}\``
  if (!isMap<Node, Node | null>(node)) {
    const like =
      shape.kind === 'names'
        ? shape.example
        : `{ ${Object.keys(shape.of)
            .map((key) => `"${key}": …`)
            .join(', ')} }`
    source.problem(node, `${what} must be a map, not ${kindOf(node)}`, `Write it like \`${like}\`.`)
    return undefined
  }
  const entries = new Map<string, Sourced>()
  const seen = new Set<string>()
  for (const { key, value } of node.items) {
    const name = isScalar(key) ? String(key.value) : ''
    const inner = shapeBelow(shape, name)
    if (seen.has(name)) source.problem(key, `${what} has \`${name}\` twice`, 'Leave one of them out.')
    else if (!inner) source.problem(key, `${what} ${keyProblem(name, shape)}`, keyRemedy(name, shape))
    else {
      const read = value && readShape(value, inner, { source, path: [...path, name] })
      if (read) entries.set(name, read)
    }
    seen.add(name)
  }
  const missing = shape.kind === 'fields' ? (shape.required ?? []).filter((key) => !seen.has(key)) : []
  if (missing.length > 0) source.problem(node, `${what} needs ${listNames(missing)}`, 'Say it too.')
  const tree: SourcedMap = { kind: 'map', entries, origin: source.origin(node), sealed: false }
  const isRight = entries.size === seen.size
  const faults = shape.kind === 'fields' && isRight ? (shape.together?.(sourcedToJson(tree) as JsonObject) ?? []) : []
  for (const { key, message, remedy } of faults) {
    const pair = node.items.find((each) => isScalar(each.key) && each.key.value === key)
    source.problem(pair?.key ?? node, `${what} ${message}`, remedy)
  }
  return tree
}

function shapeBelow(shape: MapShape, name: string): Shape | undefined {
  if (shape.kind === 'fields') return Object.hasOwn(shape.of, name) ? shape.of[name] : undefined
  // The one name that objects treat unlike others.
  if (name === '__proto__') return undefined
  return shape.name === undefined || shape.name.test(name) ? shape.of : undefined
}

const keyProblem = (name: string, shape: MapShape): string =>
  shape.kind === 'names' && shape.naming !== undefined && name !== '__proto__'
    ? `cannot have the name \`${name}\`: ${shape.naming}`
    : `has no key \`${name}\``

function keyRemedy(name: string, shape: MapShape): string {
  if (shape.kind === 'names')
    return `${shape.naming === undefined ? 'A name like this cannot be used.' : 'Choose another name.'} Write it like \`${shape.example}\`.`
  const known = Object.keys(shape.of)
  return didYouMean(name, known) ?? `There are ${listNames(known)}.`
}

type ListShape = Extract<Shape, { readonly kind: 'list' }>

function readList(node: Node, shape: ListShape, { source, path }: Place): SourcedValue | undefined {
  const what = `\`${showPath(path)}\``
  if (!isSeq<Node>(node)) {
    source.problem(node, `${what} must be a list, not ${kindOf(node)}`, `Write it like \`${shape.example}\`.`)
    return undefined
  }
  if (node.items.length < (shape.least ?? 0)) source.problem(node, `${what} is an empty list`, `Write it like \`${shape.example}\`.`)
  const read = node.items.flatMap((each, index) => {
    const item = readShape(each, shape.of, { source, path: [...path, String(index)] })
    return item ? [{ node: each, value: sourcedToJson(item) }] : []
  })
  const values = read.map(({ value }) => value)
  for (const index of repeated(values, shape.uniqueBy)) {
    const at = read[index]?.node ?? node
    source.problem(at, `${what} has another with this \`${shape.uniqueBy}\` already`, 'Give each its own.')
  }
  const entries = shape.of.kind === 'fields' ? read.map((each) => source.origin(each.node)) : undefined
  return { kind: 'value', value: values, origin: source.origin(node), ...(entries && { entries }) }
}

/** Which of them have the same under a key as one before. */
function repeated(values: readonly Json[], key: string | undefined): readonly number[] {
  if (key === undefined) return []
  const names = values.map((value) => (value as JsonObject)[key])
  return names.flatMap((name, index) => (name !== undefined && names.indexOf(name) < index ? [index] : []))
}

function readOption(node: Node, option: AgentOption, { source, path }: Place): SourcedValue | undefined {
  const read = readValue(showPath(path), option, node)
  if (!read.ok) {
    for (const { node: at, message, remedy } of read.faults)
      source.problem(at ?? node, message, remedy ?? `In a file of an agent it is written like \`${option.example}\`.`)
    return undefined
  }
  const value = read.value as Json
  if (hasText(value, hasPlaceholders)) {
    const remedy = path[0] === 'defaults' ? 'Say what is meant; a TROUPE_ variable can set it too.' : literalRemedy
    source.problem(node, `\`${showPath(path)}\` cannot have placeholders`, remedy)
    return undefined
  }
  return { kind: 'value', value, origin: source.origin(node) }
}

function readAny(node: Node, { source }: Place): SourcedValue {
  const refuse = (inner: Node): void => {
    if (isSeq<Node>(inner)) for (const each of inner.items) refuse(each)
    if (!isMap<Node, Node | null>(inner)) return
    const seen = new Set<string>()
    for (const { key, value } of inner.items) {
      const name = isScalar(key) ? String(key.value) : ''
      if (name === '__proto__') source.problem(key, 'the name `__proto__` cannot be used', 'Choose another.')
      if (seen.has(name)) source.problem(key, `\`${name}\` is there twice`, 'Leave one of them out.')
      seen.add(name)
      if (value) refuse(value)
    }
  }
  refuse(node)
  return { kind: 'value', value: nodeToJson(node), origin: source.origin(node) }
}

type ScalarShape = Extract<Shape, { readonly kind: 'text' | 'choice' | 'whole' | 'amount' | 'flag' }>

function readScalar(node: Node, shape: ScalarShape, { source, path }: Place): SourcedValue | undefined {
  const value: unknown = isScalar(node) ? node.value : undefined
  const wrong = scalarProblem(value, shape)
  if (!wrong) return { kind: 'value', value: value as Json, origin: source.origin(node) }
  const there = shape.kind === 'choice' ? describeNode(node) : kindOf(node)
  source.problem(node, `\`${showPath(path)}\` ${wrong.message}${wrong.isType ? `, not ${there}` : ''}`, wrong.remedy)
  return undefined
}

interface ScalarProblem {
  readonly message: string
  readonly remedy: string
  /** What stands there instead is worth telling. */
  readonly isType?: true
}

function scalarProblem(value: unknown, shape: ScalarShape): ScalarProblem | undefined {
  const like = (example: string): string => `Write it like \`${example}\`.`
  switch (shape.kind) {
    case 'text':
      return textProblem(value, shape)
    case 'choice':
      if (typeof value === 'string' && shape.of.includes(value)) return undefined
      return {
        message: `must be one of ${listNames(shape.of)}`,
        remedy: didYouMean(typeof value === 'string' ? value : '', shape.of) ?? like(`"${shape.of[0]}"`),
        isType: true,
      }
    case 'whole':
      if (typeof value === 'number' && Number.isSafeInteger(value) && value >= shape.least) return undefined
      return { message: `must be a whole number of at least ${shape.least}`, remedy: like(shape.example), isType: true }
    case 'amount':
      if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return undefined
      return { message: 'must be a number of at least 0', remedy: like(shape.example), isType: true }
    case 'flag':
      return typeof value === 'boolean' ? undefined : { message: 'must be `true` or `false`', remedy: like('true'), isType: true }
    default:
      return shape satisfies never
  }
}

const literalRemedy = 'Say what is meant; `$${` stands for `${` itself.'

function textProblem(value: unknown, shape: Extract<Shape, { readonly kind: 'text' }>): ScalarProblem | undefined {
  const remedy = `Write it like \`${JSON.stringify(shape.example)}\`.`
  if (typeof value !== 'string' || value.trim() === '') return { message: 'must be text', remedy, isType: true }
  const template = parsePlaceholders(value)
  if (!template.ok) return { message: `cannot be read: ${template.message}`, remedy: placeholderRemedy }
  if (shape.isLiteral && hasPlaceholders(value)) return { message: 'cannot have placeholders', remedy: literalRemedy }
  const message = hasPlaceholders(value) ? undefined : shape.fault?.(value)
  return message === undefined ? undefined : { message, remedy }
}

/** What stands there, without telling it: it may be a secret in the wrong place. */
function kindOf(node: Node): string {
  if (isMap(node)) return 'a map'
  if (isSeq(node)) return 'a list'
  const value: unknown = isScalar(node) ? node.value : null
  if (value === null) return 'nothing'
  if (typeof value === 'string') return value.trim() === '' ? 'an empty one' : 'text'
  return `a ${typeof value}`
}
