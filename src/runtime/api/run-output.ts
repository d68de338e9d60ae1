import type { AgentSpec, AnySchema, JsonOutput, MaybePromise, Outcome } from '../../contracts/index.ts'
import { isStandardSchema, jsonSchemaOf, parseStandard } from '../../tools/index.ts'
import { checkSchema } from '../../util/json-schema/check-schema.ts'
import { usageError } from '../../util/option-problems.ts'

/** Agents whose answer has the schema of a call. The same agent and schema give the same object: much is computed once for it. */
export class RunOutputs {
  readonly #schemas = new WeakMap<AnySchema, NonNullable<JsonOutput['schema']>>()
  readonly #agents = new WeakMap<AgentSpec, WeakMap<AnySchema, AgentSpec>>()

  /** Throws `usage` if the schema is invalid. */
  check(output: AnySchema): void {
    if (this.#schemas.has(output)) return
    const described = jsonSchemaOf(output, 'options.output')
    const problems = described.ok ? checkSchema(described.schema, 'options.output', 'any') : [described.problem]
    if (!described.ok || problems.length > 0) throw usageError(problems)
    // A copy, which becomes part of the journal. That of a library has its check beside it, and is already one.
    const schema = isStandardSchema(output) ? described.schema : structuredClone(described.schema)
    this.#schemas.set(output, schema as NonNullable<JsonOutput['schema']>)
  }

  /** The schema must have been checked. */
  withOutput(agent: AgentSpec, output: AnySchema): AgentSpec {
    const schema = this.#schemas.get(output) ?? {}
    const known = this.#agents.get(agent) ?? new WeakMap<AnySchema, AgentSpec>()
    this.#agents.set(agent, known)
    const prepared = known.get(schema) ?? { ...agent, output: { format: 'json', schema }, saysOutput: true }
    known.set(schema, prepared)
    return prepared
  }
}

/** The outcome with the value that the library of the schema makes of the answer. */
export function typedOutcome(outcome: Outcome, output: AnySchema): MaybePromise<Outcome> {
  const { report, ...rest } = outcome
  if (report?.value === undefined || !isStandardSchema(output)) return outcome
  const { value: _, ...untyped } = report
  const parsed = parseStandard(output, report.value)
  const finish = (found: Awaited<typeof parsed>): Outcome => {
    if (found.ok) return { ...outcome, report: { ...report, value: found.value as typeof report.value } }
    // The answer was accepted before: the check of the library depends on something else, such as the time.
    const message = `The answer does not match the schema of the call: ${found.problems.join('; ')}.`
    return { ...rest, status: 'failed', reason: 'invalid_output', message, report: untyped }
  }
  return parsed instanceof Promise ? parsed.then(finish) : finish(parsed)
}
