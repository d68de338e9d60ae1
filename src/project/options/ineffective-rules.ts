import { type ApprovalRule, ruleVerdicts } from '../../contracts/index.ts'
import { parseRulePattern } from '../../policy/rule-pattern.ts'
import { matchesGlob, parseGlob } from '../../util/glob.ts'

interface OverriddenRule {
  readonly index: number
  readonly message: string
  readonly remedy: string
}

/** Every rule is compared with every other. */
const maxCompared = 1_000

/** Rules that ask or deny without effect, because a later, milder rule covers them: `deny: shell(rm *)` before `allow: shell`. */
export function overriddenRules(rules: readonly ApprovalRule[]): readonly OverriddenRule[] {
  const clauses = rules.flatMap((rule, index) =>
    ruleVerdicts.flatMap((verdict, rank) => [rule[verdict] ?? []].flat().map((pattern) => ({ index, verdict, rank, pattern }))),
  )
  if (clauses.length > maxCompared) return []
  return clauses.flatMap(({ index, verdict, rank, pattern }) => {
    const later = clauses.find((other) => other.index > index && other.rank < rank && covers(other.pattern, pattern))
    if (!later) return []
    const message = `\`${verdict}: ${pattern}\` is taken back by \`${later.verdict}: ${later.pattern}\` behind it`
    return [{ index, message, remedy: 'The last matching rule applies: put exceptions last.' }]
  })
}

/** Whether one pattern matches everything that another matches. */
function covers(wide: string, narrow: string): boolean {
  const [outer, inner] = [parseRulePattern(wide), parseRulePattern(narrow)]
  if (!matchesGlob(parseGlob(outer.tool), inner.tool)) return false
  return outer.use === undefined || (inner.use !== undefined && matchesGlob(parseGlob(outer.use), inner.use))
}

/** Whether a call may match both patterns, by their tools. */
export function mayOverlap(one: string, other: string): boolean {
  const [a, b] = [parseRulePattern(one).tool, parseRulePattern(other).tool]
  return (a.includes('*') && b.includes('*')) || matchesGlob(parseGlob(a), b) || matchesGlob(parseGlob(b), a)
}
