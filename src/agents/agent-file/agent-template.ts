import { stringify } from 'yaml'
import { defaultLimits, type JsonObject } from '../../contracts/index.ts'
import { showDuration, showSize } from '../../util/parse-units.ts'
import type { AgentFile } from './agent-file.ts'
import { type AgentOption, type AgentOptionKey, agentOptions, keysInGroup, topLevelKeys } from './agent-options.ts'

/** An agent with what only files say of it. */
export interface TemplateAgent extends AgentFile {
  /** Files or names, as written. */
  readonly agents?: readonly string[]
  readonly disabledSkills?: readonly string[]
  readonly enabled?: boolean
  readonly metadata?: JsonObject
}

/**
 * The settings of an agent as they are in force, written out as frontmatter: pasted into a new file above the same prompt
 * they make the same agent. What has no value stands there as a comment.
 */
export function agentTemplate({ name: _, prompt: __, ...agent }: TemplateAgent): string {
  const { agents = [], disabledSkills = [], approvals, sandbox = {}, enabled = true, metadata = {} } = agent
  const parts: { readonly [key: string]: unknown } = {
    ...agent,
    limits: { ...defaultLimits, ...agent.limits },
    agents,
    disabledSkills,
    approvals: { rules: approvals },
    sandbox,
    enabled,
    metadata: Object.keys(metadata).length > 0 ? metadata : undefined,
  }
  const lines = topLevelKeys.flatMap((key) => {
    const part = parts[key]
    const below = keysInGroup(key)
    if (below.length === 0) return [settingLine(key as AgentOptionKey, part, '')]
    const values = part as { readonly [key: string]: unknown }
    // A map of comments alone would be a map of nothing.
    const isEmpty = below.every((each) => values[each] === undefined)
    return [isEmpty ? `# ${key}:` : `${key}:`, ...below.map((each) => settingLine(`${key}.${each}` as AgentOptionKey, values[each], '  '))]
  })
  return ['---', ...lines, '---'].join('\n')
}

function settingLine(key: AgentOptionKey, value: unknown, indent: string): string {
  const option: AgentOption = agentOptions[key]
  const name = key.slice(key.indexOf('.') + 1)
  if (value === undefined) return `${indent}# ${name}: ${option.example}  # default: ${option.default}`
  const text =
    option.type.kind === 'duration' ? showDuration(Number(value)) : option.type.kind === 'size' ? showSize(Number(value)) : written(value)
  return `${indent}${name}: ${text}`
}

/** Always on one line: what could not be seen, or would not survive being pasted, stands there by its number. */
function written(value: unknown): string {
  const plain = stringify(value, { collectionStyle: 'flow', lineWidth: 0, aliasDuplicateObjects: false }).trimEnd()
  return plain.search(unseen) < 0 ? plain : JSON.stringify(value).replace(unseen, escapeCharacter)
}

/** Controls, formats, halves of characters, all that takes no room, and every space but the ordinary one. */
const unseen = /(?! )[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}]/gu

const escapeCharacter = (character: string): string =>
  [...Array(character.length).keys()].map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')
