import type { Problem } from '../../contracts/index.ts'
import { agentPrefix } from '../../policy/foreign-tools.ts'
import { shellWord } from '../../util/shell-word.ts'
import type { ForeignAgent } from './foreign-agent.ts'
import { grantedTools, restrictedTools } from './granted-tools.ts'

/** The agent as it may be used while nobody has trusted its file: it can look at files, and starts nothing. Says what is withheld. */
export function untrusted(agent: ForeignAgent, place: string, known: readonly string[]): ForeignAgent {
  const { mcpServers, ...rest } = agent
  const tools = restrictedTools(agent)
  const remedy = trustRemedy(place)
  const withheld: Problem[] = []
  const isCalling = agent.tools.kind === 'only' && agent.tools.names.some((name) => name.startsWith(agentPrefix))
  if (isCalling || grantedTools(agent, known).length > grantedTools({ ...agent, tools }, known).length)
    withheld.push({ place, message: `the file is not trusted, so its agent has only ${listed(tools.names)}`, remedy })
  const started = mcpServers?.filter(({ config }) => config !== undefined).map(({ name }) => name) ?? []
  if (started.length > 0) withheld.push({ place, message: `the file is not trusted, so it starts no server: ${listed(started)}`, remedy })
  return { ...rest, tools, warnings: [...agent.warnings, ...withheld] }
}

/** What makes a file of another program count in full. */
export const trustRemedy = (place: string): string => `Look at the file, then: troupe trust ${shellWord(place)}`

const listed = (names: readonly string[]): string => (names.length === 0 ? 'no tools' : names.map((name) => `\`${name}\``).join(', '))
