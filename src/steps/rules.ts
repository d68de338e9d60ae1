import { type ApprovalKey, type ApprovalPolicy, type ApprovalRule, type RuleVerdict, ruleVerdicts } from '../contracts/index.ts'

// What rules say about a call. Pure: the same rules and keys give the same ruling.

export interface Ruling {
  readonly verdict: RuleVerdict
  /** The rule that decided, as a person reads it. */
  readonly rule: string
  readonly reason?: string
}

interface Subject {
  readonly tool: string
  readonly keys: readonly ApprovalKey[]
}

/** The strictest of what each place says; nothing where no rule fits. */
export function ruling(policies: readonly ApprovalPolicy[], subject: Subject): Ruling | undefined {
  return policies.map((policy) => rulingOf(policy, subject)).reduce(stricter, undefined)
}

/** A call that does several things is allowed where each of them is, and refused where one of them is. */
function rulingOf(policy: ApprovalPolicy, { tool, keys }: Subject): Ruling | undefined {
  const clauses = clausesOf(policy).filter((clause) => clause.tool.test(tool))
  if (clauses.length === 0) return undefined
  const subjects = keys.length > 0 ? keys.map(({ key }) => key.slice(key.indexOf(':') + 1)) : [undefined]
  const rulings = subjects.map((subject) => clauses.findLast((clause) => fits(clause, subject))?.ruling)
  const strictest = rulings.reduce(stricter, undefined)
  return strictest?.verdict === 'allow' && rulings.includes(undefined) ? undefined : strictest
}

function stricter(a: Ruling | undefined, b: Ruling | undefined): Ruling | undefined {
  if (!a || !b) return a ?? b
  return ruleVerdicts.indexOf(b.verdict) > ruleVerdicts.indexOf(a.verdict) ? b : a
}

interface Clause {
  readonly tool: RegExp
  /** Absent where the rule is about all uses of the tool. */
  readonly use: RegExp | undefined
  readonly ruling: Ruling
}

const fits = ({ use }: Clause, subject: string | undefined): boolean => use === undefined || (subject !== undefined && use.test(subject))

const known = new WeakMap<ApprovalPolicy, readonly Clause[]>()

function clausesOf(policy: ApprovalPolicy): readonly Clause[] {
  const before = known.get(policy)
  if (before) return before
  const clauses = policy.rules.flatMap((rule) => ruleVerdicts.flatMap((verdict) => clausesFor(policy, rule, verdict)))
  known.set(policy, clauses)
  return clauses
}

function clausesFor({ name }: ApprovalPolicy, rule: ApprovalRule, verdict: RuleVerdict): readonly Clause[] {
  const patterns = rule[verdict] ?? []
  return (typeof patterns === 'string' ? [patterns] : patterns).map((pattern) => {
    const { tool, use } = partsOfPattern(pattern)
    const said = `${verdict} ${pattern}`
    const decided = { verdict, rule: name === undefined ? said : `${said} (${name})` }
    return {
      tool: glob(tool),
      use: use === undefined ? undefined : glob(use),
      ruling: rule.reason === undefined ? decided : { ...decided, reason: rule.reason },
    }
  })
}

/** `shell(git *)`: the tool, and what it is used for. */
export function partsOfPattern(pattern: string): { readonly tool: string; readonly use?: string } {
  const open = pattern.indexOf('(')
  if (open < 0 || !pattern.endsWith(')')) return { tool: pattern }
  return { tool: pattern.slice(0, open), use: pattern.slice(open + 1, -1) }
}

/** Runs of stars are one: a pattern of many would take for ever on a text that almost fits. */
function glob(pattern: string): RegExp {
  const parts = pattern.split(/\*+/).map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'))
  return new RegExp(`^${parts.join('[^]*')}$`)
}
