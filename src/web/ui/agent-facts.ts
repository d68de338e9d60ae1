import { type AgentDescription, type AgentLimits, defaultLimits, type LimitName, limitNames, limitTable } from '../../contracts/index.ts'
import { duration, grouped, price, size } from '../../view/index.ts'

// What the pages say of agents and extensions.

export const untrustedText = (extension: string): string => `${extension} is off: you haven’t trusted it yet.`

/** All agents that are known, those that can only be asked by other agents included. */
export function knownAgents(agents: readonly AgentDescription[]): readonly AgentDescription[] {
  const all = new Map([...agents.flatMap(({ team = [] }) => team), ...agents].map((agent) => [agent.name, agent]))
  return [...all.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

type Named = Pick<AgentDescription, 'name' | 'agents'>

/** Agents that no other agent calls come first. */
export function rootsFirst<Agent extends Named>(
  agents: readonly Agent[],
): { readonly roots: readonly Agent[]; readonly others: readonly Agent[] } {
  const called = new Set(agents.flatMap((each) => each.agents.filter((name) => name !== each.name)))
  const roots = agents.filter(({ name }) => !called.has(name))
  return { roots, others: agents.filter((each) => !roots.includes(each)) }
}

/** The agent of a new session: the wanted one, the one that was used last, or the first that no other agent calls. */
export function chooseAgent<Agent extends Named>(agents: readonly Agent[], wanted: string | undefined, last: string): Agent | undefined {
  const named = (name: string | undefined): Agent | undefined => agents.find((each) => each.name === name)
  return named(wanted) ?? named(last) ?? rootsFirst(agents).roots[0] ?? agents[0]
}

/** Limits that differ from the defaults. */
export function limitFacts(limits: AgentLimits): readonly (readonly [name: string, value: string])[] {
  return limitNames.flatMap((name) => {
    const { [name]: limit } = limits
    return limit === undefined || limit === defaultLimits[name] ? [] : [[limitTable[name].label, limitText(name, limit)] as const]
  })
}

function limitText(name: LimitName, limit: number): string {
  if (name === 'maxCostUsd') return price(limit) || '$0'
  const { kind } = limitTable[name]
  return kind === 'duration' ? timeText(limit) : kind === 'size' ? size(limit) : grouped(limit)
}

function timeText(ms: number): string {
  if (ms % 3_600_000 === 0) return `${ms / 3_600_000} h`
  if (ms % 60_000 === 0) return `${ms / 60_000} min`
  return ms % 1000 === 0 ? `${ms / 1000} s` : duration(ms)
}

interface ToolGroup {
  /** The extension or server that the tools come from. Empty: none. */
  readonly source: string
  readonly tools: readonly string[]
}

/** Tools of extensions and MCP servers are named `SOURCE__TOOL`. */
export function toolGroups(tools: readonly string[]): readonly ToolGroup[] {
  const groups = Map.groupBy(tools, (tool) => (tool.includes('__') ? tool.slice(0, tool.lastIndexOf('__')) : ''))
  return [...groups]
    .map(([source, those]) => ({ source, tools: those.map((tool) => (source === '' ? tool : tool.slice(source.length + 2))).toSorted() }))
    .toSorted((a, b) => a.source.localeCompare(b.source))
}
