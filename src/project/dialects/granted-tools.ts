import type { ApprovalRule, Problem } from '../../contracts/index.ts'
import { agentPrefix, readingTools } from '../../policy/foreign-tools.ts'
import { isRulePattern } from '../../policy/rule-pattern.ts'
import { matches } from '../../policy/tool-name-patterns.ts'
import { shellWord } from '../../util/shell-word.ts'
import type { ForeignAgent, ForeignTools } from './foreign-agent.ts'

type Tools = Pick<ForeignAgent, 'tools' | 'deniedTools' | 'agents'>

/** The tools of `known` that the agent has. */
export function grantedTools({ tools, deniedTools, agents }: Tools, known: readonly string[]): readonly string[] {
  return known.filter(
    (name) =>
      (tools.kind === 'all' || tools.names.some((pattern) => covers(pattern, name))) &&
      !deniedTools.some((pattern) => covers(pattern, name)) &&
      (agents === undefined || !name.startsWith(agentPrefix) || agents.includes(name.slice(agentPrefix.length))),
  )
}

/** The tools of MCP servers that the agent has, as patterns. Denied ones are denied by a rule when they are called. */
export function grantedServerTools({ tools }: Tools, servers: readonly string[]): readonly string[] {
  if (tools.kind === 'all') return servers.map((server) => `${server}/*`)
  return tools.names.flatMap((name) => {
    const [server = '', tool] = name.split('/', 2)
    if (tool === undefined) return []
    return server === '*' ? servers.map((each) => `${each}/${tool}`) : servers.includes(server) ? [name] : []
  })
}

/** The tools of an untrusted agent: those that only read files. */
export function restrictedTools(agent: Tools): Extract<ForeignTools, { readonly kind: 'only' }> {
  return { kind: 'only', names: grantedTools(agent, readingTools) }
}

/** `*` matches anything; before a slash, every server. */
export function covers(pattern: string, name: string): boolean {
  if (pattern.startsWith('*/')) {
    const slash = name.indexOf('/')
    return slash > 0 && covers(pattern.slice(2), name.slice(slash + 1))
  }
  return matches(pattern, name)
}

/** The permissions of a foreign agent as rules, which also apply to tools that a person adds. `undefined` if there are none. */
export function foreignRules({ deniedTools, askTools, exemptTools = [], commandRules = [] }: Verdict): readonly ApprovalRule[] | undefined {
  const asked = usable(askTools)
  const denied = usable(deniedTools)
  // Reading stored output needs no approval.
  const free = asked.includes('*') ? [...usable(exemptTools), readOutput] : usable(exemptTools)
  // The last matching rule applies; `allow` makes an exception from the rules before it.
  const rules: readonly ApprovalRule[] = [
    ...(asked.length > 0 ? [{ ask: asked }] : []),
    ...(asked.length > 0 && free.length > 0 ? [{ allow: free }] : []),
    ...commandRules,
    ...(denied.length > 0 ? [{ deny: denied, reason: 'The agent file denies it.' }] : []),
  ]
  return rules.length > 0 ? rules : undefined
}

type Verdict = Pick<ForeignAgent, 'deniedTools' | 'askTools' | 'exemptTools' | 'commandRules'>

const readOutput = 'read_output'

const usable = (names: readonly string[]): readonly string[] => names.filter(isRulePattern)

/** Restricts an untrusted agent: it can read files and starts nothing. Adds warnings about what is withheld. */
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

export const trustRemedy = (place: string): string => `Review the file, then: troupe trust ${shellWord(place)}`

const listNames = (names: readonly string[]): string => (names.length === 0 ? 'no tools' : names.map((name) => `\`${name}\``).join(', '))
