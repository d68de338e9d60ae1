import { describeBounds } from '../../contracts/index.ts'
import { type AgentOption, agentOptionKeys, agentOptions, type ValueType } from '../../project/index.ts'
import { showSize } from '../../util/parse-units.ts'
import { columns, paragraph, type Row } from '../terminal/columns.ts'

const example = `  #!/usr/bin/env troupe
  ---
  description: Plans a trip by rail
  models: [anthropic/claude-sonnet-5, openai/gpt-5.4-mini]
  parameters: { temperature: 0.2 }
  limits: { maxToolTurns: 6, timeBudget: 10m }
  ---
  You plan journeys by rail. Answer in three sentences at most.`

/** Text of `troupe help agent-file`. */
export function agentFileHelp(maxWidth?: number): string {
  const rows = agentOptionKeys.map((key): Row => {
    const option: AgentOption = agentOptions[key]
    const otherwise = option.default === 'required' ? 'required' : `default: ${option.default}`
    return [key, `${option.summary}\n${typeText(option.type)} - ${otherwise}`]
  })
  return [
    'An agent is a file: settings in YAML between two lines of ---, then the prompt.',
    '',
    example,
    '',
    'Settings',
    ...columns(rows, { maxWidth }),
    '',
    ...paragraph(
      'Durations: 500ms, 30s, 10m or 2h. Sizes: 512B, 64KB or 1MB. Numbers without a unit are milliseconds and bytes.',
      maxWidth,
    ),
    ...paragraph('An unknown key is an error. To change a setting for one run:', maxWidth),
    '',
    '  troupe run trip.ai "Oslo" --override limits.maxToolTurns=5',
    '',
  ].join('\n')
}

/** The type of a setting, for help and reference. */
export function typeText(type: ValueType): string {
  switch (type.kind) {
    case 'number':
    case 'integer':
      return describeBounds(type)
    case 'size':
      return `a size of at least ${showSize(type.min)}`
    case 'choice':
      return type.of.join(', ')
    default:
      return typeTexts[type.kind]
  }
}

const typeTexts: { readonly [Kind in Exclude<ValueType['kind'], 'number' | 'integer' | 'size' | 'choice'>]: string } = {
  text: 'text',
  texts: 'a list of texts',
  names: 'a name, or a list of names',
  duration: 'a duration',
  boolean: 'true or false',
  parallel: 'an integer of at least 1, true or false',
  schema: 'a JSON Schema',
  file: 'a path',
  identifier: 'a name',
  patterns: 'a name, or a list of names; a trailing * matches any',
  references: 'a file or name, or a list of them',
  servers: 'a mapping of names to MCP servers',
  map: 'a mapping of keys to values',
  rules: 'a list of rules: allow, ask or deny with a tool name or a call pattern such as shell(git *)',
}
