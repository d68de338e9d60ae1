import {
  type ModelRequestPlace,
  maxSearchChars,
  type Problem,
  sessionStatuses,
  type TreeFilter,
  type UsageQuery,
  usageGroupings,
} from '../../contracts/index.ts'
import { aTitle, someLabels } from '../../policy/session-fields.ts'
import {
  aBoolean,
  aString,
  checkField,
  checkKeys,
  checkOnlyFields,
  type FieldType,
  oneOf,
  optional,
  within,
} from '../../util/option-problems.ts'
import { areOptions, check, nonEmpty } from './check-arguments.ts'
import { checkPrincipal } from './check-principal.ts'

// Checks the arguments of calls about stored sessions.

const aStatus = oneOf(sessionStatuses)
const aCount = (expected: string): FieldType => ({ ...within({ kind: 'integer', min: 1 }), expected })
const aMoment: FieldType = { expected: 'milliseconds since 1970', accepts: Number.isFinite }
const anAmount: FieldType = { ...within({ kind: 'number', min: 0 }), expected: 'US dollars, 0 or more' }
const aSearch: FieldType = {
  expected: `a text of at most ${maxSearchChars} characters that is not blank`,
  accepts: (value) => typeof value === 'string' && value.trim() !== '' && value.length <= maxSearchChars,
}
const texts: FieldType = { expected: 'a list of labels', accepts: (value) => Array.isArray(value) && value.every(aString.accepts) }

const filterFields: { readonly [Key in keyof Required<TreeFilter>]: FieldType } = {
  owner: optional(nonEmpty('the id of a principal')),
  agent: optional(nonEmpty('the name of an agent')),
  status: optional({
    expected: `${aStatus.expected}, or a list of these`,
    accepts: (value) => aStatus.accepts(value) || (Array.isArray(value) && value.every(aStatus.accepts)),
  }),
  labels: optional(texts),
  workspace: optional(nonEmpty('a folder')),
  text: optional(aString),
  search: optional(aSearch),
  minCostUsd: optional(anAmount),
  maxCostUsd: optional(anAmount),
  since: optional(aMoment),
  until: optional(aMoment),
  hasOpenRequests: optional(aBoolean),
  limit: optional(aCount('a number of sessions')),
  before: optional({ expected: 'the createdAt of a session', accepts: (value) => typeof value === 'number' && !Number.isNaN(value) }),
}

export const checkList = (filter: object): void => checkOptions('filter', filter, filterFields)

export const checkWatch = (filter: object): void => checkOptions('filter', filter, { owner: filterFields.owner })

const requestFields: { readonly [Key in keyof Required<ModelRequestPlace>]: FieldType } = {
  sessionId: optional(nonEmpty('the id of the session or of a child')),
  stepId: nonEmpty('the id of a step'),
  attempt: optional(aCount('the number of an attempt')),
}

export const checkModelRequest = (place: object): void => checkOptions('place', place, requestFields)

const usageFields: { readonly [Key in keyof Required<UsageQuery>]: FieldType } = {
  by: oneOf(usageGroupings),
  since: optional(aMoment),
  until: optional(aMoment),
  owner: optional(nonEmpty('the id of a principal')),
}

export const checkUsage = (query: object): void => checkOptions('query', query, usageFields)

export const checkUpdate = (changes: object): void =>
  checkOptions('changes', changes, { title: optional(aTitle), labels: optional(someLabels) })

export function checkFork(options: object): void {
  check({ options }, (problems) => {
    if (!areOptions(problems, options)) return
    checkKeys(problems, options, { known: ['seq', 'principal'], place: 'options' })
    checkField(problems, options.seq, { type: optional(aCount('the seq of an event')), place: 'options.seq' })
    checkPrincipal(problems, options.principal)
  })
}

export function checkKey(key: unknown): void {
  check({ key }, (problems) => void checkField(problems, key, { type: nonEmpty('a key'), place: 'key' }))
}

export function checkHandle(handle: unknown): void {
  check({ handle }, (problems) => void checkField(problems, handle, { type: nonEmpty('the handle of an output'), place: 'handle' }))
}

function checkOptions(place: string, options: object, fields: { readonly [key: string]: FieldType }): void {
  check({ [place]: options }, (problems: Problem[]) => {
    if (areOptions(problems, options, place)) checkOnlyFields(problems, options, { fields, place })
  })
}
