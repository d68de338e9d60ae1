import { typedWord } from '../../../util/typed-word.ts'
import type { SessionsInvocation } from '../../arguments/project-invocations.ts'

/** The filters of `troupe sessions list` as words to type, for a command that repeats them. */
export function filterFlags({ filter, ranges }: Pick<SessionsInvocation, 'filter' | 'ranges'>): readonly string[] {
  const { agent, status = [], labels = [], text, search } = filter
  const { since, until, minCost, maxCost } = ranges
  return [
    ...flag('--agent', agent),
    ...[status].flat().flatMap((each) => flag('--status', each)),
    ...labels.flatMap((label) => flag('--label', label)),
    ...flag('--title', text),
    ...flag('--search', search),
    ...flag('--since', since),
    ...flag('--until', until),
    ...flag('--min-cost', minCost),
    ...flag('--max-cost', maxCost),
  ]
}

/** A value that begins with a dash would be read as a flag. */
function flag(name: string, value: string | undefined): readonly string[] {
  if (value === undefined) return []
  return value.startsWith('-') ? [typedWord(`${name}=${value}`)] : [`${name} ${typedWord(value)}`]
}
