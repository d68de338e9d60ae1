import { isVainLeaving, leavingForms, ruledToolNames } from '../../agents/index.ts'
import type { Problem } from '../../contracts/index.ts'
import { nearestNames } from '../../util/nearest-names.ts'
import { isRulePattern, partsOfPattern } from '../../util/rule-pattern.ts'

export interface FlagRules {
  readonly allow: readonly string[]
  readonly deny: readonly string[]
  /** What there is besides the tools that everybody knows: agents of the run. */
  readonly tools: readonly string[]
}

/** What is wrong with the patterns behind `--allow` and `--deny`. A rule about a tool that there is not would protect nothing. */
export const flagProblems = ({ allow, deny, tools }: FlagRules): readonly Problem[] => [
  ...allow.flatMap((pattern) => problemOf('--allow', pattern, tools)),
  ...deny.flatMap((pattern) => problemOf('--deny', pattern, tools)),
]

function problemOf(flag: string, pattern: string, tools: readonly string[]): readonly Problem[] {
  const place = `${flag} ${pattern}`
  if (!isRulePattern(pattern)) {
    const remedy = 'Name a tool, or a use of one in brackets: write_file, "shell(npm test)", "web_fetch(*.example.com)".'
    return [{ place, message: 'It is no pattern.', remedy }]
  }
  if (isVainLeaving(pattern)) return [{ place, message: 'It fits nothing: leaving the sandbox is named otherwise.', remedy: leavingForms }]
  const { tool } = partsOfPattern(pattern)
  const known = [...ruledToolNames, ...tools]
  // Patterns, and tools of servers, may be about what comes later.
  if (/[*./]/.test(tool) || known.includes(tool)) return []
  const near = nearestNames(tool, known)
  const remedy = near.length > 0 ? `Did you mean ${near.join(', ')}?` : `There are ${known.join(', ')}.`
  return [{ place, message: `No tool is called \`${tool}\`.`, remedy }]
}
