import type { Problem } from '../../contracts/index.ts'
import { checkHook, type HookFields, hookExample } from '../../policy/check-hook.ts'
import { showValue } from '../../util/show-value.ts'

/** All problems of the hooks of a configuration. `place` is the key of the list. */
export function checkHooks(definitions: unknown, place: string): readonly Problem[] {
  if (definitions === undefined) return []
  if (!Array.isArray(definitions))
    return [{ place, message: `expected a list of hooks, found ${showValue(definitions)}`, remedy: `Write a list like [${hookExample}].` }]
  const names = definitions.map((each: unknown) => (isObject(each) ? each.name : undefined))
  return definitions.flatMap((each: unknown, index) => {
    const own = problemsOf(each, `${place}[${index}]`)
    const first = names.indexOf(names[index])
    if (typeof names[index] !== 'string' || first === index) return own
    return [
      ...own,
      { place: `${place}[${index}].name`, message: `${place}[${first}] already has this name`, remedy: 'Give each hook its own name.' },
    ]
  })
}

function problemsOf(hook: unknown, place: string): readonly Problem[] {
  if (!isObject(hook)) return [{ place, message: `expected a hook, found ${showValue(hook)}`, remedy: `Write it like ${hookExample}.` }]
  return checkHook(hook).map(({ key, message, remedy }) => ({ place: `${place}.${key}`, message, remedy }))
}

const isObject = (value: unknown): value is HookFields => typeof value === 'object' && value !== null && !Array.isArray(value)
