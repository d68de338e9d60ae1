import { isMap, isScalar, isSeq, type Node, parseDocument } from 'yaml'
import { type Problem, TroupeError } from '../../contracts/index.ts'
import { didYouMean } from '../values/messages.ts'
import { readSchema } from '../values/read-schema.ts'
import { readValue } from '../values/read-value.ts'
import { type AgentOptionKey, agentOption, agentOptionKeys, keysInGroup } from './agent-options.ts'
import type { ExternalValues } from './option-values.ts'
import { findConflicts, resolveAliases } from './setting-conflicts.ts'

/** Values that go before those of a file, each with the flag that it stands behind. */
export type AgentOverrides = ExternalValues

export interface OverrideArguments {
  /** Each `limits.maxToolTurns=5`; of two for the same key the last counts. */
  readonly settings: readonly string[]
  /** Instead of the file's models, in the order of trying. */
  readonly models?: readonly string[]
  /** Flags of their own, such as `--max-cost 0.50`; of two with the same name the last counts. */
  readonly flags?: readonly FlagArgument[]
}

/** `name` without its dashes. */
export interface FlagArgument {
  readonly name: string
  readonly value: string
}

type Values = Map<AgentOptionKey, { readonly value: unknown; readonly place: string }>

/** Reads what a command line says over an agent file. Throws `usage` with everything that is wrong. */
export function parseOverrides({ settings, models = [], flags = [] }: OverrideArguments): AgentOverrides {
  const problems: Problem[] = []
  const values: Values = new Map()
  for (const written of settings) {
    const split = written.indexOf('=')
    const wanted = (split === -1 ? written : written.slice(0, split)).trim()
    const place = `--override ${wanted}`
    const known = agentOption(wanted)
    if (!known) problems.push({ place, message: `there is no setting \`${wanted}\``, remedy: keyRemedy(wanted) })
    else if (split === -1)
      problems.push({ place, message: 'a value is missing', remedy: `Write --override ${wanted}=${quoted(known.option.example)}.` })
    else {
      const read = readWritten(known.key, written.slice(split + 1), `--override ${known.key}`)
      if (read.ok) values.set(known.key, { value: read.value, place })
      else problems.push(...read.problems.map((problem) => ({ place, ...problem })))
    }
  }
  if (models.length > 0) {
    if (values.has('models'))
      problems.push({ place: '--override models', message: 'the models are given by --model too', remedy: 'Remove one of them.' })
    const read = readModels(models)
    if (read.ok) values.set('models', { value: read.value, place: '--model' })
    else problems.push(...read.problems.map((problem) => ({ place: '--model', ...problem })))
  }
  problems.push(...takeFlags(flags, values))
  for (const { key, ...fault } of findConflicts(values)) problems.push({ place: `--override ${key}`, ...fault })
  if (problems.length > 0) {
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
    throw new TroupeError('usage', `The command line has ${count}.`, { problems })
  }
  return resolveAliases(values)
}

/** Puts the values of flags among the others, and tells those that are wrong or said twice. */
function takeFlags(flags: readonly FlagArgument[], values: Values): readonly Problem[] {
  const last = new Map(flags.map(({ name, value }) => [name, value]))
  return [...last].flatMap(([name, written]): readonly Problem[] => {
    const place = `--${name}`
    const key = agentOptionKeys.find((each) => agentOption(each)?.option.flag?.name === name)
    if (key === undefined) throw new TroupeError('internal', `No option has the flag ${place}.`)
    if (values.has(key))
      return [{ place, message: `\`${key}\` is given by --override too`, remedy: 'Leave one of them out: they set the same.' }]
    const read = readWritten(key, written, place)
    if (!read.ok) return read.problems.map((problem) => ({ place, ...problem }))
    values.set(key, { value: read.value, place })
    return []
  })
}

type ReadWritten =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly Omit<Problem, 'place'>[] }

function readWritten(key: AgentOptionKey, text: string, written: string): ReadWritten {
  const option = agentOption(key)?.option
  if (!option) return { ok: false, problems: [] }
  // A description need not be quoted for the sake of a colon.
  const node = option.type.kind === 'text' ? parse(JSON.stringify(text)) : parse(text)
  const likeThis = `Write ${written}=${quoted(option.example)}.`
  if (typeof node === 'string') return { ok: false, problems: [{ message: `the value is not valid YAML: ${node}`, remedy: likeThis }] }
  const read = readValue(key, option, node)
  const whole = read.ok && option.type.kind === 'schema' && node ? readSchema(node, key === 'input.schema' ? 'object' : 'any') : read
  if (!whole.ok) return { ok: false, problems: whole.faults.map(({ message, remedy = likeThis }) => ({ message, remedy })) }
  return { ok: true, value: 'schema' in whole ? whole.schema : whole.value }
}

/** Names on the command line are what they are: nothing in them is YAML. */
function readModels(models: readonly string[]): ReadWritten {
  const wrong = models.find((name) => name.trim() === '' || /\s/.test(name.trim()))
  if (wrong !== undefined)
    return {
      ok: false,
      problems: [
        { message: `a model must be a name without spaces, not ${JSON.stringify(wrong)}`, remedy: 'Give one like provider/name.' },
      ],
    }
  const twice = models.find((name, index) => models.indexOf(name) !== index)
  if (twice !== undefined)
    return { ok: false, problems: [{ message: `the model \`${twice}\` is named twice`, remedy: 'Remove one of them.' }] }
  return { ok: true, value: models }
}

/** The node, or why there is none. */
function parse(text: string): Node | null | string {
  try {
    const document = parseDocument<Node>(text, { prettyErrors: false, logLevel: 'error' })
    const [fault] = [...document.errors, ...document.warnings]
    if (fault) return fault.message.split('\n', 1)[0] ?? ''
    const { contents } = document
    return contents === null || isScalar(contents) || isMap(contents) || isSeq(contents) ? contents : 'aliases are not allowed here'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function keyRemedy(wanted: string): string {
  const below = keysInGroup(wanted)
  if (below.length > 0) return `Name one of its settings: ${below.map((key) => `\`${wanted}.${key}\``).join(', ')}.`
  return didYouMean(wanted, agentOptionKeys) ?? 'See what there is: troupe help agent-file'
}

/** As a shell needs it. */
const quoted = (example: string): string => (/^[\w./-]+$/.test(example) ? example : `'${example}'`)
