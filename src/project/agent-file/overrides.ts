import { type Problem, TroupeError } from '../../contracts/index.ts'
import { plural } from '../../util/plural.ts'
import { didYouMean } from '../../yaml/messages.ts'
import { parseValue } from '../../yaml/yaml-nodes.ts'
import { type AgentOptionKey, agentOption, agentOptionKeys, agentOptions, keysInGroup } from '../options/agent-options.ts'
import type { AgentOverrides, ExternalValue } from '../options/option-values.ts'
import { findConflicts, resolveAliases } from '../options/setting-conflicts.ts'
import { readOption } from './file-settings.ts'

export interface OverrideArguments {
  /** `limits.maxToolTurns=5`; the last one for a key applies. */
  readonly settings: readonly string[]
  /** Replace the models of the file. */
  readonly models?: readonly string[]
  /** Flags of options, such as `--max-cost 0.50`; the last one with a name applies. */
  readonly flags?: readonly FlagArgument[]
}

interface FlagArgument {
  /** Without dashes. */
  readonly name: string
  readonly value: string
}

type Values = Map<AgentOptionKey, ExternalValue>

/** Reads the arguments of a command line that override an agent file. Throws `usage` with all problems. */
export function parseOverrides({ settings, models = [], flags = [] }: OverrideArguments): AgentOverrides {
  const values: Values = new Map()
  const problems = settings.flatMap((written) => readSetting(written, values))
  if (models.length > 0) {
    if (values.has('models'))
      problems.push({ place: '--override models', message: '--model sets the models too', remedy: 'Remove one of them.' })
    const wrong = modelProblem(models)
    if (wrong) problems.push({ place: '--model', ...wrong })
    else values.set('models', { value: models, place: '--model' })
  }
  problems.push(...readFlags(flags, values))
  for (const { key, ...conflict } of findConflicts(values)) problems.push({ place: `--override ${key}`, ...conflict })
  if (problems.length > 0) throw new TroupeError('usage', `The command line has ${plural(problems.length, 'problem')}.`, { problems })
  return resolveAliases(values)
}

function readSetting(written: string, values: Values): Problem[] {
  const split = written.indexOf('=')
  const key = (split === -1 ? written : written.slice(0, split)).trim()
  const place = `--override ${key}`
  const known = agentOption(key)
  if (!known) return [{ place, message: `unknown key \`${key}\``, remedy: keyRemedy(key) }]
  if (split === -1) return [{ place, message: 'the value is missing', remedy: `Write ${place}=${quoted(known.option.example)}.` }]
  return setValue(known.key, { text: written.slice(split + 1), place, flag: `${place}=` }, values)
}

function readFlags(flags: readonly FlagArgument[], values: Values): readonly Problem[] {
  const last = new Map(flags.map(({ name, value }) => [name, value]))
  return [...last].flatMap(([name, text]): readonly Problem[] => {
    const place = `--${name}`
    const key = agentOptionKeys.find((each) => agentOptions[each].flag?.name === name)
    if (key === undefined) throw new TroupeError('internal', `No option has the flag ${place}.`)
    if (values.has(key)) return [{ place, message: `--override sets \`${key}\` too`, remedy: 'Remove one of them.' }]
    return setValue(key, { text, place, flag: `${place}=` }, values)
  })
}

interface WrittenValue {
  readonly text: string
  readonly place: string
  /** What is written before the value. */
  readonly flag: string
}

function setValue(key: AgentOptionKey, { text, place, flag }: WrittenValue, values: Values): Problem[] {
  const { type, example } = agentOptions[key]
  const likeThis = `Write ${flag}${quoted(example)}.`
  // Text needs no quotes because of a colon.
  const parsed = parseValue(type.kind === 'text' ? JSON.stringify(text) : text)
  if (!parsed.ok) return [{ place, message: `the value is not valid YAML: ${parsed.message}`, remedy: likeThis }]
  const read = readOption(key, parsed.node)
  if (!read.ok) return read.problems.map(({ message, remedy = likeThis }) => ({ place, message, remedy }))
  values.set(key, { value: read.value, place })
  return []
}

/** Model names on the command line are not YAML. */
function modelProblem(models: readonly string[]): Omit<Problem, 'place'> | undefined {
  const wrong = models.find((name) => name.trim() === '' || /\s/.test(name.trim()))
  if (wrong !== undefined)
    return { message: `a model must be a name without spaces, not ${JSON.stringify(wrong)}`, remedy: 'Write it like provider/name.' }
  const twice = models.find((name, index) => models.indexOf(name) !== index)
  return twice === undefined ? undefined : { message: `the model \`${twice}\` is listed twice`, remedy: 'Remove one of them.' }
}

function keyRemedy(wanted: string): string {
  const keys = keysInGroup(wanted)
  if (keys.length > 0) return `Name one of its settings: ${keys.map((key) => `\`${wanted}.${key}\``).join(', ')}.`
  return didYouMean(wanted, agentOptionKeys) ?? 'List all settings: troupe help agent-file'
}

/** Quotes an example for a shell. */
const quoted = (example: string): string => (/^[\w./-]+$/.test(example) ? example : `'${example}'`)
