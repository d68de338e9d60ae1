import { describeBounds, isWithin, type NumberBounds, type Problem, TroupeError } from '../contracts/index.ts'
import { isRecord } from './is-record.ts'
import { nearestNames } from './nearest-names.ts'
import { plural } from './plural.ts'
import { showValue } from './show-value.ts'

// Checks for configurations and options. They collect problems instead of throwing at the first one.

/** What a field accepts: in words for the message, and as a test. */
export interface FieldType {
  readonly expected: string
  readonly remedy?: string
  /** Messages show only the type of a wrong value: it may be a key in the wrong place. */
  readonly isSecret?: true
  accepts(value: unknown): boolean
}

export const anything: FieldType = { expected: 'any value', accepts: () => true }
export const aString: FieldType = { expected: 'a string', accepts: (value) => typeof value === 'string' }
export const aBoolean: FieldType = { expected: 'true or false', accepts: (value) => typeof value === 'boolean' }
export const aFunction: FieldType = { expected: 'a function', accepts: (value) => typeof value === 'function' }

export const oneOf = (values: readonly unknown[]): FieldType => ({
  expected: `one of ${values.join(', ')}`,
  accepts: (value) => values.includes(value),
})

export const within = (bounds: NumberBounds): FieldType => ({
  expected: describeBounds(bounds),
  accepts: (value) => isWithin(value, bounds),
})

/** A list of strings, such as `a list of tool names`. */
export const stringList = (expected: string): FieldType => ({ expected, accepts: isListOfStrings })

/** The same field, which may also be left out. */
export const optional = (type: FieldType, remedy = type.remedy): FieldType => ({
  ...type,
  ...(remedy !== undefined && { remedy }),
  accepts: (value) => value === undefined || type.accepts(value),
})

/** Checks the fields that the table names. Other keys are for `checkKeys`. */
export function checkFields(
  problems: Problem[],
  value: object,
  { fields, place }: { readonly fields: { readonly [key: string]: FieldType }; readonly place: string },
): void {
  for (const [key, type] of Object.entries(fields)) checkField(problems, Reflect.get(value, key), { type, place: `${place}.${key}` })
}

/** The same, and other keys are problems. */
export function checkOnlyFields(problems: Problem[], value: object, table: Parameters<typeof checkFields>[2]): void {
  checkKeys(problems, value, { known: Object.keys(table.fields), place: table.place })
  checkFields(problems, value, table)
}

/** Whether the value is accepted. */
export function checkField(problems: Problem[], value: unknown, { type, place }: { type: FieldType; place: string }): boolean {
  const { expected, remedy, isSecret } = type
  if (type.accepts(value)) return true
  const found = isSecret ? `a value of type ${value === null ? 'null' : typeof value}` : showValue(value)
  problems.push({ place, message: `expected ${expected}, found ${found}`, ...(remedy !== undefined && { remedy }) })
  return false
}

export function checkKeys(problems: Problem[], value: object, { known, place }: { known: readonly string[]; place: string }): void {
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue
    const [near] = nearestNames(key, known)
    problems.push({
      place: `${place}.${key}`,
      message: 'unknown key',
      remedy: near ? `Did you mean "${near}"?` : `Known keys: ${known.join(', ')}.`,
    })
  }
}

export const configError = (problems: readonly Problem[]): TroupeError => problemsError('config_invalid', 'configuration', problems)

/** For a wrong call of a program. Nothing of the call was done. */
export const usageError = (problems: readonly Problem[]): TroupeError => problemsError('usage', 'call', problems)

/** One error that lists every problem, a line each. `what` is wrong, such as `configuration`. */
export function problemsError(
  code: 'config_invalid' | 'usage' | 'agent_file_invalid',
  what: string,
  problems: readonly Problem[],
): TroupeError {
  const lines = problems.map(({ place, message, remedy }) => `${place}: ${message}${remedy ? `. ${remedy}` : ''}`)
  const count = plural(problems.length, 'problem')
  return new TroupeError(code, `Invalid ${what}, ${count}:\n  ${lines.join('\n  ')}`, { problems })
}

/** Whether an object is given. Any other value, except `undefined`, is a problem. */
export function expectObject<T extends object>(problems: Problem[], value: T | undefined, place: string): value is T {
  if (value === undefined) return false
  return checkField(problems, value, { type: anObject, place })
}

export function expectList(problems: Problem[], value: unknown, place: string): readonly unknown[] {
  checkField(problems, value, { type: aList, place })
  return Array.isArray(value) ? value : []
}

const anObject: FieldType = { expected: 'an object', accepts: (value) => isPlainRecord(value) }
const aList: FieldType = { expected: 'a list', accepts: (value) => value === undefined || Array.isArray(value) }

export const isListOfStrings = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string')

/** A `Map` and the like are no plain records: nobody would read their entries. */
export const isPlainRecord = (value: unknown): value is Record<string, unknown> =>
  isRecord(value) && Object.prototype.toString.call(value) === '[object Object]'
