import { type AgentOption, agentOptionKeys, agentOptions } from '../../agents/index.ts'
import { columns, paragraph, type Row } from '../terminal/columns.ts'
import { typeText } from './option-types.ts'

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
