import { isMap, isScalar, type Node } from 'yaml'
import { defaultLimits } from '../../contracts/index.ts'
import { parseDuration, parseSize, showSize } from '../../util/parse-units.ts'
import type { AgentOption } from '../agent-file/agent-options.ts'
import { describeNode, didYouMean, listNames } from './messages.ts'
import { readList } from './read-list.ts'
import { readRules } from './read-rules.ts'
import { type Fault, nodeToJson, type Read } from './yaml-nodes.ts'

/** Reads the value of an option, whoever wrote it. Schemas are only looked at for being maps here. */
export function readValue(key: string, { type, example }: Pick<AgentOption, 'type' | 'example'>, node: Node | null): Read {
  const scalar: unknown = isScalar(node) ? node.value : undefined
  const refused = (expected: string, remedy?: string): Read => ({
    ok: false,
    faults: [{ node, message: `\`${key}\` must be ${expected}, not ${describeNode(node)}`, ...(remedy !== undefined && { remedy }) }],
  })
  switch (type.kind) {
    case 'text': {
      const text = typeof scalar === 'string' ? scalar.trim() : ''
      return text === '' ? refused('text') : { ok: true, value: text }
    }
    case 'identifier':
      return typeof scalar === 'string' && identifier.test(scalar.trim())
        ? { ok: true, value: scalar.trim() }
        : refused('a name', 'It has letters, digits, `_`, `-` and `.`, 64 at most, and begins with a letter or a digit.')
    case 'names':
    case 'patterns':
      return readList(node, { key, of: type.of, example })
    case 'references':
      return readList(node, { key, of: 'agent', example })
    case 'rules':
      return readRules(key, node)
    case 'map':
      return readMap(node, refused)
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
        : refused(`a size of at least ${isLarge(type.least) ? showSize(type.least) : `${type.least} bytes`}`, sizeRemedy(type.least))
    }
    case 'choice':
      return type.of.includes(String(scalar))
        ? { ok: true, value: scalar }
        : refused(`one of ${listNames(type.of)}`, didYouMean(typeof scalar === 'string' ? scalar : '', type.of))
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

/** Models see it with `agent__` before it, in 64 characters at most. */
const identifier = /^[a-zA-Z0-9_][\w.-]{0,63}$/

function readMap(node: Node | null, refused: (expected: string) => Read): Read {
  if (!isMap(node)) return refused('a map')
  const faults: Fault[] = []
  const value = nodeToJson(node, faults)
  return faults.length > 0 ? { ok: false, faults } : { ok: true, value }
}

const isLarge = (bytes: number): boolean => bytes >= 1024 ** 2
const sizeRemedy = (least: number): string =>
  isLarge(least) ? `Write it like \`${showSize(least)}\`, \`512MB\` or \`1GB\`.` : 'Write it like `512B`, `64KB` or `1MB`.'
const isWhole = (value: number | undefined, least: number): boolean => Number.isSafeInteger(value) && (value ?? 0) >= least
const atLeast = (least: number | undefined): string => (least === undefined ? '' : ` of at least ${least}`)
