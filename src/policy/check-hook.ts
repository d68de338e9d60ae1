import { hookPoints } from '../contracts/index.ts'
import { nearestNames } from '../util/nearest-names.ts'
import { parseDuration } from '../util/parse-units.ts'
import { showValue } from '../util/show-value.ts'

/** A problem under a key of a hook. `message` continues the name of the key; the caller adds the place. */
interface HookProblem {
  readonly key: string
  readonly message: string
  readonly remedy: string
}

interface HookFields {
  readonly [key: string]: unknown
}

export const hookKeys = ['name', 'on', 'tools', 'command', 'module', 'onFailure', 'timeout'] as const
/** Besides one of `command` and `module`. */
export const requiredHookKeys = ['name', 'on', 'onFailure'] as const
export const hookExample = '{ "name": "guard", "on": ["before_call"], "command": ["./guard.sh"], "onFailure": "closed" }'

const maxTimeoutMs = 3_600_000

/** Everything that is wrong with a hook of a configuration. */
export function checkHook(hook: HookFields): readonly HookProblem[] {
  const { name, on, tools, onFailure, timeout } = hook
  const problems = [...unknownKeys(hook)]
  const expect = (isValid: boolean, key: string, [message, remedy]: readonly [string, string]): void => {
    if (!isValid) problems.push({ key, message, remedy })
  }
  expect(isText(name), 'name', [`must be a name, not ${showValue(name)}`, 'Write one like "guard"; the journal names hooks.'])
  const points: readonly unknown[] = hookPoints
  expect(isList(on) && on.length > 0 && on.every((each) => points.includes(each)), 'on', [
    `must be a list of ${hookPoints.join(', ')}, not ${showValue(on)}`,
    'Write it like ["before_call"].',
  ])
  if (tools !== undefined && !(isList(tools) && tools.length > 0 && tools.every(isText)))
    expect(false, 'tools', [
      `must be a list of tool names, not ${showValue(tools)}`,
      'Write it like ["shell", "write_*"], or omit it for all tools.',
    ])
  else if (tools !== undefined && isList(on) && !on.includes('before_call') && !on.includes('after_call'))
    expect(false, 'tools', ['is only for hooks before and after calls', 'Remove it, or add "before_call" to "on".'])
  problems.push(...sourceProblems(hook))
  expect(onFailure === 'closed' || onFailure === 'open', 'onFailure', [
    `must be "closed" or "open", not ${showValue(onFailure)}`,
    '"closed" stops the call if the hook fails; "open" continues.',
  ])
  const ms = parseDuration(timeout) ?? 0
  expect(timeout === undefined || (Number.isSafeInteger(ms) && ms >= 1 && ms <= maxTimeoutMs), 'timeout', [
    `must be a time from 1ms to 1h, not ${showValue(timeout)}`,
    'Write it like "500ms", "30s" or "10m"; a number is milliseconds.',
  ])
  return problems
}

function unknownKeys(hook: HookFields): readonly HookProblem[] {
  const known: readonly string[] = hookKeys
  return Object.keys(hook).flatMap((key) => {
    const [near] = nearestNames(key, known)
    const remedy = near === undefined ? `Known keys: ${known.join(', ')}.` : `Did you mean "${near}"?`
    return known.includes(key) ? [] : [{ key, message: 'is not a key of a hook', remedy }]
  })
}

function sourceProblems({ command, module }: HookFields): readonly HookProblem[] {
  if (command === undefined && module === undefined)
    return [{ key: 'command', message: 'is missing, and so is `module`', remedy: 'Write "command": ["./guard.sh"].' }]
  if (command !== undefined && module !== undefined)
    return [{ key: 'module', message: 'cannot be combined with `command`', remedy: 'Keep one of the two.' }]
  if (module !== undefined) {
    if (isText(module)) return []
    const message = `must be the path of a module, not ${showValue(module)}`
    return [{ key: 'module', message, remedy: 'Write it like "./guard.mjs", relative to the file that names it.' }]
  }
  if (isList(command) && isText(command[0]) && command.every((part) => typeof part === 'string' && !part.includes('\0'))) return []
  const message = `must be a list of a program and its arguments, not ${showValue(command)}`
  return [{ key: 'command', message, remedy: 'It runs without a shell: write ["bash", "-c", "…"] for one.' }]
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)
const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '' && !value.includes('\0')
