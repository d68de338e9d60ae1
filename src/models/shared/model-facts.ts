import type { InputPart, Model, ModelAbility, ModelRequest, Usage } from '../../contracts/index.ts'
import { FailureError, failing } from '../failures/index.ts'

/** Facts about a model of a framework. Missing ones are read from the model where possible. */
export interface ModelFacts {
  /** `provider/name`, for accounting. */
  readonly id?: string
  /** Its abilities. Requests beyond them cause a notice or a failure. */
  readonly abilities?: readonly ModelAbility[]
  readonly contextTokens?: number
  readonly maxOutputTokens?: number
  readonly costOf?: (usage: Usage) => number | undefined
}

/** The given facts, completed by those that were found. */
export function settledFacts(
  given: ModelFacts,
  found: Pick<Model, 'id' | 'abilities' | 'contextTokens' | 'maxOutputTokens'>,
): Omit<Model, 'stream'> {
  const { costOf } = given
  const contextTokens = given.contextTokens ?? found.contextTokens
  const maxOutputTokens = given.maxOutputTokens ?? found.maxOutputTokens
  return {
    id: given.id ?? found.id,
    abilities: given.abilities ?? found.abilities,
    ...(contextTokens !== undefined && { contextTokens }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(costOf && { costOf }),
  }
}

interface AbleRequest {
  readonly request: ModelRequest
  /** Parts of the request that are dropped. */
  readonly notices: readonly string[]
}

/**
 * The request without tools and reasoning, where the model has no such ability. Images and files cannot be dropped: then it
 * throws, so that a fallback model is used.
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
