import {
  type AgentSpec,
  type MaybePromise,
  type Model,
  type ModelAdapter,
  noUsage,
  type TokenPrice,
  TroupeError,
  type Usage,
} from '../../contracts/index.ts'
import { computeCost } from '../../core/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { showValue } from '../../util/show-value.ts'

interface ModelCacheOptions {
  readonly adapter: Model | ModelAdapter
  /** Models that may be asked under a cost budget though nobody knows their price. */
  readonly unpriced: readonly string[]
}

/** The models that agents name. Each is resolved once, for all trees. */
export class ModelCache {
  readonly #options: ModelCacheOptions
  readonly #models = new Map<string, Model>()

  constructor(options: ModelCacheOptions) {
    this.#options = options
  }

  get all(): ReadonlyMap<string, Model> {
    return this.#models
  }

  hasAll({ models }: AgentSpec): boolean {
    return models.every((name) => this.#models.has(name))
  }

  /** Every model that an agent names. A name that cannot be resolved fails the whole: nothing is started on half of them. */
  resolve(agent: AgentSpec): MaybePromise<unknown> {
    return this.hasAll(agent) ? undefined : this.#resolveMissing(agent)
  }

  /** Under a cost budget a model must have a price, or be allowed by name. */
  checkPrices(agent: AgentSpec, isBound: boolean): void {
    if (!isBound) return
    const prices = this.prices(agent)
    const unpriced = agent.models.filter((name) => !Object.hasOwn(prices, name) && !this.#options.unpriced.includes(name))
    if (unpriced.length > 0)
      throw new TroupeError('config_invalid', `There is a cost budget, and ${unpriced.join(', ')} has no price.`, {
        remedy: 'Name it in `unpriced` to ask it all the same, or take the budget off.',
      })
  }

  /** The most that a token may cost, by what each of the agent's models says. */
  prices({ models }: AgentSpec): { readonly [model: string]: TokenPrice } {
    const prices: Record<string, TokenPrice> = {}
    for (const name of models) {
      const model = this.#models.get(name)
      const input = perToken(model, (tokens) => ({ ...noUsage, input: tokens }))
      const output = perToken(model, (tokens) => ({ ...noUsage, output: tokens }))
      if (input !== undefined && output !== undefined) prices[name] = { input, output }
    }
    return prices
  }

  /** How much each of the agent's models can take in, where it says so. */
  windows({ models }: AgentSpec): { readonly [model: string]: number } {
    return this.#facts(models, 'contextTokens')
  }

  /** How long a reply of each of the agent's models can be, where it says so. */
  maxOutputs({ models }: AgentSpec): { readonly [model: string]: number } {
    return this.#facts(models, 'maxOutputTokens')
  }

  #facts(models: readonly string[], fact: 'contextTokens' | 'maxOutputTokens'): { readonly [model: string]: number } {
    return Object.fromEntries(
      models.flatMap((name) => {
        const tokens = this.#models.get(name)?.[fact]
        return tokens === undefined ? [] : [[name, tokens] as const]
      }),
    )
  }

  async #resolveMissing({ models }: AgentSpec): Promise<void> {
    const { adapter } = this.#options
    for (const name of models) {
      if (this.#models.has(name)) continue
      try {
        this.#models.set(name, 'stream' in adapter ? adapter : checkedModel(name, await adapter.resolve(name)))
      } catch (cause) {
        // An adapter is somebody else's code: whatever it says, the model that was wanted is named.
        if (cause instanceof TroupeError) throw cause
        throw new TroupeError('model_unavailable', `The model ${name} could not be had: ${messageOf(cause)}`, { cause })
      }
    }
  }
}

function checkedModel(name: string, given: unknown): Model {
  if (typeof given === 'object' && given !== null && 'stream' in given && typeof given.stream === 'function') return given as Model
  const message = `The model ${name} could not be had: the adapter gave ${showValue(given)} for it, which is no model.`
  throw new TroupeError('model_unavailable', message, { remedy: 'resolve(name) gives an object with id, abilities and stream.' })
}

/** Prices may rise with the size of a request: the highest that is seen counts. */
function perToken(model: Model | undefined, usage: (tokens: number) => Usage): number | undefined {
  const found = [1_000, 1_000_000].map((tokens) => {
    const cost = computeCost(model, usage(tokens))
    return cost === 'unknown' ? undefined : cost / tokens
  })
  return found.includes(undefined) ? undefined : Math.max(...(found as number[]))
}
