import type { AgentDescription, AgentSpec } from '../../contracts/index.ts'
import type { ResolvedConfig } from '../api/resolve-config.ts'

/** The agents that can be asked. They are sorted by name. */
export const describeAgents = ({ candidates, shown }: Pick<ResolvedConfig, 'candidates' | 'shown'>): readonly AgentDescription[] =>
  candidates.map((agent) => ({ ...describe(agent), ...shown.get(agent.name) }))

function describe(agent: AgentSpec): AgentDescription {
  const { name, displayName, description, usage, input, output, limits, parameters, overrides = [], models, tools, agents } = agent
  return {
    name,
    ...(displayName !== undefined && { displayName }),
    description,
    ...(usage !== undefined && { usage }),
    input,
    output,
    limits,
    parameters,
    overrides,
    models,
    tools,
    agents,
  }
}
