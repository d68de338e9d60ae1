import type { ApprovalRule, RuleVerdict } from '../../contracts/index.ts'
import { showValue } from '../../util/show-value.ts'

/** What is said of the commands that fit a pattern; of all of them where that is a star. */
export interface CommandRule {
  readonly resource: string
  readonly effect: RuleVerdict
}

export interface TranslatedCommands {
  /** What holds for the shell where no rule is about the command. */
  readonly effect: RuleVerdict
  /** Of those that fit a command, the last counts. */
  readonly rules: readonly ApprovalRule[]
  /** What has become of the rules, for people. */
  readonly notes: readonly { readonly message: string; readonly remedy?: string }[]
}

const shell = 'shell'
/** A reason is read by models: what is longer is no help to them. */
const maxNamed = 20

/** A shell for some commands alone. */
export function allowOnlyCommands(uses: readonly string[]): readonly ApprovalRule[] {
  const named = [...uses.slice(0, maxNamed), ...(uses.length > maxNamed ? ['…'] : [])].join(', ')
  const reason = `The file of the agent lets it run these commands alone, plainly and in the workspace itself: ${named}.`
  return [{ deny: [shell], reason }, { allow: onShell(uses) }]
}

const onShell = (uses: readonly string[]): readonly string[] => uses.map((use) => `${shell}(${use})`)

/** What rules about commands come to, in their order: as they are written, or stricter. `undefined` where all commands are alike. */
export function translateCommandRules(rules: readonly CommandRule[]): TranslatedCommands | undefined {
  const last = rules.findLastIndex(({ resource }) => resource === '*')
  const base = rules[last]?.effect ?? 'allow'
  const overridden = rules.slice(0, Math.max(0, last)).filter(({ resource, effect }) => resource !== '*' && effect !== base)
  const begun: TranslatedCommands = { effect: base, rules: [], notes: overridden.map((rule) => overriddenNote(rule, base)) }
  const verdicts = rules.slice(last + 1).reduce(withRule, begun)
  const { effect, notes } = verdicts
  if (verdicts.rules.length === 0) return notes.length > 0 ? verdicts : undefined
  if (effect !== 'deny') return { ...verdicts, notes: [...notes, summary(effect)] }
  // Nothing is left of a shell that is denied with nothing but denials behind that.
  if (verdicts.rules.every(({ deny }) => deny !== undefined)) return { ...verdicts, rules: [] }
  return { effect, rules: [{ deny: [shell], reason: denied }, ...verdicts.rules], notes: [...notes, summary(effect)] }
}

const denied = 'The file of the agent denies it.'
const remedy = 'Write the words of one plain command, with stars behind the first: "git log *".'

/** One more rule as it is, or something stricter: what tightens and cannot be told from others holds for every command. */
function withRule({ effect, rules, notes }: TranslatedCommands, { resource, effect: said }: CommandRule): TranslatedCommands {
  const isBehindDenial = effect === 'deny' || rules.some(({ deny }) => deny !== undefined)
  const uses = commandUses(resource, said === 'allow' ? 'loosens' : said === 'ask' && isBehindDenial ? 'both' : 'tightens')
  if (uses) return { effect, rules: [...rules, ruleFor(said, onShell(uses))], notes }
  const what = `\`${said}\` for ${showValue(resource, 60)}`
  if (said === 'allow')
    return { effect, rules, notes: [...notes, { message: `${what} is left out: such a pattern cannot be told from others here`, remedy }] }
  const instead = isBehindDenial ? 'deny' : said
  const message = `${what} is \`${instead}\` for every command here: such a pattern cannot be told from others`
  return { effect: instead, rules: [], notes: [...notes, { message, remedy }] }
}

const ruleFor = (effect: RuleVerdict, patterns: readonly string[]): ApprovalRule =>
  effect === 'deny' ? { deny: patterns, reason: denied } : { [effect]: patterns }

type Note = TranslatedCommands['notes'][number]

const overriddenNote = ({ resource, effect }: CommandRule, by: RuleVerdict): Note => ({
  message: `\`${effect}\` for ${showValue(resource, 60)} is taken back by \`${by}\` for "*" behind it`,
  remedy: 'Of the rules that fit, the last counts: put "*" first.',
})

const summary = (effect: RuleVerdict): Note => ({
  message: `rules about commands hold for each command of a line; what is more than plain commands, such as \`$(…)\` or \`> file\`, is ${
    effect === 'deny' ? 'denied' : 'asked about'
  }, and what they allow is left to the session's approvals`,
})

/** As long as a command that anybody writes into a list. */
const maxLetters = 200
/** Words as they are told of a plain command here: quotes, variables, redirections and brackets are never part of them. */
const plainWords = /^[\w@%+:,./=^~*-]+(?: [\w@%+:,./=^~*-]+)*$/
/** With these before it, or a variable, a command is no plain one. */
const noName = /=|^~|^(?:if|then|else|elif|fi|do|done|case|esac|while|until|for|select|in|function|time|coproc)$/

/**
 * What becomes of a rule for some commands. One that loosens must fit nothing that it does not fit in the other program, one
 * that tightens everything that it fits there; one that may do either must fit exactly the same.
 */
export type Purpose = 'loosens' | 'tightens' | 'both'

/**
 * The uses of our shell that a pattern of commands stands for; `undefined` where that cannot be said here. Stars stand for
 * anything, and a last word that is one may be missing.
 */
export function commandUses(pattern: string, purpose: Purpose): readonly string[] | undefined {
  const words = pattern.trim().replaceAll(/ +/g, ' ')
  const [name = ''] = words.split(' ')
  // `a, b` is no command: two were meant.
  if (words.length > maxLetters || !plainWords.test(words) || noName.test(name) || words.includes(', ')) return undefined
  // A script, which is told in quotes, begins with anything.
  if (purpose !== 'tightens' && name.startsWith('*')) return undefined
  if (!words.endsWith(' *')) return [words]
  const isOnlyStar = words.indexOf('*') === words.length - 1
  // Some take the last word for optional where there are other stars, too, and some do not.
  if (!isOnlyStar && purpose === 'both') return undefined
  return isOnlyStar || purpose === 'tightens' ? [words.slice(0, -2), words] : [words]
}

/** What Claude's `Bash(git log:*)` lets run: its older way to write `git log *`. */
export function claudeUses(pattern: string): readonly string[] | undefined {
  const written = pattern.trim()
  if (!written.endsWith(':*')) return commandUses(written, 'loosens')
  const begin = written.slice(0, -2)
  // There its other stars are only themselves.
  return begin.includes('*') ? undefined : commandUses(`${begin} *`, 'loosens')
}
