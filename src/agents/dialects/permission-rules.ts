import { foreignToolNames, ownToolsFor, writingTools } from '../../policy/foreign-tools.ts'
import { type TranslatedCommands, translateCommandRules } from './command-rules.ts'
import type { ForeignAgent } from './foreign-agent.ts'
import { translateTool } from './translate-tool.ts'

const strictness = ['allow', 'ask', 'deny'] as const
type Effect = (typeof strictness)[number]

/** One rule, in whichever of opencode's three ways it was written. Patterns have `*` and `?`. */
export interface PermissionRule {
  readonly action: string
  /** What the action is done to: a path, a command. `*` is everything. */
  readonly resource: string
  readonly effect: Effect
}

/** More is no configuration, and each is held against each action. */
export const maxRules = 200

export interface ToolPermissions extends Pick<ForeignAgent, 'tools' | 'deniedTools' | 'askTools' | 'exemptTools' | 'commandRules'> {
  /** Actions that nothing here is like. */
  readonly unknown: readonly string[]
  /** Actions whose rules differ by what they are done to, which cannot be told apart here. */
  readonly narrowed: readonly string[]
  /** What has become of rules about commands. */
  readonly notes: TranslatedCommands['notes']
}

/** `{ write: false }`, `{ edit: deny, bash: { 'git *': allow } }`, `allow`, or a list of rules; `undefined` where it is none of these. */
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
 * What the rules leave of the tools. The last rule for an action counts, as there. A rule about a part of what an action can be
 * done to never loosens here, and tightens for the whole: `src/*` denied is no writing at all. Commands alone are told apart.
 * Tools that no rule is about stay: a list of denials is no list of what is allowed.
 */
export function toolPermissions(rules: readonly PermissionRule[]): ToolPermissions {
  const effects = new Map(ownNames.map(([name, actions]) => [name, effectOn(rules, actions)]))
  // Every tool that edits can write a file: none is freer than `write` where a rule names that.
  if (isNamed(rules, 'write'))
    for (const name of writingTools) effects.set(name, stricter(effectOf(rules, 'write'), effects.get(name) ?? 'allow'))
  const commands = commandsIn(rules)
  // What is denied but for some commands is there for those.
  if (commands) effects.set('shell', commands.effect === 'deny' && commands.rules.length > 0 ? 'allow' : commands.effect)
  const unknown: string[] = []
  for (const action of new Set(rules.map((rule) => rule.action))) {
    if (action === '*' || ownToolsFor('opencode', action)) continue
    const translated = translateTool('opencode', action)
    // No server offers tools in this version.
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

/** Our names, each with all that opencode has called it. */
const ownNames: readonly (readonly [name: string, actions: readonly string[]])[] = [
  ...new Set(foreignToolNames('opencode').flatMap((action) => ownToolsFor('opencode', action) ?? [])),
].map((name) => [name, foreignToolNames('opencode').filter((action) => ownToolsFor('opencode', action)?.includes(name))])

const isShell = (action: string): boolean => ownToolsFor('opencode', action)?.includes('shell') ?? false

/** What is said of commands, under one name of the shell; where rules have two for it, the strictest of them holds for all. */
function commandsIn(rules: readonly PermissionRule[]): TranslatedCommands | undefined {
  const actions = foreignToolNames('opencode').filter(isShell)
  const [action = actions[0] ?? '', ...others] = actions.filter((name) => isNamed(rules, name))
  return others.length > 0 ? undefined : translateCommandRules(rules.filter((rule) => matches(rule.action, action)))
}

/** Of several names for one tool those count that a rule names, and the strictest of them. */
function effectOn(rules: readonly PermissionRule[], actions: readonly string[]): Effect {
  const named = actions.filter((action) => isNamed(rules, action))
  return (named.length > 0 ? named : actions).map((action) => effectOf(rules, action)).reduce(stricter)
}

const isNamed = (rules: readonly PermissionRule[], action: string): boolean =>
  rules.some((rule) => rule.action !== '*' && matches(rule.action, action))

/** The empty name stands for a tool that nobody has named. */
function effectOf(rules: readonly PermissionRule[], action: string): Effect {
  return rules.reduce<Effect>((current, { action: pattern, resource, effect }) => {
    if (action === '' ? pattern !== '*' : !matches(pattern, action)) return current
    return resource === '*' ? effect : stricter(current, effect)
  }, 'allow')
}

function matches(pattern: string, action: string): boolean {
  if (pattern === action) return true
  // `write` and `patch` are asked about as `edit` there.
  if (pattern === 'edit' && (ownToolsFor('opencode', 'edit') ?? []).some((name) => ownToolsFor('opencode', action)?.includes(name)))
    return true
  return globs(pattern, action)
}

/** Linear in both lengths, up to one step back per `*`: whoever writes the pattern cannot make it slow. */
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
