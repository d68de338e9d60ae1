import { hookPoints } from '../contracts/index.ts'
import { nearestNames } from '../util/nearest-names.ts'
import { parseDuration } from '../util/parse-duration.ts'
import { showValue } from '../util/show-value.ts'

/** What is wrong under a key of a hook: `message` goes on where its name ends. Whoever reads the hook adds where it stands. */
export interface HookProblem {
  readonly key: string
  readonly message: string
  readonly remedy: string
}

export const hookKeys = ['name', 'on', 'tools', 'command', 'module', 'onFailure', 'timeout'] as const
/** One of `command` and `module` is needed, too. */
export const requiredHookKeys = ['name', 'on', 'onFailure'] as const
export const hookExample = '{ "name": "guard", "on": ["before_call"], "command": ["./guard.sh"], "onFailure": "closed" }'

const maxTimeoutMs = 3_600_000

/** Everything that is wrong with a hook of a configuration, whoever has written it. */
export function checkHook(hook: HookFields): readonly HookProblem[] {
  return [
    ...unknownKeys(hook),
    ...nameProblems(hook),
    ...pointProblems(hook),
    ...sourceProblems(hook),
    ...failureProblems(hook),
    ...timeoutProblems(hook),
  ]
}

export interface HookFields {
  readonly [key: string]: unknown
}

function unknownKeys(hook: HookFields): readonly HookProblem[] {
  const known: readonly string[] = hookKeys
  return Object.keys(hook).flatMap((key) => {
    const [near] = nearestNames(key, known)
    const remedy = near === undefined ? `There are ${known.join(', ')}.` : `Did you mean "${near}"?`
    return known.includes(key) ? [] : [{ key, message: 'is no key of a hook', remedy }]
  })
}

function nameProblems({ name }: HookFields): readonly HookProblem[] {
  if (isText(name)) return []
  return [
    { key: 'name', message: `must be a name, not ${showValue(name)}`, remedy: 'Write one like "guard": the journal tells of it by this.' },
  ]
}

function pointProblems({ on, tools }: HookFields): readonly HookProblem[] {
  const problems: HookProblem[] = []
  const known: readonly unknown[] = hookPoints
  if (!isList(on) || on.length === 0 || !on.every((each) => known.includes(each)))
    problems.push({
      key: 'on',
      message: `must be a list of ${hookPoints.join(', ')}, not ${showValue(on)}`,
      remedy: 'Write it like ["before_call"].',
    })
  if (tools === undefined) return problems
  if (!isList(tools) || tools.length === 0 || !tools.every(isText))
    problems.push({
      key: 'tools',
      message: `must be a list of names of tools, not ${showValue(tools)}`,
      remedy: 'Write it like ["shell", "write_*"], or leave it out for all tools.',
    })
  else if (isList(on) && !on.includes('before_call') && !on.includes('after_call'))
    problems.push({
      key: 'tools',
      message: 'is only for hooks before and after calls',
      remedy: 'Leave it out, or add "before_call" to "on".',
    })
  return problems
}

function sourceProblems({ command, module }: HookFields): readonly HookProblem[] {
  if (command === undefined && module === undefined)
    return [{ key: 'command', message: 'must be there, or `module`', remedy: 'Write "command": ["./guard.sh"].' }]
  if (command !== undefined && module !== undefined)
    return [{ key: 'module', message: 'cannot stand beside `command`', remedy: 'Keep one of the two.' }]
  if (module !== undefined) {
    if (isText(module)) return []
    const message = `must be the path of a module, not ${showValue(module)}`
    return [{ key: 'module', message, remedy: 'Write it like "./guard.mjs", relative to the file that names it.' }]
  }
  if (isList(command) && isText(command[0]) && command.every((part) => typeof part === 'string' && !part.includes('\0'))) return []
  const message = `must be a list of a program and its arguments, not ${showValue(command)}`
  return [{ key: 'command', message, remedy: 'There is no shell: write ["bash", "-c", "…"] for one.' }]
}

function failureProblems({ onFailure }: HookFields): readonly HookProblem[] {
  if (onFailure === 'closed' || onFailure === 'open') return []
  const remedy = '"closed" stops what the hook was asked about when it fails; "open" lets it go on.'
  return [{ key: 'onFailure', message: `must be "closed" or "open", not ${showValue(onFailure)}`, remedy }]
}

function timeoutProblems({ timeout }: HookFields): readonly HookProblem[] {
  const ms = parseDuration(timeout) ?? 0
  if (timeout === undefined || (Number.isSafeInteger(ms) && ms >= 1 && ms <= maxTimeoutMs)) return []
  const message = `must be a time from 1ms to 1h, not ${showValue(timeout)}`
  return [{ key: 'timeout', message, remedy: 'Write it like "500ms", "30s" or "10m"; a bare number is milliseconds.' }]
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)
const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '' && !value.includes('\0')
