import { z } from 'zod'
import type { AgentDescription, Json, ModelParameters } from '../../contracts/index.ts'
import { repeatedTools, toolChoiceSchema, toolsSchema } from './client-tools.ts'
import { type CheckedParameters, checkParameters, type ParameterTable, unsupported } from './parameters.ts'
import { inputSchema } from './response-input.ts'
import { responseParameters } from './response-parameters.ts'
import { metadataSchema, textFormatSchema } from './settings.ts'

/** Other parameters are checked by their table. */
export const responseBody = z.looseObject({
  model: z.string().min(1),
  input: inputSchema,
  instructions: z.string().nullish(),
  previous_response_id: z.string().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({}).nullish(),
  store: z.boolean().nullish(),
  background: z.boolean().nullish(),
  text: z.looseObject({ format: textFormatSchema.nullish(), verbosity: z.string().nullish() }).nullish(),
  reasoning: z.looseObject({ effort: z.string().nullish() }).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  max_tool_calls: z.int().min(0).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  tools: toolsSchema.nullish(),
  tool_choice: toolChoiceSchema.nullish(),
  truncation: z.enum(['auto', 'disabled']).nullish(),
  user: z.string().nullish(),
  safety_identifier: z.string().nullish(),
  prompt_cache_key: z.string().nullish(),
  metadata: metadataSchema.nullish(),
})
export type ResponseBody = z.infer<typeof responseBody>

/** Parameters of the model, also those inside of others. */
export function responseSettings(body: ResponseBody, agent: AgentDescription): CheckedParameters {
  if (body.background === true && body.store === false)
    throw unsupported('background', 'A response that is not stored cannot be read later.')
  const inside = { 'reasoning.effort': body.reasoning?.effort, 'text.verbosity': body.text?.verbosity }
  return checkParameters({ ...body, ...inside }, { table: { ...responseParameters, ...insideParameters }, agent })
}

const insideParameters: ParameterTable = {
  'reasoning.effort': { use: { overrides: 'reasoning' }, note: '' },
  'text.verbosity': { use: 'ignored', defaults: ['medium'], note: '' },
}

/** What the response repeats of its request. Sampling parameters are those that apply; without one, 1. */
export function repeatedFields(body: ResponseBody, parameters: ModelParameters): { readonly [name: string]: Json } {
  return {
    instructions: body.instructions ?? null,
    previous_response_id: body.previous_response_id ?? null,
    store: body.store ?? true,
    ...repeatedTools(body),
    text: { format: repeatedFormat(body.text?.format) },
    reasoning: { effort: parameters.reasoning ?? null, summary: null },
    temperature: parameters.temperature ?? 1,
    top_p: parameters.topP ?? 1,
    max_output_tokens: parameters.maxOutputTokens ?? null,
    max_tool_calls: body.max_tool_calls ?? null,
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    truncation: body.truncation ?? 'disabled',
    metadata: (body.metadata ?? {}) as Json,
    safety_identifier: body.safety_identifier ?? null,
    prompt_cache_key: body.prompt_cache_key ?? null,
    ...(body.user && { user: body.user }),
  }
}

function repeatedFormat(format: z.infer<typeof textFormatSchema> | null | undefined): Json {
  if (format?.type !== 'json_schema') return { type: format?.type ?? 'text' }
  const { name, description, strict } = format
  return { ...format, name: name ?? 'answer', description: description ?? null, strict: strict ?? true } as unknown as Json
}
