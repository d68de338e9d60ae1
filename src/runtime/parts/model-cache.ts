import {
  type AgentSpec,
  type Clock,
  type MaybePromise,
  type Model,
  type ModelAdapter,
  noUsage,
  type TokenPrice,
  TroupeError,
  type Usage,
} from '../../contracts/index.ts'
import { computeCost } from '../../core/index.ts'
import { isThenable } from '../../util/is-thenable.ts'
import { messageOf } from '../../util/message-of.ts'
import { showValue } from '../../util/show-value.ts'
import { maxAnswerMs, withDeadline } from '../../util/with-deadline.ts'

/** The models of all agents. Each is resolved once, for all trees. */
export class ModelCache {
  readonly #adapter: Model | ModelAdapter
  readonly #unpriced: readonly string[]
  readonly #clock: Clock
  readonly #models = new Map<string, Model>()

  /** `unpriced`: models without a price that may be used under a cost budget. */
  constructor(adapter: Model | ModelAdapter, { unpriced, clock }: { readonly unpriced: readonly string[]; readonly clock: Clock }) {
    this.#adapter = adapter
    this.#unpriced = unpriced
    this.#clock = clock
  }

  get all(): ReadonlyMap<string, Model> {
    return this.#models
  }

  hasAll({ models }: AgentSpec): boolean {
    return models.every((name) => this.#models.has(name))
  }

  /** Resolves every model of an agent, or throws. */
  resolve(agent: AgentSpec): MaybePromise<unknown> {
    return this.hasAll(agent) ? undefined : this.#resolveMissing(agent)
  }

  /** Under a cost budget a model must have a price, or be allowed by name. */
  checkPrices(agent: AgentSpec, isBound: boolean): void {
    if (!isBound) return
    const prices = this.prices(agent)
    const unpriced = agent.models.filter((name) => !Object.hasOwn(prices, name) && !this.#unpriced.includes(name))
    if (unpriced.length > 0)
      throw new TroupeError('config_invalid', `A cost budget is set, but ${unpriced.join(', ')} has no price.`, {
        remedy: 'Add the model to `unpriced` to use it anyway, or remove the budget.',
      })
  }

  /** The highest price of a token, by model of the agent. */
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

  /** The context windows of the agent's models, where known. */
  windows({ models }: AgentSpec): { readonly [model: string]: number } {
    return this.#facts(models, 'contextTokens')
  }

  /** The maximum output tokens of the agent's models, where known. */
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
    const adapter = this.#adapter
    for (const name of models) {
      if (this.#models.has(name)) continue
      try {
        this.#models.set(name, 'stream' in adapter ? adapter : checkedModel(name, await this.#resolved(adapter, name)))
      } catch (cause) {
        // The error of an adapter need not name the model.
        if (cause instanceof TroupeError) throw cause
        throw new TroupeError('model_unavailable', `The model ${name} is unavailable: ${messageOf(cause)}`, { cause })
      }
    }
  }

  async #resolved(adapter: ModelAdapter, name: string): Promise<unknown> {
    const resolving = adapter.resolve(name)
    if (!isThenable(resolving)) return resolving
    const late = `its adapter did not answer within ${maxAnswerMs / 1000} s`
    return withDeadline(resolving, { clock: this.#clock, ms: maxAnswerMs, late })
  }
}

function checkedModel(name: string, given: unknown): Model {
  if (typeof given === 'object' && given !== null && 'stream' in given && typeof given.stream === 'function') return given as Model
  const message = `The model ${name} is unavailable: expected the adapter to return a model, found ${showValue(given)}.`
  throw new TroupeError('model_unavailable', message, { remedy: 'Return an object with id, abilities and stream from resolve(name).' })
}

/** Prices may rise with the size of a request: the highest one counts. */
function perToken(model: Model | undefined, usage: (tokens: number) => Usage): number | undefined {
  const found = [1_000, 1_000_000].map((tokens) => {
    const cost = computeCost(model, usage(tokens))
    return cost === 'unknown' ? undefined : cost / tokens
  })
  return found.includes(undefined) ? undefined : Math.max(...(found as number[]))
}
