import type { CheckedOutput, Json, JsonOutput, MaybePromise, SchemaValidator } from '../../contracts/index.ts'
import { type FoundJson, findJson, findJsonText } from '../../util/find-json.ts'
import { inexactNumber, inexactProblem } from '../../util/inexact-number.ts'
import { parseJsonObject } from '../../util/json-object.ts'

export interface Answer {
  readonly text: string
  /** It was cut at its length limit, so what looks like its end is none. */
  readonly truncated: boolean
}

type Rejected = Extract<CheckedOutput, { ok: false }>

/** Holds an answer against the JSON that was asked for. Synchronous once the schema is compiled, unless the text needs mending. */
export function checkOutput(validator: SchemaValidator, wanted: JsonOutput, answer: Answer): MaybePromise<CheckedOutput> {
  if (answer.truncated) return cutOff
  const found = findJson(answer.text)
  return found ? validated(validator, wanted, found) : repairAndValidate(validator, wanted, answer.text)
}

/** Only what was meant to be JSON is mended: prose can be mended into anything. */
async function repairAndValidate(validator: SchemaValidator, wanted: JsonOutput, text: string): Promise<CheckedOutput> {
  const broken = findJsonText(text)
  // Inside an object, because that is what is mended; so a list is mended as well.
  const repaired = broken === undefined ? undefined : await validator.repair(`{"answer": ${broken}}`)
  const value = repaired === undefined ? undefined : parseJsonObject(repaired)?.answer
  return repaired === undefined || value === undefined ? notJson : validated(validator, wanted, { value, text: repaired })
}

function validated(validator: SchemaValidator, { schema }: JsonOutput, { value, text }: FoundJson): MaybePromise<CheckedOutput> {
  const inexact = inexactNumber(text)
  if (inexact !== undefined) return invalidOutput([inexactProblem(inexact)])
  if (!schema) return { ok: true, value }
  const validate = validator.compile(schema)
  const judge = (check: Awaited<typeof validate>): CheckedOutput => {
    const found = check(value)
    return found.ok ? { ok: true, value: found.value as Json } : invalidOutput(found.problems)
  }
  return validate instanceof Promise ? validate.then(judge) : judge(validate)
}

/** The validator speaks of input, because that is what it mostly sees. */
function invalidOutput(found: readonly string[]): Rejected {
  const problems = found.map((problem) => problem.replace(/^input:/, 'the answer:'))
  return rejected(problems, 'Answer again with the corrected JSON and nothing else.', 'Loosen the schema, or say more in the prompt.')
}

function rejected(problems: readonly string[], advice: string, remedy: string): Rejected {
  return { ok: false, problems, notice: `Your answer does not fit: ${problems.join('; ')}. ${advice}`, remedy }
}

const cutOff = rejected(['it was cut off at its length limit'], 'Answer again, shorter.', 'Raise maxOutputTokens.')
const notJson = rejected(
  ['it is not JSON'],
  'Answer again with the corrected JSON and nothing else.',
  'Say in the prompt that the answer is JSON, or name a model that has a schema mode.',
)
