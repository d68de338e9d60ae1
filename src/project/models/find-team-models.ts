import { type ModelAdapter, TroupeError } from '../../contracts/index.ts'
import { joinErrors } from '../../util/join-errors.ts'
import { foreignModelRemedy } from './check-model-names.ts'
import { type FoundModels, findModels, type ModelSearch } from './find-models.ts'

interface ModelRequest {
  readonly models: readonly string[]
  /** Its name in errors; absent for the root. */
  readonly shown?: string
  /** Whether its file has the format of another program. */
  readonly isForeign?: boolean
}

interface FoundTeamModels<Agent> {
  /** Each with the available models. */
  readonly agents: readonly Agent[]
  readonly adapter: ModelAdapter
  /** Models of agents that have none that is available. */
  readonly missing: readonly string[]
  readonly notices: readonly string[]
}

/** Resolves the models of all agents, each list once. Throws all errors together. */
export async function findTeamModels<Agent extends ModelRequest>(
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
          .map((agent) => withAgent(error, agent)),
      )
    }
  }
  const [first] = found.values()
  if (errors.length > 0 || !first) throw joinErrors(errors)
  const adapters = new Map([...found.values()].flatMap(({ models, adapter }) => models.map((name) => [name, adapter] as const)))
  return {
    agents: agents.map((agent) => ({ ...agent, models: found.get(keyOf(agent.models))?.models ?? agent.models })),
    adapter: { ...first.adapter, resolve: (name) => (adapters.get(name) ?? first.adapter).resolve(name) },
    missing: [...new Set([...found.values()].flatMap(({ isMissing, models }) => (isMissing ? models : [])))],
    notices: [...new Set([...found.values()].flatMap(({ notices }) => notices))],
  }
}

/** Adds the name of a child to the error, and a remedy for files of other programs. */
function withAgent(error: TroupeError, { models, shown, isForeign = false }: ModelRequest): TroupeError {
  const { code, message, problems, cause } = error
  const [only, ...others] = models
  const remedy = isForeign && only !== undefined && others.length === 0 ? foreignModelRemedy(only, error) : error.remedy
  const text = shown === undefined ? message : `${shown}: ${message}`
  return new TroupeError(code, text, { problems, ...(remedy !== undefined && { remedy }), cause })
}

const keyOf = (models: readonly string[]): string => models.join('\n')
