import { isAlias, isMap, isScalar, isSeq, type Node } from 'yaml'
import { defaultLimits } from '../contracts/index.ts'
import { nearestNames } from '../util/nearest-names.ts'
import { parseDuration } from '../util/parse-duration.ts'
import { parseSize } from '../util/parse-size.ts'
import { showValue } from '../util/show-value.ts'
import type { AgentOption } from './agent-options.ts'

/** One value, or what is wrong with it: each time at a node, or at the value as a whole. */
export type Read = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly faults: readonly Fault[] }
export interface Fault {
  readonly node: Node | null
  readonly message: string
  /** Without one, an example tells how to write it. */
  readonly remedy?: string
}

/** Reads the value of an option, whoever wrote it. Schemas are only looked at for being maps here. */
export function readValue(key: string, { type, example }: AgentOption, node: Node | null): Read {
  const scalar: unknown = isScalar(node) ? node.value : undefined
  const refused = (expected: string, remedy?: string): Read => ({
    ok: false,
    faults: [{ node, message: `\`${key}\` must be ${expected}, not ${found(node)}`, ...(remedy !== undefined && { remedy }) }],
  })
  switch (type.kind) {
    case 'text': {
      const text = typeof scalar === 'string' ? scalar.trim() : ''
      return text === '' ? refused('text', `Say in a line what the agent does: \`description: ${example}\`.`) : { ok: true, value: text }
    }
    case 'names':
      return readNames(key, node)
    case 'number': {
      const { least, most } = type
      const fits = typeof scalar === 'number' && scalar >= least && scalar <= most
      return fits ? { ok: true, value: scalar } : refused(`a number from ${least} to ${most}`)
    }
    case 'whole': {
      const fits = typeof scalar === 'number' && Number.isSafeInteger(scalar) && scalar >= (type.least ?? scalar)
      return fits ? { ok: true, value: scalar } : refused(`a whole number${atLeast(type.least)}`)
    }
    case 'duration': {
      const ms = parseDuration(scalar)
      return isWhole(ms, 1) ? { ok: true, value: ms } : refused('a time of at least 1ms', 'Write it like `500ms`, `30s`, `10m` or `2h`.')
    }
    case 'size': {
      const bytes = parseSize(scalar)
      return isWhole(bytes, type.least)
        ? { ok: true, value: bytes }
        : refused(`a size of at least ${type.least} bytes`, 'Write it like `512B`, `64KB` or `1MB`.')
    }
    case 'choice':
      return type.of.includes(String(scalar))
        ? { ok: true, value: scalar }
        : refused(`one of ${listed(type.of)}`, nearby(typeof scalar === 'string' ? scalar : '', type.of))
    case 'switch':
      return typeof scalar === 'boolean' ? { ok: true, value: scalar } : refused('`true` or `false`')
    case 'parallel':
      return readParallel(scalar, () => refused('a whole number of at least 1, `true` or `false`', '`false` is one at a time.'))
    case 'schema':
      return isMap(node) ? { ok: true, value: node } : refused('a JSON Schema, written as a map')
    case 'file':
      return typeof scalar === 'string' && scalar.trim() !== '' ? { ok: true, value: scalar.trim() } : refused('the path of a file')
    default:
      return type satisfies never
  }
}

function readParallel(scalar: unknown, refused: () => Read): Read {
  if (scalar === true) return { ok: true, value: defaultLimits.parallelToolCalls }
  if (scalar === false) return { ok: true, value: 1 }
  return typeof scalar === 'number' && isWhole(scalar, 1) ? { ok: true, value: scalar } : refused()
}

const namesRemedy = 'Name one, or several in the order in which they are tried: `models: [script/a.yaml, script/b.yaml]`.'

function readNames(key: string, node: Node | null): Read {
  const nodes = isSeq<Node>(node) ? node.items : [node]
  if (nodes.length === 0) return { ok: false, faults: [{ node, message: `\`${key}\` is an empty list`, remedy: namesRemedy }] }
  const faults: Fault[] = []
  const names: string[] = []
  for (const each of nodes) {
    const name = isScalar(each) && typeof each.value === 'string' ? each.value.trim() : ''
    const wrong = nameFault(name, each, names)
    if (wrong) faults.push({ node: each, ...wrong })
    else names.push(name)
  }
  return faults.length > 0 ? { ok: false, faults } : { ok: true, value: names }
}

function nameFault(name: string, node: Node | null, before: readonly string[]): Omit<Fault, 'node'> | undefined {
  if (name === '') return { message: `a model must be a name, not ${found(node)}`, remedy: namesRemedy }
  if (/\s/.test(name)) return { message: `the name of a model has no spaces: \`${name}\``, remedy: namesRemedy }
  if (before.includes(name)) return { message: `the model \`${name}\` is named twice`, remedy: 'Leave one of them out.' }
  return undefined
}

/** What stands there instead, in words. */
export function found(node: Node | null): string {
  if (isMap(node)) return 'a map'
  if (isSeq(node)) return 'a list'
  if (isAlias(node)) return 'an alias'
  const value: unknown = isScalar(node) ? node.value : null
  if (value === null) return 'nothing'
  if (typeof value !== 'string') return `the ${typeof value} ${String(value)}`
  return value.trim() === '' ? 'an empty one' : showValue(value, 40)
}

/** The nearest of the names, where one is near. */
export function nearby(wanted: string, known: readonly string[]): string | undefined {
  const near = nearestNames(wanted, known)
  return near.length > 0 ? `Did you mean ${listed(near)}?` : undefined
}

export const listed = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ')
const isWhole = (value: number | undefined, least: number): boolean => Number.isSafeInteger(value) && (value ?? 0) >= least
const atLeast = (least: number | undefined): string => (least === undefined ? '' : ` of at least ${least}`)
