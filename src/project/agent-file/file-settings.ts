import { isMap, isScalar, isSeq, type Node } from 'yaml'
import { type Frontmatter, type Setting, settingOf } from '../../yaml/frontmatter.ts'
import { describeNode, suggestName } from '../../yaml/messages.ts'
import type { Position, SourceText } from '../../yaml/source-text.ts'
import type { ReadResult, ValueProblem } from '../../yaml/yaml-nodes.ts'
import { serversShape } from '../config/sections.ts'
import { readShape } from '../config/shape.ts'
import { type FileOrigin, sourcedToJson } from '../config/sourced.ts'
import { type AgentOptionKey, agentOption, agentOptionKeys, agentOptions, keysInGroup, topLevelKeys } from '../options/agent-options.ts'
import type { OptionValue, OptionValues } from '../options/option-values.ts'
import { findConflicts, resolveAliases } from '../options/setting-conflicts.ts'
import { readSchema } from '../values/read-schema.ts'
import { readValue } from '../values/read-value.ts'

/** Reads the settings of an agent file. Reports problems to `source`. */
export function readFileSettings(source: SourceText, read: Frontmatter): OptionValues {
  const values = new Map<AgentOptionKey, OptionValue>()
  const positions = new Map<AgentOptionKey, Position>()
  for (const [key, setting] of knownSettings(source, read)) {
    const value = readSetting(source, key, { setting, positionOf: read.positionOf })
    if (!value) continue
    values.set(key, value)
    positions.set(key, setting.valueAt)
  }
  for (const { key, message, remedy } of findConflicts(values)) source.problem(positions.get(key) ?? read.at, message, remedy)
  return resolveAliases(values)
}

/** The settings by dotted key. Reports unknown keys. */
function knownSettings(source: SourceText, { settings, positionOf }: Frontmatter): ReadonlyMap<AgentOptionKey, Setting> {
  const known = new Map<AgentOptionKey, Setting>()
  for (const setting of settings) {
    const keys = keysInGroup(setting.key)
    if (keys.length > 0) {
      for (const inner of groupSettings(source, setting, positionOf)) take(inner, keys, `${setting.key}.`)
    } else take(setting, topLevelKeys, '')
  }
  function take(setting: Setting, siblings: readonly string[], prefix: string): void {
    const option = agentOption(`${prefix}${setting.key}`)
    if (option) known.set(option.key, setting)
    else {
      const remedy = prefix === '' ? topLevelRemedy(setting) : suggestName(setting.key, siblings)
      source.problem(setting.at, `unknown key \`${prefix}${setting.key}\``, remedy)
    }
  }
  return known
}

/** Keys of other programs, and what to write here. */
const foreignKeys: { readonly [key: string]: string } = {
  prompt: 'Write the prompt below the second line of `---`.',
  hooks: 'Hooks are set in the configuration (.ai-agent.json), not in an agent file.',
  name: 'The file names the agent; set `toolName` if other agents call it by another name.',
}

function topLevelRemedy({ key, value }: Setting): string {
  const known = Object.hasOwn(foreignKeys, key) ? foreignKeys[key] : undefined
  if (known !== undefined) return known
  const [group] = agentOptionKeys.find((each) => each.endsWith(`.${key}`))?.split('.') ?? []
  const written = isScalar(value) ? String(value.source ?? value.value) : '…'
  return group === undefined ? suggestName(key, topLevelKeys) : `It belongs to \`${group}\`: write \`${group}: { ${key}: ${written} }\`.`
}

function groupSettings(source: SourceText, { key, at, value }: Setting, positionOf: (node: Node) => Position): readonly Setting[] {
  if (isMap<Node, Node | null>(value)) return value.items.map((pair) => settingOf(pair, positionOf))
  const [first = ''] = keysInGroup(key)
  const example = agentOption(`${key}.${first}`)?.option.example
  source.problem(
    at,
    `\`${key}\` must be a map of settings, not ${describeNode(value)}`,
    `Write it like \`${key}: { ${first}: ${example} }\`.`,
  )
  return []
}

interface SettingContext {
  readonly setting: Setting
  readonly positionOf: (node: Node) => Position
}

function readSetting(source: SourceText, key: AgentOptionKey, { setting, positionOf }: SettingContext): OptionValue | undefined {
  const { value: node, valueAt } = setting
  const read = readOption(key, node)
  if (!read.ok) {
    const likeThis = `Write it like \`${setting.key}: ${agentOptions[key].example}\`.`
    for (const { node: at, message, remedy = likeThis } of read.problems) source.problem(at ? positionOf(at) : valueAt, message, remedy)
    return undefined
  }
  const { value } = read
  const entries = isSeq<Node>(node) && Array.isArray(value) ? node.items.map((each) => source.locate(positionOf(each))) : undefined
  return { value, precedence: 'file', ...source.locate(valueAt), ...(entries && { entries }) }
}

/** Reads the value of an option, including schemas. */
export function readOption(key: AgentOptionKey, node: Node | null): ReadResult {
  const option = agentOptions[key]
  const read = readValue(key, option, node)
  if (!read.ok || !node) return read
  if (option.type.kind === 'servers') return readServers(node)
  return option.type.kind === 'schema' ? readSchema(node, key === 'input.schema' ? 'object' : 'any') : read
}

/** As in a configuration. */
function readServers(node: Node): ReadResult {
  const problems: ValueProblem[] = []
  const source = {
    problem: (at: Node, message: string, remedy?: string) =>
      void problems.push({ node: at, message, ...(remedy !== undefined && { remedy }) }),
    notice: () => {},
    origin: (): FileOrigin => ({ kind: 'file', layer: 'agent', file: '', line: 1, column: 1 }),
  }
  const tree = readShape(node, serversShape, { source, path: ['mcpServers'] })
  return problems.length > 0 || !tree ? { ok: false, problems } : { ok: true, value: sourcedToJson(tree) }
}
