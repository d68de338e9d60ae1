import {
  type ApprovalKey,
  type ApprovalPolicy,
  type ApprovalRule,
  type Json,
  type JsonObject,
  type RuleVerdict,
  ruleVerdicts,
} from '../../contracts/index.ts'
import { parseRulePattern } from '../../policy/rule-pattern.ts'
import { unsandboxedName } from '../../policy/unsandboxed-rules.ts'
import { canMatchPrefix, type Glob, matchesGlob, parseGlob } from '../../util/glob.ts'

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

/** The strictest of what each place says, also of other tools that would do the same; nothing where no rule fits. */
export function ruling(policies: readonly ApprovalPolicy[], subject: Subject): Ruling | undefined {
  const strictest = (about: Subject): Ruling | undefined => policies.map((policy) => rulingOf(policy, about)).reduce(stricter, undefined)
  const others = new Set(subject.keys.flatMap(({ tools = [] }) => tools))
  return [...others]
    .map((name) => strictest({ names: [name], keys: subject.keys.filter(({ tools }) => tools?.includes(name)) }))
    .filter((ruled) => ruled?.verdict !== 'allow')
    .reduce(stricter, strictest(subject))
}

/** A call that does several things is allowed where each of them is, and refused where one of them is. */
function rulingOf(policy: ApprovalPolicy, { names, keys, input }: Subject): Ruling | undefined {
  const clauses = clausesOf(policy).filter((clause) => isAbout(clause, names))
  if (clauses.length === 0) return undefined
  const rulings = keys.length > 0 ? keys.map((key) => byKey(clauses, key)) : byInput(clauses, input)
  const strictest = rulings.reduce(stricter, undefined)
  return strictest?.verdict === 'allow' && rulings.includes(undefined) ? undefined : strictest
}

function usesOf({ key, use = key.slice(key.indexOf(':') + 1) }: ApprovalKey): readonly string[] {
  return typeof use === 'string' ? [use] : use
}

/**
 * The last that fits; one that fits by another name takes nothing back. Where a later one may be about a part of what the
 * key stands for, it is asked at least. Whoever can name its parts leaves out what is denied among them.
 */
function byKey(clauses: readonly Clause[], key: ApprovalKey): Ruling | undefined {
  const last = clauses.findLastIndex((clause) => fitsUse(clause, key))
  return clauses
    .slice(last + 1)
    .flatMap((clause) => (fitsAlias(clause, key) ? [clause.ruling] : mayBeAboutPart(clause, key) ? [asAsk(clause.ruling)] : []))
    .reduceRight(stricter, clauses[last]?.ruling)
}

const asAsk = (said: Ruling): Ruling => ({ ...said, verdict: 'ask', ...(said.verdict === 'deny' && { isUnsure: true }) })

/** What stands for a whole script says nothing of the commands in it, or only how they begin. */
function mayBeAboutPart(clause: Clause, key: ApprovalKey): boolean {
  const { verdict } = clause.ruling
  if (!key.isOpaque) return verdict === 'ask' && mayFitPart(clause, key)
  return verdict !== 'allow' && (key.within === undefined || mayFitPart(clause, key))
}

/**
 * Other names of a key let rules ask and deny: what is allowed is allowed by a name that nothing else has, such as an
 * absolute path or a host with its port, and some of it only in so many words.
 */
function fitsUse({ use: glob, ruling: { verdict } }: Clause, key: ApprovalKey): boolean {
  const uses = usesOf(key)
  if (verdict === 'allow' && key.mustBeNamed) return glob !== undefined && uses.some((use) => isNamedBy(glob, use))
  return glob === undefined || uses.some((use) => matchesGlob(glob, use))
}

const fitsAlias = ({ use: glob, ruling: { verdict } }: Clause, { aliases = [] }: ApprovalKey): boolean =>
  verdict !== 'allow' && glob !== undefined && aliases.some((name) => matchesGlob(glob, name))

const isNamedBy = (glob: Glob, use: string): boolean => (glob[0] ?? '').startsWith(use.split(' ', 1)[0] ?? use) && matchesGlob(glob, use)

function mayFitPart({ use: glob }: Clause, key: ApprovalKey): boolean {
  if (glob === undefined) return true
  // Names from the root of a folder have no beginning in common, save that none begins with a slash.
  const mayFit = (start: string): boolean => canMatchPrefix(glob, start) && !(start === '' && glob[0]?.startsWith('/'))
  return (key.within ?? []).some(mayFit)
}

const byUse = (clauses: readonly Clause[], use: string): Ruling | undefined =>
  clauses.findLast((clause) => clause.use === undefined || matchesGlob(clause.use, use))?.ruling

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
  names.some((name) => (name === unsandboxedName && verdict === 'allow' ? tool.length === 1 && tool[0] === name : matchesGlob(tool, name)))

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
  return (typeof patterns === 'string' ? [patterns] : patterns).flatMap((pattern) => {
    const said = `${verdict} ${pattern}`
    const decided = { verdict, rule: name === undefined ? said : `${said} (${name})` }
    const { tool, use } = parseRulePattern(pattern)
    const uses = verdict === 'allow' || use === undefined ? [use] : expandUse(tool, use)
    return uses.map((each) => ({
      tool: parseGlob(tool),
      use: each === undefined ? undefined : parseGlob(each),
      ruling: rule.reason === undefined ? decided : { ...decided, reason: rule.reason },
    }))
  })
}

/** Claude Code writes `git push:*` for `git push` with any words behind it: a rule that asks or denies means that, too. */
function expandUse(tool: string, use: string): readonly string[] {
  const command = tool === 'shell' && use.endsWith(':*') ? use.slice(0, -2) : undefined
  return command === undefined ? [use] : [use, command, `${command} *`]
}

/** Every text that an input holds, wherever it stands. */
function textsIn(value: Json | undefined): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
