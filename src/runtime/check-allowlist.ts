import type { AgentSpec, Problem, Tool } from '../contracts/index.ts'
import { matches, offeredName } from '../steps/index.ts'
import { nearestNames } from '../util/nearest-names.ts'

/** Which tools an allowlist names that are not there. */
export function checkAllowlist(agent: Pick<AgentSpec, 'tools'>, tools: readonly Tool[], place: string): readonly Problem[] {
  const names = tools.map((tool) => tool.name)
  return agent.tools.flatMap((pattern, index) => {
    if (pattern === '*' || names.some((name) => matches(pattern, name) || matches(pattern, offeredName(name)))) return []
    const near = nearestNames(pattern, names)
    const remedy =
      near.length > 0
        ? `Did you mean "${near[0]}"?`
        : names.length > 0
          ? `There are: ${names.toSorted().join(', ')}.`
          : 'There are no tools.'
    return [{ place: `${place}.tools[${index}]`, message: `no tool matches "${pattern}"`, remedy }]
  })
}
