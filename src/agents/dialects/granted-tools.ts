import { agentPrefix, readingTools } from '../../policy/foreign-tools.ts'
import { matches } from '../../policy/tool-name-patterns.ts'
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
