import type { AgentSpec, AnySchema, Clock, JsonOutput, MaybePromise, Outcome, Report, TreeId } from '../../contracts/index.ts'
import { isStandardSchema, jsonSchemaOf, parseStandard } from '../../tools/index.ts'
import { Interrupt, Interrupted } from '../../util/interrupt.ts'
import { checkSchema } from '../../util/json-schema/check-schema.ts'
import { keepAlive } from '../../util/keep-alive.ts'
import { usageError } from '../../util/option-problems.ts'
import { maxAnswerMs, withDeadline } from '../../util/with-deadline.ts'

/** Agents whose answer has the schema of a call. The same agent and schema give the same object: much is computed once for it. */
export class RunOutputs {
  readonly #schemas = new WeakMap<AnySchema, NonNullable<JsonOutput['schema']>>()
  readonly #agents = new WeakMap<AgentSpec, WeakMap<AnySchema, AgentSpec>>()
  /** Runs that have ended and whose answer the library of their schema still checks. */
  readonly #typing = new Map<TreeId, Interrupt>()

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

  /** The outcome with the value that the library of the schema makes of the answer. `leaving`: its runtime ends. */
  typed(
    outcome: Outcome,
    run: TypedRun,
    { clock, leaving }: { readonly clock: Clock; readonly leaving: Interrupt },
  ): MaybePromise<Outcome> {
    const { report } = outcome
    if (report?.value === undefined || !isStandardSchema(run.output)) return outcome
    const parsed = parseStandard(run.output, report.value)
    if (!(parsed instanceof Promise)) return typedOutcome(outcome, parsed)
    return this.#typedInTime(parsed, run, { clock, interrupt: new Interrupt(leaving) }).then((found) =>
      found === 'interrupted' ? { ...untyped(outcome), status: 'interrupted', reason: 'interrupted' } : typedOutcome(outcome, found),
    )
  }

  /** An interrupt of a run that has ended interrupts the check of its answer. */
  interrupt(treeId: TreeId): void {
    this.#typing.get(treeId)?.fire('interrupted')
  }

  async #typedInTime(
    parsing: Promise<Parsed>,
    { treeId, signal }: TypedRun,
    { clock, interrupt }: { readonly clock: Clock; readonly interrupt: Interrupt },
  ): Promise<Parsed | 'interrupted'> {
    const release = keepAlive()
    const abort = (): void => interrupt.fire('interrupted')
    signal?.addEventListener('abort', abort)
    if (signal?.aborted) abort()
    this.#typing.set(treeId, interrupt)
    try {
      return await withDeadline(parsing, { clock, ms: maxAnswerMs, interrupt })
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error
      return error.reason === 'timeout'
        ? { ok: false, problems: [`the schema did not check it within ${maxAnswerMs / 1000} s`] }
        : 'interrupted'
    } finally {
      this.#typing.delete(treeId)
      signal?.removeEventListener('abort', abort)
      interrupt.close()
      release()
    }
  }
}

/** A run whose answer has a schema. */
export interface TypedRun {
  readonly treeId: TreeId
  readonly output: AnySchema
  readonly signal?: AbortSignal | undefined
}

type Parsed = Awaited<ReturnType<typeof parseStandard>>

function typedOutcome(outcome: Outcome, found: Parsed): Outcome {
  if (found.ok) return { ...outcome, report: { ...outcome.report, value: found.value } as Report }
  // The answer was accepted before: the check of the library depends on something else, such as the time.
  const message = `The answer does not match the schema of the call: ${found.problems.join('; ')}.`
  return { ...untyped(outcome), status: 'failed', reason: 'invalid_output', message }
}

function untyped({ report, ...rest }: Outcome): Outcome {
  const { value: _, ...text } = report as Report
  return { ...rest, report: text }
}
