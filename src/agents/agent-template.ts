import { stringify } from 'yaml'
import { defaultLimits } from '../contracts/index.ts'
import { showDuration } from '../util/parse-duration.ts'
import { showSize } from '../util/parse-size.ts'
import type { AgentFile } from './agent-file.ts'
import { type AgentOption, type AgentOptionKey, agentOptions, keysBelow, topLevelKeys } from './agent-options.ts'

/**
 * The settings of an agent as they are in force, written out as frontmatter: pasted into a new file above the same prompt
 * they make the same agent. What has no value stands there as a comment.
 */
export function agentTemplate({ description, models, parameters, limits, output }: AgentFile): string {
  const parts = { description, models, parameters, limits: { ...defaultLimits, ...limits }, output }
  const lines = topLevelKeys.flatMap((key) => {
    const part: unknown = parts[key as keyof typeof parts]
    const below = keysBelow(key)
    if (below.length === 0) return [`${key}: ${written(part)}`]
    const values = part as { readonly [key: string]: unknown }
    // A map of comments alone would be a map of nothing.
    const isEmpty = below.every((each) => values[each] === undefined)
    return [isEmpty ? `# ${key}:` : `${key}:`, ...below.map((each) => settingLine(`${key}.${each}` as AgentOptionKey, values[each]))]
  })
  return ['---', ...lines, '---'].join('\n')
}

function settingLine(key: AgentOptionKey, value: unknown): string {
  const option: AgentOption = agentOptions[key]
  const name = key.slice(key.indexOf('.') + 1)
  if (value === undefined) return `  # ${name}: ${option.example}  # default: ${option.default}`
  const text =
    option.type.kind === 'duration' ? showDuration(Number(value)) : option.type.kind === 'size' ? showSize(Number(value)) : written(value)
  return `  ${name}: ${text}`
}

function written(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0, aliasDuplicateObjects: false }).trimEnd()
}
