import type { Model, ModelAbility, Usage } from '../../contracts/index.ts'

/** What may be said about a model of another framework; what is left out is taken from the model where it can be. */
export interface ForeignModelOptions {
  /** `provider/name`, as it stands in accounting. */
  readonly id?: string
  readonly abilities?: readonly ModelAbility[]
  readonly contextTokens?: number
  readonly costOf?: (usage: Usage) => number | undefined
}

export function factsOf(options: ForeignModelOptions, found: Pick<Model, 'id' | 'abilities' | 'contextTokens'>): Omit<Model, 'stream'> {
  const { costOf } = options
  const contextTokens = options.contextTokens ?? found.contextTokens
  return {
    id: options.id ?? found.id,
    abilities: options.abilities ?? found.abilities,
    ...(contextTokens !== undefined && { contextTokens }),
    ...(costOf && { costOf }),
  }
}
