import { foreignToolNames, ownToolsFor, writingTools } from '../../policy/foreign-tools.ts'
import { type TranslatedCommands, translateCommandRules } from './command-rules.ts'
import type { ForeignAgent } from './foreign-agent.ts'
import { translateTool } from './translate-tool.ts'

const strictness = ['allow', 'ask', 'deny'] as const
type Effect = (typeof strictness)[number]

/** A rule in one of opencode's three notations. Patterns have `*` and `?`. */
export interface PermissionRule {
  readonly action: string
  /** A path or a command; `*` is everything. */
  readonly resource: string
  readonly effect: Effect
}

/** Every rule is compared with every action. */
export const maxRules = 200

interface ToolPermissions extends Pick<ForeignAgent, 'tools' | 'deniedTools' | 'askTools' | 'exemptTools' | 'commandRules'> {
  /** Actions without a tool here. */
  readonly unknown: readonly string[]
  /** Actions with rules by resource, which is not supported here. */
  readonly narrowed: readonly string[]
  /** About command rules. */
  readonly notes: TranslatedCommands['notes']
}

/** Reads `{ write: false }`, `{ edit: deny, bash: { 'git *': allow } }`, `allow`, or a list of rules; `undefined` for anything else. */
export function permissionRules(value: unknown): readonly PermissionRule[] | undefined {
  if (typeof value === 'string') return isEffect(value) ? [{ action: '*', resource: '*', effect: value }] : undefined
  if (typeof value !== 'object' || value === null) return undefined
  const rules = Array.isArray(value)
    ? value.map(listedRule)
    : Object.entries(value).flatMap(([action, written]) => mappedRules(action, written))
  return rules.length <= maxRules && rules.every((rule) => rule !== undefined) ? rules : undefined
}

function listedRule(value: unknown): PermissionRule | undefined {
  const { action, resource, effect } = (typeof value === 'object' && value !== null ? value : {}) as { readonly [key: string]: unknown }
  if (typeof action !== 'string' || typeof resource !== 'string' || !isEffect(effect)) return undefined
  return { action, resource, effect }
}

function mappedRules(action: string, written: unknown): readonly (PermissionRule | undefined)[] {
  if (typeof written === 'boolean') return [{ action, resource: '*', effect: written ? 'allow' : 'deny' }]
  if (isEffect(written)) return [{ action, resource: '*', effect: written }]
  if (typeof written !== 'object' || written === null || Array.isArray(written)) return [undefined]
  return Object.entries(written).map(([resource, effect]) => (isEffect(effect) ? { action, resource, effect } : undefined))
}

/**
 * Applies rules to tools. The last rule for an action applies, as in opencode. A rule for a part of the resources never
 * loosens, and tightens for all: `deny` for `src/*` denies all writing. Only commands are distinguished. Tools without a
 * rule stay.
 */
export function toolPermissions(rules: readonly PermissionRule[]): ToolPermissions {
  const effects = new Map(ownNames.map(([name, actions]) => [name, effectOn(rules, actions)]))
  // opencode has one permission for all that edits: no editing tool is freer than any of them.
  for (const action of editing.filter((each) => isNamed(rules, each)))
    for (const name of writingTools) effects.set(name, stricter(effectOf(rules, action), effects.get(name) ?? 'allow'))
  const commands = commandsIn(rules)
  // A shell that is denied except for some commands exists for those.
  if (commands) effects.set('shell', commands.effect === 'deny' && commands.rules.length > 0 ? 'allow' : commands.effect)
  const unknown: string[] = []
  for (const action of new Set(rules.map((rule) => rule.action))) {
    if (action === '*' || ownToolsFor('opencode', action)) continue
    const translated = translateTool('opencode', action)
    // Servers offer no tools yet.
    if (translated.kind === 'unknown' || translated.names.some((name) => name.includes('/'))) unknown.push(action)
    if (translated.kind !== 'unknown') for (const name of translated.names) effects.set(name, effectOf(rules, action))
  }
  const named = (...wanted: readonly Effect[]): readonly string[] =>
    [...effects].flatMap(([name, effect]) => (wanted.includes(effect) ? [name] : []))
  const rest = effectOf(rules, '')
  return {
    tools: rest === 'deny' ? { kind: 'only', names: named('allow', 'ask') } : { kind: 'all' },
    deniedTools: rest === 'deny' ? [] : named('deny'),
    askTools: rest === 'ask' ? ['*'] : named('ask'),
    ...(rest === 'ask' && named('allow').length > 0 && { exemptTools: named('allow') }),
    ...(commands && commands.rules.length > 0 && { commandRules: commands.rules }),
    unknown,
    narrowed: [...new Set(rules.filter(({ resource }) => resource !== '*').map(({ action }) => action))].filter(
      (action) => !commands || !isShell(action),
    ),
    notes: commands?.notes ?? [],
  }
}

