import { type ApprovalRule, ruleVerdicts } from '../contracts/index.ts'
import { partsOfPattern } from '../policy/rule-pattern.ts'
import { fitsGlob, globOf } from '../util/glob.ts'

/** A rule that has no effect. */
export interface IdleRule {
  readonly index: number
  readonly message: string
  readonly remedy: string
}

/** Each is held against each: a hostile list would take its time. */
const mostCompared = 1_000

/**
 * Rules that ask or deny and never count, because a milder one behind them is about all that they are about: whoever wrote
 * `deny: shell(rm *)` before `allow: shell` has most likely meant the other order.
 */
export function overruledRules(rules: readonly ApprovalRule[]): readonly IdleRule[] {
  const clauses = rules.flatMap((rule, index) =>
    ruleVerdicts.flatMap((verdict, rank) => [rule[verdict] ?? []].flat().map((pattern) => ({ index, verdict, rank, pattern }))),
  )
  if (clauses.length > mostCompared) return []
  return clauses.flatMap(({ index, verdict, rank, pattern }) => {
    const later = clauses.find((other) => other.index > index && other.rank < rank && covers(other.pattern, pattern))
    if (!later) return []
    const message = `\`${verdict}: ${pattern}\` is taken back by \`${later.verdict}: ${later.pattern}\` behind it`
    return [{ index, message, remedy: 'Of the rules that fit, the last counts: put exceptions last.' }]
  })
}

/** Whether one pattern fits all that another fits. */
function covers(wide: string, narrow: string): boolean {
  const [outer, inner] = [partsOfPattern(wide), partsOfPattern(narrow)]
  if (!fitsGlob(globOf(outer.tool), inner.tool)) return false
  return outer.use === undefined || (inner.use !== undefined && fitsGlob(globOf(outer.use), inner.use))
}

/** Whether there may be a call that both are about, by their tools alone. */
export function mayMeet(one: string, other: string): boolean {
  const [a, b] = [partsOfPattern(one).tool, partsOfPattern(other).tool]
  return (a.includes('*') && b.includes('*')) || fitsGlob(globOf(a), b) || fitsGlob(globOf(b), a)
}
