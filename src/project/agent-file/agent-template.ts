import { stringify } from 'yaml'
import { defaultLimits, type JsonObject } from '../../contracts/index.ts'
import { showDuration, showSize } from '../../util/parse-units.ts'
import { type AgentOptionKey, agentOptions, keysInGroup, topLevelKeys } from '../options/agent-options.ts'
import type { AgentFile } from './agent-file.ts'

/** An agent with the settings that only files have. */
export interface TemplateAgent extends AgentFile {
  /** Files or names, as written. */
  readonly agents?: readonly string[]
  readonly disabledSkills?: readonly string[]
  readonly mcpServers?: JsonObject
  readonly enabled?: boolean
  readonly metadata?: JsonObject
}

/** The effective settings as frontmatter: above the same prompt they make the same agent. Unset options become comments. */
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
    const keys = keysInGroup(key)
    if (keys.length === 0) return [settingLine(key as AgentOptionKey, parts[key], '')]
    const values = parts[key] as { readonly [key: string]: unknown }
    const isEmpty = keys.every((each) => values[each] === undefined)
    return [isEmpty ? `# ${key}:` : `${key}:`, ...keys.map((each) => settingLine(`${key}.${each}` as AgentOptionKey, values[each], '  '))]
  })
  return ['---', ...lines, '---'].join('\n')
}

function settingLine(key: AgentOptionKey, value: unknown, indent: string): string {
  const { type, example, default: fallback } = agentOptions[key]
  const name = key.slice(key.indexOf('.') + 1)
  if (value === undefined) return `${indent}# ${name}: ${example}  # default: ${fallback}`
  const text = type.kind === 'duration' ? showDuration(Number(value)) : type.kind === 'size' ? showSize(Number(value)) : toYaml(value)
  return `${indent}${name}: ${text}`
}

/** On one line, with invisible characters escaped. */
function toYaml(value: unknown): string {
  const plain = stringify(value, { collectionStyle: 'flow', lineWidth: 0, aliasDuplicateObjects: false }).trimEnd()
  return plain.search(invisible) < 0 ? plain : JSON.stringify(value).replace(invisible, escapeCharacter)
}

/** Controls, formats, surrogates, characters without width, and every space but the ordinary one. */
const invisible = /(?! )[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}]/gu

const escapeCharacter = (character: string): string =>
  [...Array(character.length).keys()].map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')
