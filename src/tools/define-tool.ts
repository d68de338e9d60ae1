import type {
  AnySchema,
  ApprovalWish,
  ItemView,
  Json,
  JsonObject,
  MaybePromise,
  SchemaInput,
  SchemaOutput,
  Tool,
  ToolContext,
  ToolOutput,
} from '../contracts/index.ts'
import { isRecord } from '../util/is-record.ts'
import { isThenable } from '../util/is-thenable.ts'
import { jsonProblem } from '../util/json-problem.ts'
import { checkSchema } from '../util/json-schema/check-schema.ts'
import { problemsError } from '../util/option-problems.ts'
import { schemaValidator } from './schema/schema-validator.ts'
import { isStandardSchema, jsonSchemaOf, type Parsed, parseStandard } from './schema/standard-schema.ts'

type Done = Extract<ToolOutput, { ok: true }>
type Failed = Extract<ToolOutput, { ok: false }>

/** What `execute` may return: a value, an output with its own text for the model, or a failure. */
export type ToolResult<Out> = ResultValue<Out> | (Omit<Done, 'value'> & { readonly value: ResultValue<Out> }) | Failed
type ResultValue<Out> = Out extends AnySchema ? SchemaInput<Out, unknown> : unknown

/** A tool with the types of its schemas. What is not listed here is the same as in `Tool`. */
export interface ToolDefinition<In extends AnySchema, Out extends AnySchema | undefined = undefined>
  extends Omit<Tool, 'inputSchema' | 'concurrency' | 'approval' | 'view' | 'execute'> {
  /** A JSON Schema of an object, or a schema of zod, valibot, arktype or another Standard Schema library. */
  readonly input: In
  /** The type of the result. A value that does not match fails the call. */
  readonly output?: Out
  /** Default `exclusive`. */
  readonly concurrency?: 'shared' | 'exclusive' | { key(input: SchemaOutput<In, JsonObject>): MaybePromise<string> }
  /** What needs approval; `undefined` if the call is harmless. */
  approval?(input: SchemaOutput<In, JsonObject>): MaybePromise<ApprovalWish | undefined>
  view?(input: SchemaOutput<In, JsonObject>): MaybePromise<ItemView>
  /** The model reads a returned text as it is, and another value as JSON. A throw becomes a failure of class `failed`. */
  execute(input: SchemaOutput<In, JsonObject>, context: ToolContext): MaybePromise<ToolResult<Out>>
}

/**
 * A tool with a typed input. The schema's library checks the arguments and applies its defaults and transforms; the model
 * gets invalid arguments back. With `output`, the result is checked, too, and recorded as the `value` of the call.
 *
 * @example
 * const timetable = defineTool({
 *   name: 'timetable',
 *   description: 'Lists the trains between two cities',
 *   input: z.object({ from: z.string(), to: z.string() }),
 *   execute: ({ from, to }) => trains.filter((train) => train.from === from && train.to === to),
 * })
 *
 * @throws TroupeError `config_invalid` if a schema is invalid or cannot be described as JSON Schema.
 */
export function defineTool<const In extends AnySchema, const Out extends AnySchema | undefined = undefined>(
  definition: ToolDefinition<In, Out>,
): Tool {
  const { input: given, output, concurrency, approval, view, execute, ...rest } = definition
  const described = jsonSchemaOf(given, 'input')
  const problems = [
    ...(described.ok ? checkSchema(described.schema, 'input') : [described.problem]),
    ...(output && !isStandardSchema(output) ? checkSchema(output, 'output', 'any') : []),
  ]
  if (!described.ok || problems.length > 0) throw problemsError('config_invalid', `tool "${rest.name}"`, problems)
  /** Calls a function of the definition with the typed input. */
  const typed = <Result>(input: JsonObject, use: (input: SchemaOutput<In, JsonObject>) => MaybePromise<Result>): MaybePromise<Result> => {
    if (!isStandardSchema(given)) return use(input as SchemaOutput<In, JsonObject>)
    const parsed = parseStandard(given, input)
    const proceed = (found: Parsed<unknown>): MaybePromise<Result> => {
      if (found.ok) return use(found.value as SchemaOutput<In, JsonObject>)
      throw new Error(`Invalid arguments: ${found.problems.join('; ')}.`)
    }
    return parsed instanceof Promise ? parsed.then(proceed) : proceed(parsed)
  }
  return {
    ...rest,
    inputSchema: described.schema,
    ...(concurrency !== undefined && {
      concurrency: typeof concurrency === 'object' ? { key: (input) => typed(input, (value) => concurrency.key(value)) } : concurrency,
    }),
    ...(approval && { approval: (input) => typed(input, (value) => approval.call(definition, value)) }),
    ...(view && { view: (input) => typed(input, (value) => view.call(definition, value)) }),
    execute: (input, context) => {
      const returned = typed<unknown>(input, (value) => execute.call(definition, value, context))
      const finish = (result: unknown): MaybePromise<ToolOutput | string> => outputOf(result, output, rest.name)
      return isThenable(returned) ? Promise.resolve(returned).then(finish) : finish(returned)
    },
  }
}

function outputOf(returned: unknown, output: AnySchema | undefined, tool: string): MaybePromise<ToolOutput | string> {
  if (isFailed(returned)) return returned
  const own = isDone(returned) ? returned : undefined
  if (!output) return own ?? textOf(returned) ?? unreadable(returned)
  const checked = checkValue(output, own ? own.value : returned)
  const finish = (found: Parsed<unknown>): ToolOutput => {
    if (!found.ok) return failure(`"${tool}" returned an invalid value: ${found.problems.join('; ')}.`)
    const content = own ? own.content : textOf(found.value)
    return content === undefined ? unreadable(found.value) : { ...own, ok: true, content, value: found.value as Json }
  }
  return checked instanceof Promise ? checked.then(finish) : finish(checked)
}

const validator = schemaValidator()

function checkValue(schema: AnySchema, value: unknown): MaybePromise<Parsed<unknown>> {
  if (isStandardSchema(schema)) return parseStandard(schema, value)
  const validate = validator.compile(schema)
  return validate instanceof Promise ? validate.then((check) => check(value)) : validate(value)
}

/** A text as it is, and another value as JSON. `undefined`: it is not JSON. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (value === undefined) return 'Done.'
  return jsonProblem(value) === undefined ? JSON.stringify(value) : undefined
}

/** The runtime reports a value that is not JSON. */
const unreadable = (value: unknown): Done => ({ ok: true, content: '', value: value as Json })

const failure = (message: string): Failed => ({ ok: false, error: { class: 'failed', message } })

const isDone = (value: unknown): value is Done => isRecord(value) && value.ok === true && typeof value.content === 'string'

const isFailed = (value: unknown): value is Failed =>
  isRecord(value) && value.ok === false && isRecord(value.error) && 'class' in value.error && 'message' in value.error
