import type { AgentDescription, AgentSpec } from '../../contracts/index.ts'
import type { ResolvedConfig } from '../api/resolve-config.ts'

/** The agents that can be asked. They are sorted by name. */
export const describeAgents = ({ candidates, templates }: Pick<ResolvedConfig, 'candidates' | 'templates'>): readonly AgentDescription[] =>
  candidates.map((agent) => describe(agent, templates.get(agent.name)))

function describe(agent: AgentSpec, template: string | undefined): AgentDescription {
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
    ...(template !== undefined && { template }),
  }
}
