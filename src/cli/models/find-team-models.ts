import { type ModelAdapter, TroupeError } from '../../contracts/index.ts'
import { joinErrors } from '../terminal/print-errors.ts'
import { type FoundModels, findModels, type ModelSearch } from './find-models.ts'
import { foreignModelRemedy } from './unknown-models.ts'

interface Asking {
  readonly models: readonly string[]
  /** As people know it, where it is not the agent that was asked for. */
  readonly shown?: string
  /** Whether its file is for another program. */
  readonly isForeign?: boolean
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
      errors.push(
        ...agents
          .filter((agent) => keyOf(agent.models) === key)
          .slice(0, 1)
          .map((agent) => blame(error, agent)),
      )
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

/** Who asks for it is told, unless it is the agent that was asked for; and what helps where its file should stay as it is. */
function blame(error: TroupeError, { models, shown, isForeign = false }: Asking): TroupeError {
  const { code, message, problems, cause } = error
  const [only, ...others] = models
  const remedy = isForeign && only !== undefined && others.length === 0 ? foreignModelRemedy(only, error) : error.remedy
  const told = shown === undefined ? message : `${shown}: ${message}`
  return new TroupeError(code, told, { problems, ...(remedy !== undefined && { remedy }), cause })
}

const keyOf = (models: readonly string[]): string => models.join('\n')
