import type { Model, ModelAbility, Usage } from '../../contracts/index.ts'

/** What may be said about a model of a framework; what is left out is taken from the model where it can be. */
export interface ModelFacts {
  /** `provider/name`, as it stands in accounting. */
  readonly id?: string
  /** What it can do. What it cannot is not asked of it: a notice or a failure says so. */
  readonly abilities?: readonly ModelAbility[]
  readonly contextTokens?: number
  readonly maxOutputTokens?: number
  readonly costOf?: (usage: Usage) => number | undefined
}

/** The facts that are told, before those that were found. */
export function settledFacts(
  told: ModelFacts,
  found: Pick<Model, 'id' | 'abilities' | 'contextTokens' | 'maxOutputTokens'>,
): Omit<Model, 'stream'> {
  const { costOf } = told
  const contextTokens = told.contextTokens ?? found.contextTokens
  const maxOutputTokens = told.maxOutputTokens ?? found.maxOutputTokens
  return {
    id: told.id ?? found.id,
    abilities: told.abilities ?? found.abilities,
    ...(contextTokens !== undefined && { contextTokens }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(costOf && { costOf }),
  }
}
