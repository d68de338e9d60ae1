import type { InputPart, Model, ModelAbility, ModelRequest } from '../../contracts/index.ts'
import { FailureError, failing } from '../failures/index.ts'

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
