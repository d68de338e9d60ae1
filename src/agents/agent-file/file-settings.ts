import { isMap, isScalar, isSeq, type Node } from 'yaml'
import { describeNode, didYouMean, listNames } from '../values/messages.ts'
import { readSchema } from '../values/read-schema.ts'
import { readValue } from '../values/read-value.ts'
import type { Position, SourceText } from '../values/source-text.ts'
import {
  type AgentOptionKey,
  agentOption,
  agentOptionKeys,
  agentOptions,
  keysInGroup,
  reservedKeys,
  topLevelKeys,
} from './agent-options.ts'
import type { Frontmatter, Setting } from './frontmatter.ts'
import type { OptionValue, OptionValues } from './option-values.ts'
import { findConflicts, resolveAliases } from './setting-conflicts.ts'

/** What an agent file says, each setting at its place. What is wrong is told to `source`. */
export function readFileSettings(source: SourceText, read: Frontmatter): OptionValues {
  const values = new Map<AgentOptionKey, OptionValue>()
  const places = new Map<AgentOptionKey, Position>()
  for (const [key, setting] of knownSettings(source, read)) {
    const value = readSetting(source, key, { setting, positionOf: read.positionOf })
    if (!value) continue
    values.set(key, value)
    places.set(key, setting.valueAt)
  }
  for (const { key, message, remedy } of findConflicts(values)) source.problem(places.get(key) ?? read.at, message, remedy)
  return resolveAliases(values)
}

/** The settings by dotted key. What there is no option for is told. */
function knownSettings(source: SourceText, { settings, positionOf }: Frontmatter): ReadonlyMap<AgentOptionKey, Setting> {
  const known = new Map<AgentOptionKey, Setting>()
  for (const setting of settings) {
    const below = keysInGroup(setting.key)
    if (below.length > 0) {
      for (const inner of settingsBelow(source, setting, positionOf)) take(inner, below, `${setting.key}.`)
    } else take(setting, topLevelKeys, '')
  }
  function take(setting: Setting, siblings: readonly string[], prefix: string): void {
    const option = agentOption(`${prefix}${setting.key}`)
    if (option) known.set(option.key, setting)
    else if (prefix === '' && reservedKeys.includes(setting.key))
      source.problem(setting.at, `\`${setting.key}\` is not yet available`, 'Leave it out: this version would not do what it says.')
    else
      source.problem(
        setting.at,
        `there is no setting \`${prefix}${setting.key}\``,
        prefix === '' ? topLevelRemedy(setting) : (didYouMean(setting.key, siblings) ?? `There are ${listNames(siblings)}.`),
      )
  }
  return known
}

/** What other programs have as settings, and where it belongs here. */
const elsewhere: { readonly [key: string]: string } = {
  prompt: 'The prompt is the text below the second line of `---`.',
  name: 'The file names the agent; set `toolName` if other agents call it by another name.',
}

/** What was meant by a key that there is not: most often it belongs into a group. */
function topLevelRemedy({ key, value }: Setting): string {
  const known = Object.hasOwn(elsewhere, key) ? elsewhere[key] : undefined
  if (known !== undefined) return known
  const within = agentOptionKeys.find((each) => each.endsWith(`.${key}`))
  const [group = ''] = within?.split('.') ?? []
  const written = isScalar(value) ? String(value.source ?? value.value) : '…'
  if (within !== undefined) return `It belongs to \`${group}\`: write \`${group}: { ${key}: ${written} }\`.`
  return didYouMean(key, topLevelKeys) ?? `There are ${listNames(topLevelKeys)}.`
}

function settingsBelow(source: SourceText, { key, at, value }: Setting, positionOf: (node: Node) => Position): readonly Setting[] {
  if (!isMap<Node, Node | null>(value)) {
    const [first = ''] = keysInGroup(key)
    const example = agentOption(`${key}.${first}`)?.option.example
    source.problem(
      at,
      `\`${key}\` must be a map of settings, not ${describeNode(value)}`,
      `Write it like \`${key}: { ${first}: ${example} }\`.`,
    )
    return []
  }
  return value.items.map((pair) => ({
    key: isScalar(pair.key) ? String(pair.key.value) : pair.key.toString(),
    at: positionOf(pair.key),
    value: pair.value ?? null,
    valueAt: positionOf(pair.value ?? pair.key),
  }))
}

interface Placed {
  readonly setting: Setting
  readonly positionOf: (node: Node) => Position
}

function readSetting(source: SourceText, key: AgentOptionKey, { setting, positionOf }: Placed): OptionValue | undefined {
  const { value: node, valueAt } = setting
  const option = agentOptions[key]
  const read = readValue(key, option, node)
  const whole = read.ok && option.type.kind === 'schema' && node ? readSchema(node, key === 'input.schema' ? 'object' : 'any') : read
  if (!whole.ok) {
    const likeThis = `Write it like \`${setting.key}: ${option.example}\`.`
    for (const { node: at, message, remedy = likeThis } of whole.faults) source.problem(at ? positionOf(at) : valueAt, message, remedy)
    return undefined
  }
  const entries = isSeq<Node>(node) ? node.items.map((each) => source.spot(positionOf(each))) : undefined
  return {
    value: 'schema' in whole ? whole.schema : whole.value,
    rank: 'file',
    ...source.spot(valueAt),
    ...(entries && Array.isArray(read.ok && read.value) && { entries }),
  }
}
