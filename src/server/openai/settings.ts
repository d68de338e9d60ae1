import { z } from 'zod'
import type { AgentDescription, AgentLimits, JsonObject, OutputContract, Usage } from '../../contracts/index.ts'
import { labelOf } from '../http/index.ts'

/** At most 16 pairs, as OpenAI has it. */
export const metadataSchema = z
  .record(z.string().min(1).max(64), z.string().max(512))
  .refine((pairs) => Object.keys(pairs).length <= 16, 'has more than 16 pairs')

export function labelsOf({
  user,
  metadata,
}: {
  readonly user?: string | null | undefined
  readonly metadata?: { readonly [key: string]: string } | null | undefined
}): readonly string[] {
  const texts = [...(user ? [`user:${user}`] : []), ...Object.entries(metadata ?? {}).map(([key, value]) => `${key}=${value}`)]
  return texts.map(labelOf)
}

const schemaSchema = z.record(z.string(), z.unknown())

/** The format of chat has the schema in `json_schema`, that of responses beside its type. */
export const responseFormatSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({ type: z.literal('json_schema'), json_schema: z.looseObject({ schema: schemaSchema.optional() }) }),
])
export const textFormatSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({ type: z.literal('json_schema'), schema: schemaSchema }),
])

export type AskedFormat = { readonly type: 'text' | 'json_object' } | { readonly type: 'json_schema'; readonly schema: object | undefined }

/** The contract of the answer, if it is not the agent's own. */
export function outputOf(format: AskedFormat | undefined, { output }: AgentDescription): OutputContract | undefined {
  if (format === undefined || format.type === 'text') return undefined
  if (format.type === 'json_schema' && format.schema) return { format: 'json', schema: format.schema as JsonObject }
  return output.format === 'json' ? undefined : { format: 'json', schema: { type: 'object' } }
}

export function limitsOf({
  parallel_tool_calls,
  max_tool_calls,
}: {
  readonly parallel_tool_calls?: boolean | null | undefined
  readonly max_tool_calls?: number | null | undefined
}): Partial<AgentLimits> {
  return {
    ...(parallel_tool_calls === false && { parallelToolCalls: 1 }),
    ...(max_tool_calls !== null && max_tool_calls !== undefined && { maxCalls: max_tool_calls }),
  }
}

/** Tokens of the turn, with all its steps and children. */
export const chatUsage = ({ input, output, cacheRead, reasoning }: Usage): object => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cacheRead },
  completion_tokens_details: { reasoning_tokens: reasoning },
})

export const responseUsage = ({ input, output, cacheRead, cacheWrite, reasoning }: Usage): object => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: input + output,
})
