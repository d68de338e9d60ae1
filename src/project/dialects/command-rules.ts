import type { ApprovalRule, RuleVerdict } from '../../contracts/index.ts'
import { showValue } from '../../util/show-value.ts'

/** A rule for commands; `*` is all commands. */
interface CommandRule {
  readonly resource: string
  readonly effect: RuleVerdict
}

export interface TranslatedCommands {
  /** For commands without a rule. */
  readonly effect: RuleVerdict
  /** The last matching rule applies. */
  readonly rules: readonly ApprovalRule[]
  /** For people. */
  readonly notes: readonly { readonly message: string; readonly remedy?: string }[]
}

const shell = 'shell'
/** Models read the reason. */
const maxNamed = 20

export function allowOnlyCommands(uses: readonly string[]): readonly ApprovalRule[] {
  const named = [...uses.slice(0, maxNamed), ...(uses.length > maxNamed ? ['…'] : [])].join(', ')
  const reason = `The agent file allows only these commands, as plain commands in the workspace: ${named}.`
  return [{ deny: [shell], reason }, { allow: onShell(uses) }]
}

const onShell = (uses: readonly string[]): readonly string[] => uses.map((use) => `${shell}(${use})`)

/** Translates command rules in their order, exactly or stricter. `undefined` if all commands are treated alike. */
export function translateCommandRules(rules: readonly CommandRule[]): TranslatedCommands | undefined {
  const last = rules.findLastIndex(({ resource }) => resource === '*')
  const base = rules[last]?.effect ?? 'allow'
  const overridden = rules.slice(0, Math.max(0, last)).filter(({ resource, effect }) => resource !== '*' && effect !== base)
  const begun: TranslatedCommands = { effect: base, rules: [], notes: overridden.map((rule) => overriddenNote(rule, base)) }
  const verdicts = rules.slice(last + 1).reduce(withRule, begun)
  const { effect, notes } = verdicts
  if (verdicts.rules.length === 0) return notes.length > 0 ? verdicts : undefined
  if (effect !== 'deny') return { ...verdicts, notes: [...notes, summary(effect)] }
  // With only denials, the shell is denied as a whole.
  if (verdicts.rules.every(({ deny }) => deny !== undefined)) return { ...verdicts, rules: [] }
  return { effect, rules: [{ deny: [shell], reason: denied }, ...verdicts.rules], notes: [...notes, summary(effect)] }
}

const denied = 'The agent file denies it.'
const remedy = 'Write one plain command, with `*` only after the first word: "git log *".'

/** Adds a rule, exactly or stricter: a restriction with an unsupported pattern applies to every command. */
function withRule({ effect, rules, notes }: TranslatedCommands, { resource, effect: wanted }: CommandRule): TranslatedCommands {
  const isBehindDenial = effect === 'deny' || rules.some(({ deny }) => deny !== undefined)
  const uses = commandUses(resource, wanted === 'allow' ? 'loosens' : wanted === 'ask' && isBehindDenial ? 'both' : 'tightens')
  if (uses) return { effect, rules: [...rules, ruleFor(wanted, onShell(uses))], notes }
  const what = `\`${wanted}\` for ${showValue(resource, 60)}`
  if (wanted === 'allow')
    return { effect, rules, notes: [...notes, { message: `${what} is left out: such a pattern is not supported here`, remedy }] }
  const instead = isBehindDenial ? 'deny' : wanted
  const message = `${what} is \`${instead}\` for every command here: such a pattern is not supported`
  return { effect: instead, rules: [], notes: [...notes, { message, remedy }] }
}

const ruleFor = (effect: RuleVerdict, patterns: readonly string[]): ApprovalRule =>
  effect === 'deny' ? { deny: patterns, reason: denied } : { [effect]: patterns }

type Note = TranslatedCommands['notes'][number]

const overriddenNote = ({ resource, effect }: CommandRule, by: RuleVerdict): Note => ({
  message: `\`${effect}\` for ${showValue(resource, 60)} is taken back by \`${by}\` for "*" behind it`,
  remedy: 'The last matching rule applies: put "*" first.',
})

const summary = (effect: RuleVerdict): Note => ({
  message: `rules about commands hold for each command of a line; what is more than plain commands, such as \`$(…)\` or \`> file\`, is ${
    effect === 'deny' ? 'denied' : 'asked about'
  }, and what they allow is left to the session's approvals`,
})

const maxLetters = 200
/** Words of a plain command: no quotes, variables, redirections or brackets. */
const plainWords = /^[\w@%+:,./=^~*-]+(?: [\w@%+:,./=^~*-]+)*$/
/** A command that begins with these is not plain. */
const noName = /=|^~|^(?:if|then|else|elif|fi|do|done|case|esac|while|until|for|select|in|function|time|coproc)$/

/** A rule that loosens must not match more than in the other program, a rule that tightens not less; `both` must match exactly. */
type Purpose = 'loosens' | 'tightens' | 'both'

/** The patterns of our shell, or `undefined` if not supported. `*` matches anything; as the last word it is optional. */
export function commandUses(pattern: string, purpose: Purpose): readonly string[] | undefined {
  const words = pattern.trim().replaceAll(/ +/g, ' ')
  const [name = ''] = words.split(' ')
  // `a, b` are two commands.
  if (words.length > maxLetters || !plainWords.test(words) || noName.test(name) || words.includes(', ')) return undefined
  // A quoted script can begin with anything.
  if (purpose !== 'tightens' && name.startsWith('*')) return undefined
  if (!words.endsWith(' *')) return [words]
  const isOnlyStar = words.indexOf('*') === words.length - 1
  // With other stars, programs differ on whether the last word is optional.
  if (!isOnlyStar && purpose === 'both') return undefined
  return isOnlyStar || purpose === 'tightens' ? [words.slice(0, -2), words] : [words]
}

/** Claude's `Bash(git log:*)` is an older form of `git log *`. */
export function claudeUses(pattern: string): readonly string[] | undefined {
  const written = pattern.trim()
  if (!written.endsWith(':*')) return commandUses(written, 'loosens')
  const begin = written.slice(0, -2)
  // Other stars are literal in this form.
  return begin.includes('*') ? undefined : commandUses(`${begin} *`, 'loosens')
}
