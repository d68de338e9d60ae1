import { type ModelAdapter, TroupeError } from '../contracts/index.ts'
import { type FoundModels, findModels, type ModelSearch } from './find-models.ts'
import { joinErrors } from './join-errors.ts'

interface Asking {
  readonly models: readonly string[]
}

export interface FoundTeamModels<Agent> {
  /** Each with the models that can be asked. */
  readonly agents: readonly Agent[]
  readonly adapter: ModelAdapter
  readonly notices: readonly string[]
}

/** Finds the models of every agent; agents that name the same ones share them. Throws everything that is wrong with any. */
export async function findTeamModels<Agent extends Asking>(
  agents: readonly Agent[],
  options: ModelSearch,
): Promise<FoundTeamModels<Agent>> {
  const found = new Map<string, FoundModels>()
  const errors: TroupeError[] = []
  const lists = new Map(agents.map(({ models }) => [keyOf(models), models]))
  for (const [key, models] of lists) {
    try {
      found.set(key, await findModels(models, options))
    } catch (error) {
      if (!(error instanceof TroupeError)) throw error
      errors.push(error)
    }
  }
  const [first] = found.values()
  if (errors.length > 0 || !first) throw joinErrors(errors)
  const adapters = new Map([...found.values()].flatMap(({ models, adapter }) => models.map((name) => [name, adapter] as const)))
  return {
    agents: agents.map((agent) => ({ ...agent, models: found.get(keyOf(agent.models))?.models ?? agent.models })),
    adapter: { ...first.adapter, resolve: (name) => (adapters.get(name) ?? first.adapter).resolve(name) },
    notices: [...new Set([...found.values()].flatMap(({ notices }) => notices))],
  }
}

const keyOf = (models: readonly string[]): string => models.join('\n')
