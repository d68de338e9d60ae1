import {
  type AgentLimits,
  boundsOfLimit,
  limitNames,
  type ModelParameters,
  type Problem,
  parameterBounds,
  reasoningEfforts,
} from '../../contracts/index.ts'
import { aBoolean, checkFields, checkKeys, type FieldType, oneOf, optional, within } from '../../util/option-problems.ts'

const limitFields = Object.fromEntries(limitNames.map((name) => [name, within(boundsOfLimit(name))]))
const parameterFields: { readonly [Key in keyof Required<ModelParameters>]: FieldType } = {
  temperature: within(parameterBounds.temperature),
  topP: within(parameterBounds.topP),
  maxOutputTokens: within(parameterBounds.maxOutputTokens),
  seed: within(parameterBounds.seed),
  reasoning: oneOf(reasoningEfforts),
  cache: aBoolean,
}

export function checkLimits(problems: Problem[], limits: Partial<AgentLimits>, place: string): void {
  checkKeys(problems, limits, { known: Object.keys(limitFields), place })
  const given = Object.entries(limitFields).filter(([key]) => Object.hasOwn(limits, key))
  checkFields(problems, limits, { fields: Object.fromEntries(given), place })
}

export function checkParameters(problems: Problem[], parameters: ModelParameters, place: string): void {
  checkKeys(problems, parameters, { known: Object.keys(parameterFields), place })
  const fields = Object.fromEntries(Object.entries(parameterFields).map(([key, type]) => [key, optional(type)]))
  checkFields(problems, parameters, { fields, place })
}
