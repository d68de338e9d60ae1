import type { Problem } from '../../contracts/index.ts'
import { isRulePattern } from '../../policy/rule-pattern.ts'
import { rulePatternProblem } from '../../policy/tool-name-problems.ts'

export interface FlagRules {
  readonly allow: readonly string[]
  readonly deny: readonly string[]
  /** Names of the agents of the run, besides built-in tools. */
  readonly tools: readonly string[]
}

/** Problems of `--allow` and `--deny` patterns. A rule for an unknown tool would protect nothing. */
export const flagProblems = ({ allow, deny, tools }: FlagRules): readonly Problem[] => [
  ...allow.flatMap((pattern) => problemOf('--allow', pattern, tools)),
  ...deny.flatMap((pattern) => problemOf('--deny', pattern, tools)),
]

function problemOf(flag: string, pattern: string, tools: readonly string[]): readonly Problem[] {
  const place = `${flag} ${pattern}`
  if (!isRulePattern(pattern)) {
    const remedy =
      'Write a tool name, optionally with a call pattern in parentheses: write_file, "shell(npm test)", "web_fetch(*.example.com)".'
    return [{ place, message: 'Invalid pattern.', remedy }]
  }
  const fault = rulePatternProblem(pattern, { tools, sources: [] })
  return fault ? [{ place, message: `${fault.message[0]?.toUpperCase()}${fault.message.slice(1)}.`, remedy: fault.remedy }] : []
}
