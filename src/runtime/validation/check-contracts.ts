import type { InputContract, OutputContract, Problem } from '../../contracts/index.ts'
import { checkSchema } from '../../util/json-schema/check-schema.ts'
import { checkKeys, show } from '../../util/option-problems.ts'
import type { SchemaAlone } from '../api/agent-config.ts'

// What an agent is given, and what it answers with.

/** A schema alone means JSON, as in an agent file. */
export function withFormat<Contract extends InputContract | OutputContract>(given: Contract | SchemaAlone): Contract {
  // Anything may be given by a program without types; what is no contract is told by the checks.
  const isAlone = typeof given === 'object' && given !== null && given.format === undefined && given.schema !== undefined
  return (isAlone ? { ...given, format: 'json' } : given) as Contract
}

export function checkOutputContract(problems: Problem[], given: OutputContract | SchemaAlone, place: string): void {
  const output = withFormat(given)
  const formats = ['text', 'markdown', 'json']
  checkKeys(problems, output, { known: ['format', 'schema'], place })
  if (!formats.includes(output.format))
    problems.push({ place: `${place}.format`, message: `expected one of ${formats.join(', ')}, found ${show(output.format)}` })
  if (!('schema' in output) || output.schema === undefined) return
  if (output.format === 'json') problems.push(...checkSchema(output.schema, `${place}.schema`, 'any'))
  else problems.push({ place: `${place}.schema`, message: 'a schema goes with the format json', remedy: 'Say `format: json`.' })
}

export function checkInputContract(problems: Problem[], given: InputContract | SchemaAlone, place: string): void {
  const input = withFormat(given)
  checkKeys(problems, input, { known: ['format', 'schema'], place })
  if (input.format === 'json') problems.push(...checkSchema(input.schema, `${place}.schema`))
  else if (input.format !== 'text')
    problems.push({ place: `${place}.format`, message: `expected text or json, found ${show((input as { format: unknown }).format)}` })
  else if ('schema' in input) problems.push({ place: `${place}.schema`, message: 'a schema goes with the format json' })
}
