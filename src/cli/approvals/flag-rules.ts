import type { Problem } from '../../contracts/index.ts'
import { isRulePattern } from '../../util/rule-pattern.ts'

/** What is wrong with the patterns behind a flag. */
export function patternProblems(flag: '--allow' | '--deny', patterns: readonly string[]): readonly Problem[] {
  return patterns
    .filter((pattern) => !isRulePattern(pattern))
    .map((pattern) => ({
      place: `${flag} ${pattern}`,
      message: 'It is no pattern.',
      remedy: 'Name a tool, or a use of one in brackets: write_file, "shell(npm test)", "web_fetch(*.example.com)".',
    }))
}
