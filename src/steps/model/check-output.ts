import {
  type CheckedOutput,
  invalidAnswerPrefix,
  type Json,
  type JsonOutput,
  type MaybePromise,
  type SchemaValidator,
  type Validation,
} from '../../contracts/index.ts'
import { type FoundJson, findJson, findJsonText } from '../../util/find-json.ts'
import { inexactNumber, inexactProblem } from '../../util/inexact-number.ts'
import { parseJsonObject } from '../../util/json-values.ts'

interface Answer {
  readonly text: string
  /** Cut at its output limit. */
  readonly truncated: boolean
}

type Rejected = Extract<CheckedOutput, { ok: false }>

/** Checks an answer against the requested JSON. Synchronous once the schema is compiled, unless the text needs repair. */
export function checkOutput(validator: SchemaValidator, wanted: JsonOutput, answer: Answer): MaybePromise<CheckedOutput> {
  if (answer.truncated) return cutOff
  const found = findJson(answer.text)
  return found ? validated(validator, wanted, found) : repairAndValidate(validator, wanted, answer.text)
}

/** Repairs only text that looks like JSON: prose could be repaired into anything. */
async function repairAndValidate(validator: SchemaValidator, wanted: JsonOutput, text: string): Promise<CheckedOutput> {
  const broken = findJsonText(text)
  // `repair` takes objects: the wrapper makes it work for lists, too.
  const repaired = broken === undefined ? undefined : await validator.repair(`{"answer": ${broken}}`)
  const value = repaired === undefined ? undefined : parseJsonObject(repaired)?.answer
  return repaired === undefined || value === undefined ? notJson : validated(validator, wanted, { value, text: repaired })
}

function validated(validator: SchemaValidator, { schema }: JsonOutput, { value, text }: FoundJson): MaybePromise<CheckedOutput> {
  const inexact = inexactNumber(text)
  if (inexact !== undefined) return invalidOutput([inexactProblem(inexact)])
  if (!schema) return { ok: true, value }
  const validate = validator.compile(schema)
  if (validate instanceof Promise) return validate.then((check) => check(value)).then(judged)
  const found = validate(value)
  return found instanceof Promise ? found.then(judged) : judged(found)
}

const judged = (found: Validation): CheckedOutput => (found.ok ? { ok: true, value: found.value as Json } : invalidOutput(found.problems))

/** The validator calls every value `input`. */
function invalidOutput(found: readonly string[]): Rejected {
  const problems = found.map((problem) => problem.replace(/^input:/, 'the answer:'))
  return rejected(
    problems,
    'Answer again with the corrected JSON and nothing else.',
    'Relax the schema, or describe it better in the prompt.',
  )
}

function rejected(problems: readonly string[], advice: string, remedy: string): Rejected {
  return { ok: false, problems, notice: `${invalidAnswerPrefix}${problems.join('; ')}. ${advice}`, remedy }
}

const cutOff = rejected(['it was cut at its output limit'], 'Answer again, shorter.', 'Raise maxOutputTokens.')
const notJson = rejected(
  ['it is not JSON'],
  'Answer again with the corrected JSON and nothing else.',
  'Say in the prompt that the answer must be JSON, or use a model with a schema mode.',
)

/** For an answer that its schema did not check in time. */
export const uncheckedOutput = (ms: number): Rejected =>
  rejected(
    [`its schema did not check it within ${ms / 1000} s`],
    'Answer again with the same JSON.',
    'Make the check of the schema answer, or use a JSON Schema.',
  )
