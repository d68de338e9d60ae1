import type { InputContract, OutputContract, Problem } from '../../contracts/index.ts'
import { checkSchema } from '../../util/json-schema/check-schema.ts'
import { checkField, checkKeys, oneOf } from '../../util/option-problems.ts'
import type { SchemaAlone } from '../api/agent-config.ts'

/** A schema without a format means JSON, as in an agent file. */
export function withFormat<Contract extends InputContract | OutputContract>(given: Contract | SchemaAlone): Contract {
  // Programs without types may pass anything here; the checks report it.
  const isAlone = typeof given === 'object' && given !== null && given.format === undefined && given.schema !== undefined
  return (isAlone ? { ...given, format: 'json' } : given) as Contract
}

export function checkOutputContract(problems: Problem[], given: OutputContract | SchemaAlone, place: string): void {
  checkContract(problems, withFormat(given), { place, formats: ['text', 'markdown', 'json'], root: 'any' })
}

export function checkInputContract(problems: Problem[], given: InputContract | SchemaAlone, place: string): void {
  checkContract(problems, withFormat(given), { place, formats: ['text', 'json'], root: 'object' })
}

function checkContract(
  problems: Problem[],
  contract: { readonly format: string; readonly schema?: unknown },
  { place, formats, root }: { readonly place: string; readonly formats: readonly string[]; readonly root: 'any' | 'object' },
): void {
  const { format, schema } = contract
  checkKeys(problems, contract, { known: ['format', 'schema'], place })
  checkField(problems, format, { type: oneOf(formats), place: `${place}.format` })
  if (format === 'json') {
    // An output may be JSON of any shape; an input needs its schema.
    if (schema !== undefined || root === 'object') problems.push(...checkSchema(schema, `${place}.schema`, root))
  } else if (schema !== undefined)
    problems.push({ place: `${place}.schema`, message: 'a schema requires format "json"', remedy: 'Set format: "json".' })
}
