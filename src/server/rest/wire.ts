import { z } from 'zod'
import {
  type AgentDescription,
  boundsOfLimit,
  type InputPart,
  type JsonObject,
  type Message,
  type NumberBounds,
  type Outcome,
  type OverridableParameter,
  parameterBounds,
  type Receipt,
  type RequestLimit,
  reasoningEfforts,
  requestLimits,
  type SessionEntry,
  type SessionService,
  sessionFieldLimits,
} from '../../contracts/index.ts'
import { HttpError, outputOf } from '../http/index.ts'

// The JSON of the REST interface. Unknown fields are refused: a misspelt one would have no effect.

const textPart = z.strictObject({ type: z.literal('text'), text: z.string() })
const mediaType = z.string().regex(/^[\w.+-]+\/[\w.+-]+$/, 'expected a media type such as image/png')
const inputParts = z
  .array(
    z.discriminatedUnion('type', [
      textPart,
      z.strictObject({ type: z.literal('image'), mediaType, data: z.string().min(1) }),
      z.strictObject({ type: z.literal('file'), mediaType, data: z.string().min(1), name: z.string().optional() }),
    ]),
  )
  .min(1)
  .max(100)

/** Parsed from JSON: looking at all its values would only take time. */
export const jsonObject = z.record(z.string(), z.unknown())

/** A text, parts, or a JSON object for an agent whose input is JSON. */
export const inputSchema = z.union([z.string().min(1), inputParts, jsonObject]).meta({ id: 'Input' })

const callPart = z.strictObject({ type: z.literal('call'), id: z.string(), name: z.string(), input: z.string() })
const callResult = z.strictObject({ id: z.string(), name: z.string(), ok: z.boolean().default(true), content: z.string() })

const historySchema = z
  .array(
    z.discriminatedUnion('role', [
      z.strictObject({ role: z.literal('user'), content: z.union([z.string(), inputParts]) }),
      z.strictObject({
        role: z.literal('assistant'),
        content: z.union([z.string(), z.array(z.discriminatedUnion('type', [textPart, callPart]))]),
      }),
      z.strictObject({ role: z.literal('tool'), results: z.array(callResult).min(1) }),
    ]),
  )
  .max(10_000)
  .meta({ id: 'History' })

const numberSchema = ({ kind, min, max }: NumberBounds): z.ZodNumber => {
  const type = kind === 'integer' ? z.number().int() : z.number()
  const above = min === undefined ? type : type.min(min)
  return max === undefined ? above : above.max(max)
}

const limitFields = Object.fromEntries(requestLimits.map((name) => [name, numberSchema(boundsOfLimit(name))])) as {
  [Name in RequestLimit]: z.ZodNumber
}
const limitsSchema = z
  .strictObject(limitFields)
  .partial()
  .meta({ id: 'RequestLimits', description: 'A limit can only be lower than that of the agent.' })

const parametersSchema = z
  .strictObject({
    temperature: numberSchema(parameterBounds.temperature),
    topP: numberSchema(parameterBounds.topP),
    maxOutputTokens: numberSchema(parameterBounds.maxOutputTokens),
    seed: numberSchema(parameterBounds.seed),
    reasoning: z.enum(reasoningEfforts),
  } satisfies { [Name in OverridableParameter]: z.ZodType })
  .partial()
  .meta({ id: 'RequestParameters', description: 'Parameters that the agent does not list in `overrides` are refused.' })

export const labelsSchema = z.array(z.string().min(1).max(sessionFieldLimits.labelChars)).max(sessionFieldLimits.labels)

export const formatSchema = z.enum(['markdown', 'text', 'json'])

/** Settings of the next turns. */
export const settingsFields = {
  models: z.array(z.string().min(1)).min(1).max(20).optional().describe('Models of the agent, in order of preference.'),
  limits: limitsSchema.optional(),
  parameters: parametersSchema.optional(),
}

/** Settings of a new session. */
export const startFields = {
  input: inputSchema,
  history: historySchema.optional(),
  instructions: z.string().max(100_000).optional(),
  format: formatSchema.optional(),
  schema: jsonObject.optional(),
  labels: labelsSchema.optional(),
  ...settingsFields,
}
const startSchema = z.strictObject(startFields)
export type StartBody = z.infer<typeof startSchema>

