import { overlayFor, pricesOf, type RegisteredAgent, unpricedOf } from '../../agents/index.ts'
import { type ModelAdapter, noUsage, type Problem, TroupeError } from '../../contracts/index.ts'
import { modelAdapter } from '../../models/by-name/index.ts'
import type { Setup } from '../team/load-config.ts'
import { modelOptions } from './model-options.ts'
import { pricedAdapter } from './priced-adapter.ts'

interface Pricing {
  readonly adapter: ModelAdapter
  /** Models that may be asked all the same. */
  readonly unpriced: readonly string[]
}

/** A limit of costs holds for everybody below: each model there must have a price, or be allowed by name. */
export async function unpricedModels(agents: readonly RegisteredAgent[], { adapter, unpriced }: Pricing): Promise<readonly TroupeError[]> {
  const problems: Problem[] = []
  for (const [agent, limited] of underCostLimit(agents)) {
    for (const name of agent.definition.models) {
      if (unpriced.includes(name) || (await hasPrice(name, adapter))) continue
      const whose = limited === agent ? 'the agent' : `\`${limited.definition.toolName}\` (${limited.place})`
      problems.push({
        place: agent.values.get('models')?.place ?? agent.place,
        message: `${whose} has a cost budget, and ${name} has no price`,
        remedy: 'State its price in `pricing` of the configuration, name it in `unpriced` to ask it all the same, or take the budget off.',
      })
    }
  }
  return problems.length === 0
    ? []
    : [new TroupeError('config_invalid', 'There is a cost budget, and not every model has a price.', { problems })]
}

/** The same before anybody has looked for models; what cannot be asked here has to show its price where it can. */
export async function unpricedWhereKnown(
  agents: readonly RegisteredAgent[],
  { config, environment }: Setup,
): Promise<readonly TroupeError[]> {
  const [first] = agents
  if (!first || underCostLimit(agents).size === 0) return []
  try {
    const { variables, providers, aliases } = overlayFor([...new Set(agents.flatMap(({ definition }) => definition.models))], {
      config,
      environment,
    })
    const adapter = modelAdapter({ ...modelOptions(first.path, { env: variables }), providers, aliases })
    return await unpricedModels(agents, { adapter: pricedAdapter(adapter, pricesOf(config)), unpriced: unpricedOf(config) })
  } catch (error) {
    // A variable that is not set here may be set where the agent runs.
    if (error instanceof TroupeError) return []
    throw error
  }
}

/** Agents that a limit of costs holds for, each with the one that states it. */
function underCostLimit(agents: readonly RegisteredAgent[]): ReadonlyMap<RegisteredAgent, RegisteredAgent> {
  const byName = new Map(agents.map((agent) => [agent.definition.name, agent]))
  const bound = new Map<RegisteredAgent, RegisteredAgent>()
  for (const agent of agents) if (agent.definition.limits.maxCostUsd !== undefined) bound.set(agent, agent)
  for (const [agent, limited] of bound)
    for (const name of agent.definition.agents) {
      const child = byName.get(name)
      if (child && !bound.has(child)) bound.set(child, limited)
    }
  return bound
}

/** `auto` shows its price once it is known what it means; so does whatever cannot be found here. */
async function hasPrice(name: string, adapter: ModelAdapter): Promise<boolean> {
  if (name === 'auto') return true
  try {
    const { costOf } = await adapter.resolve(name)
    return typeof costOf?.({ ...noUsage, input: 1000, output: 1000 }) === 'number'
  } catch (error) {
    if (error instanceof TroupeError) return true
    throw error
  }
}
