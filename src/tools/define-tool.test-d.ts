// Checked by `npm run typecheck`, never run: the types that `defineTool` and the output of a run infer.
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { z } from 'zod'
import type { Json, JsonObject, Outcome, SchemaOutput, Tool } from '../contracts/index.ts'
import { defineTool } from './define-tool.ts'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(_: Same<A, B>): void => {}

const base = { name: 'seats', description: 'Counts the free seats.' }
const zodInput = z.object({ day: z.string().transform((text) => new Date(text)), seats: z.number().default(1) })
const valibotInput = toStandardJsonSchema(v.object({ seats: v.optional(v.number(), 1) }))
const arkInput = type({ 'seats?': 'number' })

export const tools: readonly Tool[] = [
  defineTool({
    ...base,
    input: zodInput,
    concurrency: { key: (input) => input.day.toISOString() },
    approval: (input) => ({ keys: [], summary: `Books ${input.seats.toFixed()} seats` }),
    execute(input, { signal }) {
      same<typeof input, { day: Date; seats: number }>(true)
      return signal.aborted
    },
  }),
  defineTool({
    ...base,
    input: valibotInput,
    execute(input) {
      same<typeof input, { seats: number }>(true)
    },
  }),
  defineTool({
    ...base,
    input: arkInput,
    execute(input) {
      same<typeof input, { seats?: number }>(true)
    },
  }),
  defineTool({
    ...base,
    input: { type: 'object', properties: { seats: { type: 'integer' } } },
    execute(input) {
      same<typeof input, JsonObject>(true)
    },
  }),
  // What it returns is what the output takes, before its defaults.
  defineTool({ ...base, input: arkInput, output: z.object({ free: z.number().default(0) }), execute: () => ({}) }),
  defineTool({ ...base, input: arkInput, output: z.number(), execute: async () => ({ ok: true, content: 'Three', value: 3 }) }),
  defineTool({
    ...base,
    input: arkInput,
    output: z.number(),
    execute: () => ({ ok: false, error: { class: 'failed', message: 'Closed.' } }),
  }),
]

// @ts-expect-error: the output is a number
defineTool({ ...base, input: arkInput, output: z.number(), execute: () => 'three' })
// @ts-expect-error: so it is in a promise
defineTool({ ...base, input: arkInput, output: z.number(), execute: async () => 'three' })
// @ts-expect-error: the input has no days
defineTool({ ...base, input: arkInput, execute: ({ days }) => days })
// @ts-expect-error: a tool has an input
defineTool({ ...base, execute: () => 'x' })
// @ts-expect-error: an effect is one of three words
defineTool({ ...base, effect: 'delete', input: arkInput, execute: () => 'x' })

same<SchemaOutput<typeof zodInput>, { day: Date; seats: number }>(true)
same<SchemaOutput<{ readonly type: 'object' }>, Json>(true)
same<NonNullable<Outcome<number>['report']>['value'], number | undefined>(true)
