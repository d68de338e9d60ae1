import {
  type AgentLimits,
  limitBounds,
  type ModelParameters,
  type NumberBounds,
  type Problem,
  parameterBounds,
  reasoningEfforts,
} from '../../contracts/index.ts'
import { aBoolean, checkFields, checkKeys, type FieldType, oneOf, optional } from '../../util/option-problems.ts'

type NumberFields<Key extends string> = { readonly [K in Key]: FieldType }

const limitFields = fieldsOf(limitBounds)
const parameterFields: { readonly [Key in keyof Required<ModelParameters>]: FieldType } = {
  ...fieldsOf(parameterBounds),
  reasoning: optional(oneOf(reasoningEfforts)),
  cache: optional(aBoolean),
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

function fieldsOf<Key extends string>(bounds: { readonly [K in Key]: NumberBounds }): NumberFields<Key> {
  const entries = Object.entries<NumberBounds>(bounds).map(([key, each]): [string, FieldType] => [
    key,
    { expected: boundsInWords(each), accepts: (value) => isWithin(value, each) },
  ])
  return Object.fromEntries(entries) as NumberFields<Key>
}

function isWithin(value: unknown, { kind, least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY }: NumberBounds): boolean {
  if (typeof value !== 'number' || !Number.isFinite(value) || (kind === 'whole' && !Number.isInteger(value))) return false
  return value >= least && value <= most
}

function boundsInWords({ kind, least, most }: NumberBounds): string {
  const number = kind === 'whole' ? 'an integer' : 'a number'
  if (least === undefined) return number
  return most === undefined ? `${number} of at least ${least}` : `${number} between ${least} and ${most}`
}
