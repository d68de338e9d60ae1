import type { Problem } from '../../contracts/index.ts'
import { isRulePattern } from '../../policy/rule-pattern.ts'
import { type KnownTools, rulePatternProblem } from '../../policy/tool-name-problems.ts'

interface FlagRules {
  readonly allow: readonly string[]
  readonly deny: readonly string[]
  /** Names besides those of built-in tools: agents of the run and REST tools. */
  readonly tools: readonly string[]
  /** Sources that can offer any tool. */
  readonly sources: readonly string[]
  /** Ids. */
  readonly extensions?: readonly string[]
}

/** Problems of `--allow` and `--deny` patterns. A rule for an unknown tool would protect nothing. */
export const flagProblems = ({ allow, deny, ...known }: FlagRules): readonly Problem[] => [
  ...allow.flatMap((pattern) => problemOf('--allow', pattern, known)),
  ...deny.flatMap((pattern) => problemOf('--deny', pattern, known)),
]

function problemOf(flag: string, pattern: string, known: KnownTools): readonly Problem[] {
  const place = `${flag} ${pattern}`
  if (!isRulePattern(pattern)) {
    const remedy =
      'Write a tool name, optionally with a call pattern in parentheses: write_file, "shell(npm test)", "web_fetch(*.example.com)".'
    return [{ place, message: 'Invalid pattern.', remedy }]
  }
  const fault = rulePatternProblem(pattern, known)
  return fault ? [{ place, message: `${fault.message[0]?.toUpperCase()}${fault.message.slice(1)}.`, remedy: fault.remedy }] : []
}
