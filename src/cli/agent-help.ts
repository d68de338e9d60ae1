import { agentTemplate, type WrittenOverrides } from '../agents/index.ts'
import { printable } from './paint.ts'
import { readAgent } from './read-agent.ts'

/** What `troupe run FILE --help` prints: what the agent is, how it is run, and its settings as they are in force. */
export function agentHelp(file: string, written: WrittenOverrides): string {
  const agent = readAgent(file, written)
  return [
    `${agent.name}: ${printable(agent.description)}`,
    '',
    'Usage',
    `  troupe run ${file} PROMPT [options]`,
    '',
    'Settings in force, to begin a new file with',
    '',
    agentTemplate(agent),
    '',
    'Every setting: troupe help agent-file. Every option: troupe help run',
    '',
  ].join('\n')
}
