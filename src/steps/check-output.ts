import type { CheckedOutput, Json, JsonOutput, MaybePromise, SchemaValidator } from '../contracts/index.ts'
import { jsonIn } from '../util/json-in.ts'

export interface Answer {
  readonly text: string
  /** It was cut at its length limit, so what looks like its end is none. */
  readonly truncated: boolean
}

/** Holds an answer against the JSON that was asked for. Synchronous once the schema is compiled, unless the text needs mending. */
export function checkOutput(validator: SchemaValidator, wanted: JsonOutput, answer: Answer): MaybePromise<CheckedOutput> {
  if (answer.truncated) return rejected(['it was cut off at its length limit'], 'Answer again, shorter.')
  const value = jsonIn(answer.text)
  return value === undefined ? mended(validator, wanted, answer.text) : validated(validator, wanted, value)
}

async function mended(validator: SchemaValidator, wanted: JsonOutput, text: string): Promise<CheckedOutput> {
  const repaired = text.includes('{') ? await validator.repair(text.slice(text.indexOf('{'))) : undefined
  const value = repaired === undefined ? undefined : jsonIn(repaired)
  return value === undefined ? rejected(['it is not JSON']) : validated(validator, wanted, value)
}

function validated(validator: SchemaValidator, { schema }: JsonOutput, value: Json): MaybePromise<CheckedOutput> {
  if (!schema) return { ok: true, value }
  const validate = validator.compile(schema)
  const judge = (check: Awaited<typeof validate>): CheckedOutput => {
    const found = check(value)
    return found.ok ? { ok: true, value: found.value as Json } : rejected(found.problems)
  }
  return validate instanceof Promise ? validate.then(judge) : judge(validate)
}

function rejected(problems: readonly string[], advice = 'Answer again with the corrected JSON and nothing else.'): CheckedOutput {
  return { ok: false, problems, notice: `Your answer does not fit: ${problems.join('; ')}. ${advice}` }
}