/** Our names, each with its names in opencode. */
const ownNames: readonly (readonly [name: string, actions: readonly string[]])[] = [
  ...new Set(foreignToolNames('opencode').flatMap((action) => ownToolsFor('opencode', action) ?? [])),
].map((name) => [name, foreignToolNames('opencode').filter((action) => ownToolsFor('opencode', action)?.includes(name))])

const editing = ['write', 'patch', 'apply_patch']

const isShell = (action: string): boolean => ownToolsFor('opencode', action)?.includes('shell') ?? false

/** Rules for commands, under one name of the shell. With two names, the strictest rule applies to all. */
function commandsIn(rules: readonly PermissionRule[]): TranslatedCommands | undefined {
  const actions = foreignToolNames('opencode').filter(isShell)
  const [action = actions[0] ?? '', ...others] = actions.filter((name) => isNamed(rules, name))
  return others.length > 0 ? undefined : translateCommandRules(rules.filter((rule) => matches(rule.action, action)))
}

/** If a tool has several names, those with a rule apply, and the strictest of them. */
function effectOn(rules: readonly PermissionRule[], actions: readonly string[]): Effect {
  const named = actions.filter((action) => isNamed(rules, action))
  return (named.length > 0 ? named : actions).map((action) => effectOf(rules, action)).reduce(stricter)
}

const isNamed = (rules: readonly PermissionRule[], action: string): boolean =>
  rules.some((rule) => rule.action !== '*' && matches(rule.action, action))

/** The empty name is a tool without a name. */
function effectOf(rules: readonly PermissionRule[], action: string): Effect {
  return rules.reduce<Effect>((current, { action: pattern, resource, effect }) => {
    if (action === '' ? pattern !== '*' : !matches(pattern, action)) return current
    return resource === '*' ? effect : stricter(current, effect)
  }, 'allow')
}

function matches(pattern: string, action: string): boolean {
  if (pattern === action) return true
  // opencode treats `write` and `patch` as `edit`.
  if (pattern === 'edit' && (ownToolsFor('opencode', 'edit') ?? []).some((name) => ownToolsFor('opencode', action)?.includes(name)))
    return true
  return globs(pattern, action)
}

/** Backtracks only to the last `*`, so that no pattern is slow. */
function globs(pattern: string, text: string): boolean {
  let at = 0
  let mark = 0
  let star = -1
  let index = 0
  while (index < text.length) {
    const want = pattern[at]
    if (want === '*') {
      star = at++
      mark = index
    } else if (want === '?' || (want !== undefined && want === text[index])) {
      at++
      index++
    } else if (star !== -1) {
      at = star + 1
      index = ++mark
    } else return false
  }
  while (pattern[at] === '*') at++
  return at === pattern.length
}

const stricter = (one: Effect, other: Effect): Effect => (strictness.indexOf(one) >= strictness.indexOf(other) ? one : other)
const isEffect = (value: unknown): value is Effect => strictness.some((effect) => effect === value)
