import type { Hook, Problem } from '../../contracts/index.ts'
import { type KnownTools, toolNameProblem } from '../../policy/tool-name-problems.ts'
import { nearestNames } from '../../util/nearest-names.ts'
import { isRecord } from '../../util/option-problems.ts'
import { showValue } from '../../util/show-value.ts'

const keys: { readonly [Key in keyof Required<Hook>]: 'function' | 'value' } = {
  name: 'value',
  onFailure: 'value',
  timeoutMs: 'value',
  tools: 'value',
  beforeCall: 'function',
  afterCall: 'function',
  beforeRequest: 'function',
  atStop: 'function',
  close: 'function',
}
const points = ['beforeCall', 'afterCall', 'beforeRequest', 'atStop'] satisfies (keyof Hook)[]

/** Everything that is wrong with the hooks of a program. One that is never asked would be worse than none: somebody relies on it. */
export function checkHookObjects(hooks: unknown, known: KnownTools | undefined): readonly Problem[] {
  if (hooks === undefined) return []
  if (!Array.isArray(hooks))
    return [{ place: 'hooks', message: `expected a list of hooks, found ${showValue(hooks)}`, remedy: 'Give a list.' }]
  return hooks.flatMap((hook: unknown, index) => {
    const place = `hooks[${index}]`
    if (isRecord(hook)) return [...problemsOf(hook, place), ...filterProblems(hook, `${place}.tools`, known)]
    return [
      { place, message: `expected a hook, found ${showValue(hook)}`, remedy: `Give name, onFailure and one of ${points.join(', ')}.` },
    ]
  })
}

/** A filter that names no tool would keep the hook from being asked. Agents and servers may come later. */
function filterProblems({ tools }: { readonly [key: string]: unknown }, place: string, known: KnownTools | undefined): readonly Problem[] {
  if (tools === undefined) return []
  if (!Array.isArray(tools) || tools.length === 0 || !tools.every((each) => typeof each === 'string' && each !== ''))
    return [{ place, message: `expected names of tools, found ${showValue(tools)}`, remedy: 'Leave it out for all tools.' }]
  return (tools as readonly string[]).flatMap((name, index) => {
    const fault = known && toolNameProblem(name, known)
    return fault?.kind === 'nothing' ? [{ place: `${place}[${index}]`, message: fault.message, remedy: fault.remedy }] : []
  })
}

function problemsOf(hook: { readonly [key: string]: unknown }, place: string): readonly Problem[] {
  const found: Problem[] = []
  const tell = (key: string, message: string, remedy: string): void => void found.push({ place: `${place}.${key}`, message, remedy })
  const { name, onFailure, timeoutMs } = hook
  if (typeof name !== 'string' || name === '') tell('name', `expected a name, found ${showValue(name)}`, 'The journal names hooks.')
  if (onFailure !== 'closed' && onFailure !== 'open')
    tell('onFailure', `expected "closed" or "open", found ${showValue(onFailure)}`, 'Say what a crash of the hook means.')
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs > 0))
    tell('timeoutMs', `expected milliseconds above 0, found ${showValue(timeoutMs)}`, 'Leave it out for a minute.')
  for (const [key, kind] of Object.entries(keys)) {
    const given = hook[key]
    if (kind === 'function' && given !== undefined && typeof given !== 'function')
      tell(key, `expected a function, found ${showValue(given)}`, 'Leave it out where there is none.')
  }
  for (const key of misspelt(hook)) {
    const [near] = nearestNames(key, Object.keys(keys))
    tell(key, 'unknown key', near ? `Did you mean "${near}"?` : `Known keys: ${Object.keys(keys).join(', ')}.`)
  }
  if (found.length === 0 && points.every((point) => hook[point] === undefined))
    found.push({ place, message: 'expected something that it is asked, found none', remedy: `Give one of ${points.join(', ')}.` })
  return found
}

/** Of an object all that is not known; objects of a class have fields of their own, so only functions that look like one of ours. */
function misspelt(hook: object): readonly string[] {
  const own = Object.keys(hook).filter((key) => !(key in keys))
  if (isPlain(hook)) return own
  const names = new Set(own)
  for (let each = Object.getPrototypeOf(hook); each && each !== Object.prototype; each = Object.getPrototypeOf(each))
    for (const key of Object.getOwnPropertyNames(each)) if (key !== 'constructor' && !(key in keys)) names.add(key)
  return [...names].filter((key) => nearestNames(key, points).length > 0 && typeof Reflect.get(hook, key) === 'function')
}

function isPlain(hook: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(hook)
  return prototype === null || prototype === Object.prototype
}