export const inputOf = (input: z.infer<typeof inputSchema>): string | readonly InputPart[] => {
  if (typeof input === 'string') return input
  return Array.isArray(input) ? (input as readonly InputPart[]) : JSON.stringify(input)
}

function historyOf(history: z.infer<typeof historySchema>): readonly Message[] {
  return history.map((message): Message => {
    if (message.role === 'tool') return message
    const parts = typeof message.content === 'string' ? [{ type: 'text', text: message.content } as const] : message.content
    return { role: message.role, parts } as Message
  })
}

/** The options of `sessions.start`. `further`: models that the caller may choose besides those of the agent. */
export function startOptionsOf(body: StartBody, agent: AgentDescription, further: readonly string[] = []) {
  const { history, instructions, labels } = body
  refuseSettings(body, agent, further)
  const output = outputOf({ format: body.format, schema: body.schema as JsonObject | undefined }, agent)
  return {
    ...(history && { history: historyOf(history) }),
    ...(instructions !== undefined && { instructions }),
    ...(labels && { labels }),
    ...settingsOf(body),
    ...(output && { output }),
  }
}

type Settings = Pick<StartBody, 'models' | 'limits' | 'parameters'>

/** Without keys that are undefined. */
export const settingsOf = ({ models, limits, parameters }: Settings) => ({
  ...(models && { models }),
  ...(limits && { limits: defined(limits) }),
  ...(parameters && { parameters: defined(parameters) }),
})

const defined = <Value extends object>(value: Value) =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as { [Key in keyof Value]: NonNullable<Value[Key]> }

type SettableAgent = Pick<AgentDescription, 'name' | 'overrides' | 'models'>

/** Callers choose among the models of the agent, and set the parameters that it names. */
export function refuseSettings(
  { models = [], parameters = {} }: Settings,
  { name, overrides, models: own }: SettableAgent,
  further: readonly string[] = [],
): void {
  const model = models.find((each) => !own.includes(each) && !further.includes(each))
  if (model !== undefined)
    throw new HttpError('invalid_request', `The agent "${name}" has no model "${model}".`, {
      parameter: 'models',
      remedy: `Use one of: ${own.join(', ')}.`,
    })
  const refused = Object.keys(parameters).find((parameter) => !overrides.some((allowed) => allowed === parameter))
  if (refused === undefined) return
  throw new HttpError('invalid_request', `The agent "${name}" does not allow callers to set "${refused}".`, {
    parameter: `parameters.${refused}`,
    remedy: overrides.length > 0 ? `It allows ${overrides.join(', ')}.` : 'List it in `overrides` of the agent file.',
  })
}

/** An answer, as REST clients get it. */
export function answerDocument({ sessionId, status, reason, message, remedy, report, speaker, usage, cost, diagnostics }: Outcome) {
  return {
    sessionId,
    status,
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
    ...(remedy !== undefined && { remedy }),
    ...(report && { format: report.format, text: report.text, ...(report.value !== undefined && { value: report.value }) }),
    ...(speaker && { speaker: speaker.agent }),
    usage,
    cost,
    diagnostics,
  }
}

export const receiptText =
  '`{ clientId, driven }`. With `driven: false` nothing happens yet: `message` says why, and `continue.command` continues the session.'

/** A message that nobody takes now must not look like one that had an effect. */
export function receiptDocument({ continue: continues, elsewhere: _, ...receipt }: Receipt) {
  if (receipt.driven) return receipt
  const { reason = 'No process runs the session.' } = continues ?? {}
  return { ...receipt, message: `Stored, but nothing happens yet. ${reason}`, ...(continues && { continue: continues }) }
}

/** How many sessions searches, costs and usage do not cover. */
export async function uncovered(sessions: Pick<SessionService, 'unindexed'>, owner?: string): Promise<{ readonly unindexed?: number }> {
  const unindexed = await sessions.unindexed(owner)
  return unindexed > 0 ? { unindexed } : {}
}

export const sessionDocument = ({ seq, createdAt, updatedAt, ...entry }: SessionEntry) => ({
  ...entry,
  seq,
  createdAt: new Date(createdAt).toISOString(),
  updatedAt: new Date(updatedAt).toISOString(),
  /** For `before`. */
  cursor: createdAt,
})
