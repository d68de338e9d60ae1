import type { Hook, Problem } from '../../contracts/index.ts'
import { type KnownTools, toolNameProblem } from '../../policy/tool-name-problems.ts'
import { isRecord } from '../../util/is-record.ts'
import { nearestNames } from '../../util/nearest-names.ts'
import { aFunction, anything, checkFields, checkKeys, type FieldType, optional } from '../../util/option-problems.ts'
import { showValue } from '../../util/show-value.ts'

const point = optional(aFunction, 'Omit it if there is none.')
const points = ['beforeCall', 'afterCall', 'beforeRequest', 'atStop'] satisfies (keyof Hook)[]

const hookFields: { readonly [Key in keyof Required<Hook>]: FieldType } = {
  name: { expected: 'a name', remedy: 'The journal names hooks.', accepts: (value) => typeof value === 'string' && value !== '' },
  onFailure: {
    expected: '"closed" or "open"',
    remedy: '"closed" stops the call if the hook fails; "open" continues.',
    accepts: (value) => value === 'closed' || value === 'open',
  },
  timeoutMs: optional(
    { expected: 'milliseconds above 0', accepts: (value) => typeof value === 'number' && value > 0 },
    'Omit it for one minute.',
  ),
  tools: anything,
  beforeCall: point,
  afterCall: point,
  beforeRequest: point,
  atStop: point,
  close: point,
}

/** Everything that is wrong with the hooks of a program. A hook that never runs is an error: somebody relies on it. */
export function checkHookObjects(hooks: unknown, known: KnownTools | undefined): readonly Problem[] {
  if (hooks === undefined) return []
  if (!Array.isArray(hooks))
    return [{ place: 'hooks', message: `expected a list of hooks, found ${showValue(hooks)}`, remedy: 'Pass a list.' }]
  return hooks.flatMap((hook: unknown, index) => {
    const place = `hooks[${index}]`
    if (isRecord(hook)) return [...hookProblems(hook, place), ...filterProblems(hook.tools, `${place}.tools`, known)]
    const remedy = `Set name, onFailure and one of ${points.join(', ')}.`
    return [{ place, message: `expected a hook, found ${showValue(hook)}`, remedy }]
  })
}

function hookProblems(hook: Record<string, unknown>, place: string): readonly Problem[] {
  const problems: Problem[] = []
  checkFields(problems, hook, { fields: hookFields, place })
  checkKeys(problems, Object.fromEntries(misspeltKeys(hook).map((key) => [key, true])), { known: Object.keys(hookFields), place })
  if (problems.length === 0 && points.every((each) => hook[each] === undefined))
    problems.push({ place, message: 'expected at least one hook function, found none', remedy: `Set one of ${points.join(', ')}.` })
  return problems
}

/** A filter that matches no tool would keep the hook from running. Agents and servers may be added later. */
function filterProblems(tools: unknown, place: string, known: KnownTools | undefined): readonly Problem[] {
  if (tools === undefined) return []
  if (!Array.isArray(tools) || tools.length === 0 || !tools.every((each) => typeof each === 'string' && each !== ''))
    return [{ place, message: `expected a list of tool names, found ${showValue(tools)}`, remedy: 'Omit it for all tools.' }]
  return (tools as readonly string[]).flatMap((name, index) => {
    const problem = known && toolNameProblem(name, known)
    return problem?.kind === 'nothing' ? [{ place: `${place}[${index}]`, message: problem.message, remedy: problem.remedy }] : []
  })
}

/** All unknown keys of a plain object. Instances of classes have fields of their own: of those, functions that resemble one of ours. */
function misspeltKeys(hook: object): readonly string[] {
  const own = Object.keys(hook).filter((key) => !(key in hookFields))
  const prototype: unknown = Object.getPrototypeOf(hook)
  if (prototype === null || prototype === Object.prototype) return own
  const names = new Set(own)
  for (let each = Object.getPrototypeOf(hook); each && each !== Object.prototype; each = Object.getPrototypeOf(each))
    for (const key of Object.getOwnPropertyNames(each)) if (key !== 'constructor' && !(key in hookFields)) names.add(key)
  return [...names].filter((key) => nearestNames(key, points).length > 0 && typeof Reflect.get(hook, key) === 'function')
}
