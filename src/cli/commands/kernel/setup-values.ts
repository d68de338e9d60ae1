import { type SetupField, TroupeError } from '../../../contracts/index.ts'
import { knownNames } from '../../../util/nearest-names.ts'
import type { Host } from '../../terminal/process-host.ts'

export type SetupValue = string | number | boolean

/** Far more than secrets need. */
const maxInput = 1_000_000

/** `undefined`: it is not one. */
export function parseValue(text: string, { type, options }: SetupField): SetupValue | undefined {
  if (text === '' || (options && !options.includes(text))) return undefined
  switch (type) {
    case 'number':
      return Number.isFinite(Number(text)) ? Number(text) : undefined
    case 'boolean':
      return /^(?:y|yes|true|on)$/i.test(text) ? true : /^(?:n|no|false|off)$/i.test(text) ? false : undefined
    case 'text':
    case 'secret':
      return text
    default:
      return type satisfies never
  }
}

export const expectedValue = ({ options, type }: SetupField): string =>
  `Expected ${options ? `one of: ${options.join(', ')}` : `a ${type}`}.`

interface SecretLine {
  /** Of standard input, from 1. */
  readonly line: number
  readonly text: string
}

interface GivenValues {
  /** `NAME=VALUE` of the command line. */
  readonly set: readonly string[]
  /** `NAME=VALUE` of standard input. */
  readonly secrets: readonly SecretLine[]
  /** What is set already. */
  readonly current: { readonly [name: string]: unknown }
}

/**
 * Values for the fields of a setup without questions. Errors contain names of fields, but nothing else that was given: it may be a secret.
 *
 * @throws TroupeError with all problems.
 */
export function givenValues(fields: readonly SetupField[], { set, secrets, current }: GivenValues): ReadonlyMap<string, SetupValue> {
  const problems: { place: string; message: string; remedy: string }[] = []
  const values = new Map<string, SetupValue>()
  const read = (written: string, isSecret: boolean, place: string): void => {
    const [name = '', ...rest] = written.split('=')
    const field = fields.find((each) => each.name === name)
    const names = fields.filter(({ type }) => (type === 'secret') === isSecret).map((each) => each.name)
    const what = isSecret ? 'secret' : 'setting'
    if (rest.length === 0) problems.push({ place, message: 'there is no `=`', remedy: 'Write it like NAME=VALUE.' })
    else if (!field) problems.push({ place, message: `there is no such ${what}`, remedy: knownNames(name, names, what) })
    else if (field.type === 'secret' && !isSecret)
      problems.push({ place, message: `${name} is a secret`, remedy: `Write ${name}=VALUE to standard input, with --secrets.` })
    else {
      const value = parseValue(rest.join('='), field)
      if (value === undefined) problems.push({ place, message: `the value of ${name} is wrong`, remedy: expectedValue(field) })
      else values.set(name, value)
    }
  }
  for (const [index, written] of set.entries()) read(written, false, set.length > 1 ? `--set number ${index + 1}` : '--set')
  for (const { line, text } of secrets) read(text, true, `line ${line} of standard input`)
  for (const { name, type, required, default: usual } of fields) {
    if (values.has(name) || current[name] !== undefined) continue
    if (usual !== undefined && type !== 'secret') values.set(name, usual)
    else if (required && problems.length === 0)
      problems.push({
        place: name,
        message: 'the value is missing',
        remedy: type === 'secret' ? `Write ${name}=VALUE to standard input, with --secrets.` : `Add --set ${name}=VALUE.`,
      })
  }
  if (problems.length > 0) throw new TroupeError('usage', 'The settings are invalid. Nothing was stored.', { problems })
  return values
}

/** The lines of standard input: secrets are in no list of processes and no history. */
export async function readSecrets({ stdin }: Pick<Host, 'stdin'>): Promise<readonly SecretLine[]> {
  let text = ''
  for await (const chunk of stdin as AsyncIterable<Uint8Array | string>) {
    text += chunk.toString()
    if (text.length > maxInput)
      throw new TroupeError('usage', 'Standard input is too long for secrets.', { remedy: 'Write one NAME=VALUE in each line.' })
  }
  return text.split(/\r?\n/).flatMap((line, index) => (line.trim() === '' ? [] : [{ line: index + 1, text: line }]))
}
