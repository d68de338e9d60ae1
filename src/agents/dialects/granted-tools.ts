import type { ApprovalRule, Problem } from '../../contracts/index.ts'
import { agentPrefix, readingTools } from '../../policy/foreign-tools.ts'
import { isRulePattern } from '../../policy/rule-pattern.ts'
import { matches } from '../../policy/tool-name-patterns.ts'
import { shellWord } from '../../util/shell-word.ts'
import type { ForeignAgent, ForeignTools } from './foreign-agent.ts'

type Tools = Pick<ForeignAgent, 'tools' | 'deniedTools' | 'agents'>

/** The names out of `known` that the agent is offered, in their order. */
export function grantedTools({ tools, deniedTools, agents }: Tools, known: readonly string[]): readonly string[] {
  return known.filter(
    (name) =>
      (tools.kind === 'all' || tools.names.some((pattern) => covers(pattern, name))) &&
      !deniedTools.some((pattern) => covers(pattern, name)) &&
      (agents === undefined || !name.startsWith(agentPrefix) || agents.includes(name.slice(agentPrefix.length))),
  )
}

/** What is left of an agent's tools as long as nobody has trusted its file: those that only look at files. */
export function restrictedTools(agent: Tools): Extract<ForeignTools, { readonly kind: 'only' }> {
  return { kind: 'only', names: grantedTools(agent, readingTools) }
}

/** Stars stand for anything; one before a slash for every server. */
export function covers(pattern: string, name: string): boolean {
  if (pattern.startsWith('*/')) {
    const slash = name.indexOf('/')
    return slash > 0 && covers(pattern.slice(2), name.slice(slash + 1))
  }
  return matches(pattern, name)
}

/**
 * What an agent of another program is denied and asked about, as rules. They hold for tools, too, that a person gives it
 * besides. `undefined` where there is nothing of the kind.
 */
export function foreignRules({ deniedTools, askTools, exemptTools = [], commandRules = [] }: Verdict): readonly ApprovalRule[] | undefined {
  const asked = usable(askTools)
  const denied = usable(deniedTools)
  // To look into what a call has printed is no use of a tool that anybody means.
  const free = asked.includes('*') ? [...usable(exemptTools), readOutput] : usable(exemptTools)
  // Of those that fit, the last counts; one that allows makes an exception from those before it, and nothing more.
  const rules: readonly ApprovalRule[] = [
    ...(asked.length > 0 ? [{ ask: asked }] : []),
    ...(asked.length > 0 && free.length > 0 ? [{ allow: free }] : []),
    ...commandRules,
    ...(denied.length > 0 ? [{ deny: denied, reason: 'The file of the agent denies it.' }] : []),
  ]
  return rules.length > 0 ? rules : undefined
}

type Verdict = Pick<ForeignAgent, 'deniedTools' | 'askTools' | 'exemptTools' | 'commandRules'>

const readOutput = 'read_output'

/** What is no name of a tool is none of a tool that there is. */
const usable = (names: readonly string[]): readonly string[] => names.filter(isRulePattern)

/** The agent as it may be used while nobody has trusted its file: it can look at files, and starts nothing. Says what is withheld. */
export function untrusted(agent: ForeignAgent, place: string, known: readonly string[]): ForeignAgent {
  const { mcpServers, ...rest } = agent
  const tools = restrictedTools(agent)
  const remedy = trustRemedy(place)
  const withheld: Problem[] = []
  const isCalling = agent.tools.kind === 'only' && agent.tools.names.some((name) => name.startsWith(agentPrefix))
  if (isCalling || grantedTools(agent, known).length > grantedTools({ ...agent, tools }, known).length)
    withheld.push({ place, message: `the file is not trusted, so its agent has only ${listNames(tools.names)}`, remedy })
  const started = mcpServers?.filter(({ config }) => config !== undefined).map(({ name }) => name) ?? []
  if (started.length > 0)
    withheld.push({ place, message: `the file is not trusted, so it starts no server: ${listNames(started)}`, remedy })
  return { ...rest, tools, warnings: [...agent.warnings, ...withheld] }
}

/** What makes a file of another program count in full. */
export const trustRemedy = (place: string): string => `Look at the file, then: troupe trust ${shellWord(place)}`

const listNames = (names: readonly string[]): string => (names.length === 0 ? 'no tools' : names.map((name) => `\`${name}\``).join(', '))
