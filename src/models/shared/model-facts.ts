import type { InputPart, Model, ModelAbility, ModelRequest, Usage } from '../../contracts/index.ts'
import { FailureError, failing } from '../failures/index.ts'

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

interface AbleRequest {
  readonly request: ModelRequest
  /** What of it will not be done. */
  readonly notices: readonly string[]
}

/**
 * A request without what the model is said not to be able to do. What it was to look at cannot be left out: then it
 * throws, so that another model gets its turn. `isText` tells of a part whether it is said in words.
 */
export function withinAbilities(
  asked: ModelRequest,
  { id, abilities }: Pick<Model, 'id' | 'abilities'>,
  isText: (part: InputPart) => boolean = ({ type }) => type === 'text',
): AbleRequest {
  const can = (ability: ModelAbility): boolean => abilities.includes(ability)
  const inputs = asked.messages.flatMap((message) => (message.role === 'user' ? message.parts.filter((part) => !isText(part)) : []))
  for (const ability of ['images', 'files'] as const)
    if (!can(ability) && inputs.some(({ type }) => `${type}s` === ability))
      throw new FailureError(failing('config', `${id} takes no ${ability}.`, `Leave them out, or name a model that takes ${ability}.`))
  const { reasoning, ...parameters } = asked.parameters
  const hasTools = asked.tools.length > 0 && !can('tools')
  const thinks = reasoning !== undefined && !can('reasoning')
  return {
    request: { ...asked, ...(hasTools && { tools: [] }), ...(thinks && { parameters }) },
    notices: [
      ...(hasTools ? [`${id} cannot call tools, so it is offered none.`] : []),
      ...(thinks && reasoning !== 'none' ? [`The setting reasoning: ${reasoning} has no effect: ${id} does not reason.`] : []),
    ],
  }
}
