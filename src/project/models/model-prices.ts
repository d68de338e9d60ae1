import { type Model, type ModelAdapter, noUsage, type Problem, TroupeError, type Usage } from '../../contracts/index.ts'
import { costAt, modelAdapter } from '../../models/by-name/index.ts'
import { type ModelPrice, pricesOf, unpricedOf } from '../config/section-values.ts'
import { overlayFor } from '../config/variables/overlay.ts'
import type { RegisteredAgent } from '../registry/registered-agent.ts'
import type { Setup } from '../setup/read-setup.ts'
import { modelOptions } from './find-models.ts'

/**
 * Prices in the configuration override the bundled table; a cost that a provider reports overrides both. Scripts cost
 * nothing, so that they can run with a cost budget.
 */
export function pricedAdapter(adapter: ModelAdapter, prices: { readonly [model: string]: ModelPrice }): ModelAdapter {
  return {
    ...(adapter.secrets && { secrets: adapter.secrets }),
    async resolve(name) {
      const model = await adapter.resolve(name)
      const price = Object.hasOwn(prices, model.id) ? prices[model.id] : undefined
      if (price) return priced(model, (usage) => costAt(price, usage))
      return model.costOf === undefined && model.id.startsWith('script/') ? priced(model, () => 0) : model
    },
  }
}

function priced(model: Model, costOf: (usage: Usage) => number): Model {
  const { id, abilities, healthKey, contextTokens, maxOutputTokens } = model
  return {
    id,
    abilities,
    ...(healthKey !== undefined && { healthKey }),
    ...(contextTokens !== undefined && { contextTokens }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    costOf,
    stream: (request, context) => model.stream(request, context),
  }
}

interface Pricing {
  readonly adapter: ModelAdapter
  /** Models that are allowed without a price. */
  readonly unpriced: readonly string[]
}

/** A cost budget includes all descendants: each of their models must have a price, or be listed in `unpriced`. */
export async function unpricedModels(agents: readonly RegisteredAgent[], { adapter, unpriced }: Pricing): Promise<readonly TroupeError[]> {
  const problems: Problem[] = []
  for (const [agent, limited] of underCostLimit(agents)) {
    for (const name of agent.definition.models) {
      if (unpriced.includes(name) || (await hasPrice(name, adapter))) continue
      const whose = limited === agent ? 'the agent' : `\`${limited.definition.toolName}\` (${limited.place})`
      problems.push({
        place: agent.values.get('models')?.place ?? agent.place,
        message: `${whose} has a cost budget, but ${name} has no price`,
        remedy: 'Set its price in `pricing` of the configuration, list it in `unpriced` to use it anyway, or remove the budget.',
      })
    }
  }
  return problems.length === 0
    ? []
    : [new TroupeError('config_invalid', 'A cost budget is set, but some models have no price.', { problems })]
}

/** The same before models are resolved. Models that are not available here are not checked. */
export async function unpricedBeforeResolving(
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

/** Agents under a cost budget, each with the agent that sets it. */
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

/** True for `auto` and for models that cannot be resolved here: they are checked at run time. */
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
