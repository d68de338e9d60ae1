import { type AgentSetup, TroupeError } from '../../contracts/index.ts'
import { toolApproval } from '../../steps/index.ts'
import { knownNames } from '../../util/nearest-names.ts'
import type { RuntimeParts } from '../parts/runtime-parts.ts'
import { sourcesFor } from '../parts/tree-sources.ts'

/** What sessions of an agent begin with. Tools that are listed for each session are not known yet. */
export async function agentSetup(parts: RuntimeParts, name: string): Promise<AgentSetup> {
  const { config } = parts.options
  const agent = parts.agents.get(name)
  if (!agent)
    throw new TroupeError('agent_unknown', `There is no agent "${name}".`, { remedy: knownNames(name, [...parts.agents.keys()], 'agent') })
  const { text } = parts.overlays.shared.redactor
  const registry = await parts.registry()
  const sources = sourcesFor(agent, { own: config.agentSources.get(name) ?? [], shared: config.sessionSources })
  return {
    prompt: text(agent.prompt),
    tools: registry.allowed(agent.tools).map((offered) => ({
      name: offered.name,
      description: text(offered.tool.description),
      approval: toolApproval(offered, agent, config.approvals),
    })),
    sources: sources.map((source) => source.name),
  }
}
