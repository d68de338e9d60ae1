import { type Problem, TroupeError } from '../contracts/index.ts'
import { nearestNames } from './nearest-names.ts'
import { showValue } from './show-value.ts'

// What configurations and options are held against: small checks that gather problems instead of throwing at the first.

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

export function configError(problems: readonly Problem[]): TroupeError {
  return new TroupeError('config_invalid', `The configuration is ${wrongIn(problems)}`, { problems })
}

/** For a call of a program that is wrong: nothing of it was done. */
export function usageError(problems: readonly Problem[]): TroupeError {
  return new TroupeError('usage', `The call is ${wrongIn(problems)}`, { problems })
}

function wrongIn(problems: readonly Problem[]): string {
  const lines = problems.map(({ place, message, remedy }) => `${place}: ${message}${remedy ? `. ${remedy}` : ''}`)
  return `wrong in ${problems.length === 1 ? 'one place' : `${problems.length} places`}:\n  ${lines.join('\n  ')}`
}

/** An object where one is given; anything else is a problem. */
export function expectObject<T extends object>(problems: Problem[], value: T | undefined, place: string): value is T {
  if (value === undefined) return false
  if (isPlainRecord(value)) return true
  problems.push({ place, message: `expected an object, found ${show(value)}` })
  return false
}

export function expectList(problems: Problem[], value: unknown, place: string): readonly unknown[] {
  if (value === undefined || Array.isArray(value)) return value ?? []
  problems.push({ place, message: `expected a list, found ${show(value)}` })
  return []
}

export const isListOfTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string')

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
/** No `Map` and the like, whose entries nobody would read. */
export const isPlainRecord = (value: unknown): value is Record<string, unknown> =>
  isRecord(value) && Object.prototype.toString.call(value) === '[object Object]'
export const show = (value: unknown): string => (value === undefined ? 'nothing' : showValue(value))
