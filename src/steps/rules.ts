import {
  type ApprovalKey,
  type ApprovalPolicy,
  type ApprovalRule,
  type Json,
  type JsonObject,
  type RuleVerdict,
  ruleVerdicts,
} from '../contracts/index.ts'
import { fitsGlob, type Glob, globOf } from '../util/glob.ts'

// What rules say about a call. Pure: the same rules and keys give the same ruling.

export interface Ruling {
  readonly verdict: RuleVerdict
  /** The rule that decided, as a person reads it. */
  readonly rule: string
  readonly reason?: string
  /** It is asked because a rule that denies may be about it, and nobody can tell: what was granted for the whole tool is no answer. */
  readonly isUnsure?: true
}

export interface Subject {
  /** Every name that the tool has: as models know it, and as it calls itself. */
  readonly names: readonly string[]
  readonly keys: readonly ApprovalKey[]
  /** What the call is made with; looked at where it has no keys. */
  readonly input?: JsonObject
}

/** What leaving the sandbox is called in rules. Whoever allows everything has not meant this: it has to be named to be allowed. */
export const leavingTheSandbox = 'unsandboxed'

/** The strictest of what each place says; nothing where no rule fits. */
export function ruling(policies: readonly ApprovalPolicy[], subject: Subject): Ruling | undefined {
  return policies.map((policy) => rulingOf(policy, subject)).reduce(stricter, undefined)
}

/** A call that does several things is allowed where each of them is, and refused where one of them is. */
function rulingOf(policy: ApprovalPolicy, { names, keys, input }: Subject): Ruling | undefined {
  const clauses = clausesOf(policy).filter((clause) => isAbout(clause, names))
  if (clauses.length === 0) return undefined
  const rulings = keys.length > 0 ? keys.map((key) => byKey(clauses, key)) : byInput(clauses, input)
  const strictest = rulings.reduce(stricter, undefined)
  return strictest?.verdict === 'allow' && rulings.includes(undefined) ? undefined : strictest
}

const useOf = ({ key, use }: ApprovalKey): string => use ?? key.slice(key.indexOf(':') + 1)

/** What stands for a whole script says nothing of the commands in it. */
const isOpaque = ({ key, use }: ApprovalKey): boolean => use === undefined && key.startsWith('script:')

/**
 * The last that fits. Other names of a key let rules ask and deny: what is allowed is allowed by its one canonical name,
 * such as an absolute path or a host with its port.
 */
function byKey(clauses: readonly Clause[], key: ApprovalKey): Ruling | undefined {
  const use = useOf(key)
  const aliases = key.aliases ?? []
  const fitsKey = ({ use: glob, ruling: { verdict } }: Clause): boolean =>
    glob === undefined || fitsGlob(glob, use) || (verdict !== 'allow' && aliases.some((alias) => fitsGlob(glob, alias)))
  const last = clauses.findLastIndex(fitsKey)
  const sure = clauses[last]?.ruling
  const unsure = isOpaque(key) ? clauses.slice(last + 1).findLast(({ ruling: { verdict } }) => verdict !== 'allow')?.ruling : undefined
  return unsure ? stricter(sure, { ...unsure, verdict: 'ask', ...(unsure.verdict === 'deny' && { isUnsure: true }) }) : sure
}

const byUse = (clauses: readonly Clause[], use: string): Ruling | undefined =>
  clauses.findLast((clause) => clause.use === undefined || fitsGlob(clause.use, use))?.ruling

/**
 * A tool that does not say what a call is for is judged by what it was given: enough to be careful, never enough to let
 * it through, because a path or a command can be written in many ways.
 */
function byInput(clauses: readonly Clause[], input: JsonObject | undefined): readonly (Ruling | undefined)[] {
  const general = clauses.filter(({ use }) => use === undefined)
  const careful = clauses.filter(({ use, ruling: { verdict } }) => use === undefined || verdict !== 'allow')
  const texts = input === undefined || careful.length === general.length ? [] : textsIn(input)
  return [general.at(-1)?.ruling, ...texts.map((text) => byUse(careful, text))]
}

/** Of two rulings; the first where they say the same. */
export function stricter(a: Ruling | undefined, b: Ruling | undefined): Ruling | undefined {
  if (!a || !b) return a ?? b
  const [one, other] = [rankOf(a), rankOf(b)]
  return other > one ? b : a
}

const rankOf = ({ verdict, isUnsure }: Ruling): number => 2 * ruleVerdicts.indexOf(verdict) + (isUnsure ? 1 : 0)

interface Clause {
  readonly tool: Glob
  /** Absent where the rule is about all uses of the tool. */
  readonly use: Glob | undefined
  readonly ruling: Ruling
}

const isAbout = ({ tool, ruling: { verdict } }: Clause, names: readonly string[]): boolean =>
  names.some((name) => (name === leavingTheSandbox && verdict === 'allow' ? tool.length === 1 && tool[0] === name : fitsGlob(tool, name)))

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
      tool: globOf(tool),
      use: use === undefined ? undefined : globOf(use),
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

/** Every text that an input holds, wherever it stands. */
function textsIn(value: Json | undefined): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
