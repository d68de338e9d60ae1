import type { Problem, Tool } from '../../contracts/index.ts'
import { offeredName } from '../../policy/tool-name-patterns.ts'
import { agentToolName } from '../../tools/index.ts'
import { findCycles } from '../../util/find-cycles.ts'
import { knownNames } from '../../util/nearest-names.ts'
import { showValue } from '../../util/show-value.ts'
import type { AgentDefinition } from '../options/agent-config.ts'

/** Problems of `agents`: unknown names, cycles, and children whose tool names collide. */
export function checkChildren(agents: readonly AgentDefinition[], tools: readonly Tool[]): readonly Problem[] {
  const byName = new Map(agents.map((agent) => [agent.name, agent]))
  const problems = agents.flatMap((agent, index) => nameProblems(agent, byName, `config.agents[${index}]`))
  return problems.length > 0 ? problems : [...cycleProblems(byName), ...toolNameProblems(agents, tools)]
}

type ByName = ReadonlyMap<string, AgentDefinition>

function nameProblems({ agents: children }: AgentDefinition, byName: ByName, place: string): readonly Problem[] {
  if (children === undefined) return []
  if (!Array.isArray(children)) return [{ place: `${place}.agents`, message: `expected a list of names, found ${showValue(children)}` }]
  const seen = new Set<string>()
  return children.flatMap((child: unknown, index): readonly Problem[] => {
    const at = `${place}.agents[${index}]`
    if (typeof child !== 'string') return [{ place: at, message: `expected a name, found ${showValue(child)}` }]
    if (seen.has(child)) return [{ place: at, message: `"${child}" is listed twice`, remedy: 'Remove one of them.' }]
    seen.add(child)
    if (byName.has(child)) return []
    return [{ place: at, message: `unknown agent "${child}"`, remedy: knownNames(child, [...byName.keys()], 'agent') }]
  })
}

function cycleProblems(byName: ByName): readonly Problem[] {
  const edgesFrom = (name: string) => (byName.get(name)?.agents ?? []).map((to) => ({ to }))
  return findCycles(byName.keys(), edgesFrom).map(({ nodes, closing }) => ({
    place: 'config.agents',
    message: `agents call each other in a cycle: ${[...nodes, closing.to].join(' → ')}`,
    remedy: 'Remove one of them from `agents`.',
  }))
}

function toolNameProblems(agents: readonly AgentDefinition[], tools: readonly Tool[]): readonly Problem[] {
  const children = new Set(agents.flatMap((agent) => agent.agents ?? []))
  const names = new Set(agents.map(({ name, toolName = name }) => agentToolName({ toolName })))
  // A tool with exactly this name replaces the tool of the agent.
  const taken = new Map(tools.flatMap((tool) => (names.has(tool.name) ? [] : [[offeredName(tool.name), `the tool "${tool.name}"`]])))
  return agents.flatMap((agent, index) => {
    if (!children.has(agent.name)) return []
    const place = `config.agents[${index}].toolName`
    const toolName: unknown = agent.toolName ?? agent.name
    if (typeof toolName !== 'string' || toolName.trim() === '') return [{ place, message: `expected a name, found ${showValue(toolName)}` }]
    const name = offeredName(agentToolName({ toolName }))
    const other = taken.get(name)
    taken.set(name, `the agent "${agent.name}"`)
    if (other === undefined) return []
    return [{ place, message: `${other} and this agent have the same name for models, ${name}`, remedy: 'Set another toolName.' }]
  })
}
