import type { Problem, Tool } from '../../contracts/index.ts'
import { matches, offeredName } from '../../steps/index.ts'
import { knownNames } from '../../util/suggestion.ts'
import type { AgentDefinition } from '../api/agent-config.ts'

/** Which tools an allowlist names that are not there. */
export function checkAllowlist(
  { tools: wanted = [] }: Pick<AgentDefinition, 'tools'>,
  tools: readonly Tool[],
  place: string,
): readonly Problem[] {
  const names = tools.flatMap((tool: Partial<Tool> | null) => (typeof tool?.name === 'string' ? [tool.name] : []))
  return wanted.flatMap((pattern, index) => {
    if (pattern === '*' || names.some((name) => matches(pattern, name) || matches(pattern, offeredName(name)))) return []
    return [{ place: `${place}.tools[${index}]`, message: `no tool matches "${pattern}"`, remedy: knownNames(pattern, names, 'tool') }]
  })
}
