import type { Problem } from '../../contracts/index.ts'
import { nearestNames } from '../../util/nearest-names.ts'
import { parseDuration } from '../../util/parse-duration.ts'
import { showValue } from '../../util/show-value.ts'
import { hookPoints } from './hook-definition.ts'

const keys = ['name', 'on', 'tools', 'command', 'module', 'onFailure', 'timeout']
const longestMs = 3_600_000

/** Everything that is wrong with the hooks of a configuration, all at once. `place` is where the list stands. */
export function checkHooks(definitions: unknown, place: string): readonly Problem[] {
  if (definitions === undefined) return []
  if (!Array.isArray(definitions))
    return [{ place, message: `expected a list of hooks, found ${showValue(definitions)}`, remedy: `Write a list like [${example}].` }]
  const names = definitions.map((each: unknown) => (isObject(each) ? each.name : undefined))
  return definitions.flatMap((each: unknown, index) => {
    const own = checkHook(each, `${place}[${index}]`)
    const first = names.indexOf(names[index])
    if (typeof names[index] !== 'string' || first === index) return own
    return [
      ...own,
      { place: `${place}[${index}].name`, message: `${place}[${first}] has this name already`, remedy: 'Give each hook its own.' },
    ]
  })
}

const example = '{ "name": "guard", "on": ["before_call"], "command": ["./guard.sh"], "onFailure": "closed" }'

function checkHook(hook: unknown, place: string): readonly Problem[] {
  if (!isObject(hook)) return [{ place, message: `expected a hook, found ${showValue(hook)}`, remedy: `Write it like ${example}.` }]
  const at = (key: string, message: string, remedy?: string): Problem => ({
    place: `${place}.${key}`,
    message,
    ...(remedy !== undefined && { remedy }),
  })
  return [
    ...Object.keys(hook).flatMap((key) => (keys.includes(key) ? [] : [at(key, 'unknown key', nearest(key))])),
    ...(isText(hook.name) ? [] : [at('name', `expected a name, found ${showValue(hook.name)}`)]),
    ...checkPoints(hook, at),
    ...checkSource(hook, at),
    ...(hook.onFailure === 'closed' || hook.onFailure === 'open'
      ? []
      : [at('onFailure', `expected "closed" or "open", found ${showValue(hook.onFailure)}`, failureRemedy)]),
    ...(hook.timeout === undefined || isTime(hook.timeout)
      ? []
      : [at('timeout', `expected a time like "30s", at most an hour, found ${showValue(hook.timeout)}`)]),
  ]
}

type At = (key: string, message: string, remedy?: string) => Problem

const failureRemedy = '"closed" stops what the hook was asked about when it fails; "open" lets it go on.'

function checkPoints({ on, tools }: Fields, at: At): readonly Problem[] {
  const problems: Problem[] = []
  const known: readonly unknown[] = hookPoints
  if (!isList(on) || on.length === 0 || !on.every((each) => known.includes(each)))
    problems.push(at('on', `expected a list of ${hookPoints.join(', ')}, found ${showValue(on)}`))
  if (tools === undefined) return problems
  if (!isList(tools) || tools.length === 0 || !tools.every(isText))
    problems.push(at('tools', `expected a list of names of tools, found ${showValue(tools)}`, 'Leave it out for all tools.'))
  else if (isList(on) && !on.includes('before_call') && !on.includes('after_call'))
    problems.push(at('tools', 'only hooks before and after a call have tools', 'Leave it out, or add "before_call" to "on".'))
  return problems
}

function checkSource({ command, module }: Fields, at: At): readonly Problem[] {
  if (command === undefined && module === undefined)
    return [at('command', 'expected a command or a module', 'Write "command": ["./guard.sh"].')]
  if (command !== undefined && module !== undefined) return [at('module', 'there is a command already', 'Keep one of the two.')]
  if (module !== undefined) return isText(module) ? [] : [at('module', `expected the path of a module, found ${showValue(module)}`)]
  if (isList(command) && isText(command[0]) && command.every((part) => typeof part === 'string' && !part.includes('\0'))) return []
  return [
    at(
      'command',
      `expected a list of a program and its arguments, found ${showValue(command)}`,
      'There is no shell: write ["bash", "-c", "…"] for one.',
    ),
  ]
}

function nearest(key: string): string {
  const [near] = nearestNames(key, keys)
  return near === undefined ? `Known keys: ${keys.join(', ')}.` : `Did you mean "${near}"?`
}

interface Fields {
  readonly [key: string]: unknown
}

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)
const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)
const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '' && !value.includes('\0')
const isTime = (value: unknown): boolean => {
  const ms = typeof value === 'string' ? parseDuration(value) : undefined
  return ms !== undefined && ms > 0 && ms <= longestMs
}
