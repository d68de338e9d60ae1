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
import { offeredPattern } from '../../policy/tool-name-patterns.ts'
import { unsandboxedName } from '../../policy/unsandboxed-rules.ts'
import { canMatchPrefix, type Glob, matchesGlob, parseGlob } from '../../util/glob.ts'

// What rules decide about a call. Pure: the same rules and keys give the same ruling.

export interface Ruling {
  readonly verdict: RuleVerdict
  /** The rule that decided, as a person reads it. */
  readonly rule: string
  readonly reason?: string
  /** A rule that denies may apply, so a person must decide: a grant for the whole tool is not enough. */
  readonly isUnsure?: true
}

export interface Subject {
  /** All names of the tool: the one that models know, and its own. */
  readonly names: readonly string[]
  readonly keys: readonly ApprovalKey[]
  /** The arguments. Checked if there are no keys. */
  readonly input?: JsonObject
  /** The tool has keys for its calls, but not for this one. */
  readonly isUnread?: boolean
}

/** The strictest ruling of all policies, also for other tools that would do the same. `undefined` if no rule matches. */
export function ruling(policies: readonly ApprovalPolicy[], subject: Subject): Ruling | undefined {
  const strictest = (about: Subject): Ruling | undefined => policies.map((policy) => rulingOf(policy, about)).reduce(stricter, undefined)
  const others = new Set(subject.keys.flatMap(({ tools = [] }) => tools))
  return [...others]
    .map((name) => strictest({ names: [name], keys: subject.keys.filter(({ tools }) => tools?.includes(name)) }))
    .filter((ruled) => ruled?.verdict !== 'allow')
    .reduce(stricter, strictest(subject))
}

/** Whether rules that ask or deny are about some calls of a tool. */
export const hasRulesAbout = (policies: readonly ApprovalPolicy[], names: readonly string[]): boolean =>
  policies.some((policy) => clausesOf(policy).some((clause) => clause.ruling.verdict !== 'allow' && isAbout(clause, names)))

/** A call with several keys is allowed if each key is, and denied if one is. */
function rulingOf(policy: ApprovalPolicy, { names, keys, input, isUnread = false }: Subject): Ruling | undefined {
  const clauses = clausesOf(policy).filter((clause) => isAbout(clause, names))
  if (clauses.length === 0) return undefined
  const rulings =
    keys.length > 0 ? keys.map((key) => byKey(clauses, key)) : [...byInput(clauses, input), ...(isUnread ? mayApply(clauses) : [])]
  const strictest = rulings.reduce(stricter, undefined)
  return strictest?.verdict === 'allow' && rulings.includes(undefined) ? undefined : strictest
}

function usesOf({ key, use = key.slice(key.indexOf(':') + 1) }: ApprovalKey): readonly string[] {
  return typeof use === 'string' ? [use] : use
}

/** The last match. A later match of an alias can only be stricter; one that covers a part of the key means at least `ask`. */
function byKey(clauses: readonly Clause[], key: ApprovalKey): Ruling | undefined {
  const last = clauses.findLastIndex((clause) => fitsUse(clause, key))
  return clauses
    .slice(last + 1)
    .flatMap((clause) => (fitsAlias(clause, key) ? [clause.ruling] : mayBeAboutPart(clause, key) ? [asAsk(clause.ruling)] : []))
    .reduceRight(stricter, clauses[last]?.ruling)
}

/** Rules for some uses, after the last one for all uses, when the use is unknown. */
const mayApply = (clauses: readonly Clause[]): readonly Ruling[] =>
  clauses
    .slice(clauses.findLastIndex(({ use }) => use === undefined) + 1)
    .flatMap(({ ruling: said }) => (said.verdict === 'allow' ? [] : [asAsk(said)]))

const asAsk = (said: Ruling): Ruling => ({ ...said, verdict: 'ask', ...(said.verdict === 'deny' && { isUnsure: true }) })

/** A key for a whole script does not name the commands in it, or only how they begin. */
function mayBeAboutPart(clause: Clause, key: ApprovalKey): boolean {
  const { verdict } = clause.ruling
  if (!key.isOpaque) return verdict === 'ask' && mayFitPart(clause, key)
  return verdict !== 'allow' && (key.within === undefined || mayFitPart(clause, key))
}

/** Rules allow only by `use`, which is unambiguous, such as an absolute path; and some keys only by an explicit name. */
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
  // `''` is the prefix of relative names: none begins with a slash.
  const mayFit = (start: string): boolean => canMatchPrefix(glob, start) && !(start === '' && glob[0]?.startsWith('/'))
  return (key.within ?? []).some(mayFit)
}

const byUse = (clauses: readonly Clause[], use: string): Ruling | undefined =>
  clauses.findLast((clause) => clause.use === undefined || matchesGlob(clause.use, use))?.ruling

/** Without keys, rules are matched against the arguments. They can ask or deny, but not allow: a path has many spellings. */
function byInput(clauses: readonly Clause[], input: JsonObject | undefined): readonly (Ruling | undefined)[] {
  const general = clauses.filter(({ use }) => use === undefined)
  const careful = clauses.filter(({ use, ruling: { verdict } }) => use === undefined || verdict !== 'allow')
  const texts = input === undefined || careful.length === general.length ? [] : textsIn(input)
  return [general.at(-1)?.ruling, ...texts.map((text) => byUse(careful, text))]
}

/** The first one if both are equally strict. */
export function stricter(a: Ruling | undefined, b: Ruling | undefined): Ruling | undefined {
  if (!a || !b) return a ?? b
  const [one, other] = [rankOf(a), rankOf(b)]
  return other > one ? b : a
}

const rankOf = ({ verdict, isUnsure }: Ruling): number => 2 * ruleVerdicts.indexOf(verdict) + (isUnsure ? 1 : 0)

interface Clause {
  /** As written, and as models know it: `server/*` and `server__*`. */
  readonly tools: readonly Glob[]
  /** Absent if the rule covers all uses of the tool. */
  readonly use: Glob | undefined
  readonly ruling: Ruling
}

const isAbout = ({ tools, ruling: { verdict } }: Clause, names: readonly string[]): boolean =>
  names.some((name) =>
    tools.some((tool) =>
      name === unsandboxedName && verdict === 'allow' ? tool.length === 1 && tool[0] === name : matchesGlob(tool, name),
    ),
  )

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
      tools: [...new Set([tool, offeredPattern(tool)])].map(parseGlob),
      use: each === undefined ? undefined : parseGlob(each),
      ruling: rule.reason === undefined ? decided : { ...decided, reason: rule.reason },
    }))
  })
}

/** Claude Code writes `git push:*` for `git push` with any arguments. Rules that ask or deny accept that form, too. */
function expandUse(tool: string, use: string): readonly string[] {
  const command = tool === 'shell' && use.endsWith(':*') ? use.slice(0, -2) : undefined
  return command === undefined ? [use] : [use, command, `${command} *`]
}

function textsIn(value: Json | undefined): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
