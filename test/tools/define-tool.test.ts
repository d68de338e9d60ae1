import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { CallRecord, JsonSchema, Tool } from '../../src/contracts/index.ts'
import { defineTool, TroupeError } from '../../src/index.ts'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { ScriptedModel } from '../../src/testing/index.ts'

const base = { name: 'seats', description: 'Counts the free seats.' }

/** Calls the tool with each input in turn, and returns the records of the calls. */
async function calls(tool: Tool, ...inputs: readonly object[]): Promise<readonly CallRecord[]> {
  const model = new ScriptedModel([...inputs.map((input) => ({ calls: [{ tool: tool.name, input }] })), { text: 'Done.' }])
  const agents = [{ name: 'clerk', description: 'd', prompt: 'p', model: 'm' }]
  const approver = { decide: async () => ({ decision: { kind: 'approve', breadth: 'once' }, by: 'test' }) as const }
  const handle = createAgentRuntime({ config: { agents, tools: [tool] }, adapter: model, approver }).stream('Go')
  const records: CallRecord[] = []
  for await (const event of handle) if (event.type === 'interaction.item.completed' && event.item.kind === 'call') records.push(event.item)
  return records
}

const properties = (tool: Tool): unknown => (tool.inputSchema as JsonSchema).properties

describe.each([
  ['zod', z.object({ seats: z.number().int().min(1).default(2) })],
  ['valibot', toStandardJsonSchema(v.object({ seats: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 2) }))],
  ['arktype', type({ seats: type('number.integer >= 1').default(2) })],
])('a tool with an input of %s', (_, input) => {
  const tool = defineTool({ ...base, input, execute: ({ seats }) => ({ booked: seats + 1 }) })

  it('offers its JSON Schema, applies its defaults, and sends invalid arguments back', async () => {
    expect(properties(tool)).toMatchObject({ seats: { type: 'integer', minimum: 1 } })
    expect(tool.inputSchema).not.toHaveProperty('$schema')
    const [plain, given, wrong] = await calls(tool, {}, { seats: '4' }, { seats: 0 })
    expect(plain).toMatchObject({ status: 'completed', content: '{"booked":3}' })
    expect(plain).not.toHaveProperty('value')
    expect(given).toMatchObject({ status: 'completed', content: '{"booked":5}' })
    expect(wrong).toMatchObject({ status: 'failed', error: { class: 'invalid_input', remedy: 'Correct them and call again.' } })
  })
})

describe('the check of the library', () => {
  const even = z.object({
    seats: z.number().refine((n) => n % 2 === 0, 'only pairs are sold'),
    day: z.iso.date().transform((d) => new Date(d)),
  })
  const asked: unknown[] = []
  const tool = defineTool({
    ...base,
    input: even,
    approval(input) {
      asked.push(input)
      return { keys: [{ key: 'seats', label: 'seats' }], summary: `Book ${input.seats} seats` }
    },
    execute: ({ seats, day }) => `${seats} on ${day.getUTCFullYear()}`,
  })

  it('runs before a person is asked, and functions get its transformed value', async () => {
    const [odd, pair] = await calls(tool, { seats: 3, day: '2026-05-01' }, { seats: 4, day: '2026-05-01' })
    expect(odd).toMatchObject({ error: { class: 'invalid_input', message: 'Invalid arguments for "seats": seats: only pairs are sold.' } })
    expect(pair).toMatchObject({ status: 'completed', content: '4 on 2026' })
    expect(asked).toEqual([{ seats: 4, day: new Date('2026-05-01') }])
  })

  it('may be asynchronous', async () => {
    const known = z.object({ city: z.string().refine(async (city) => city === 'Oslo', 'unknown city') })
    const [wrong, right] = await calls(
      defineTool({ ...base, input: known, execute: async ({ city }) => city }),
      { city: 'Rome' },
      { city: 'Oslo' },
    )
    expect(wrong).toMatchObject({ error: { class: 'invalid_input', message: 'Invalid arguments for "seats": city: unknown city.' } })
    expect(right).toMatchObject({ status: 'completed', content: 'Oslo' })
  })

  it('that throws is a failure of the call, and of nothing else', async () => {
    const broken = z.object({
      city: z.string().refine(() => {
        throw new Error('no table')
      }),
    })
    const [only] = await calls(defineTool({ ...base, input: broken, execute: () => 'x' }), { city: 'Rome' })
    expect(only).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('no table') } })
  })
})

describe('the output', () => {
  const input = { type: 'object' } as const
  const run = async (definition: Pick<Parameters<typeof defineTool>[0], 'output' | 'execute'>) =>
    (await calls(defineTool({ ...base, input, ...definition }), {}))[0]

  it.each([
    ['a library', z.object({ free: z.number().default(0) })],
    ['JSON Schema', { type: 'object', properties: { free: { type: 'integer' } }, required: ['free'] }],
  ])('is checked by %s and becomes the value', async (_, output) => {
    expect(await run({ output, execute: () => ({ free: 3 }) })).toMatchObject({
      status: 'completed',
      content: '{"free":3}',
      value: { free: 3 },
    })
    expect(await run({ output, execute: async () => ({ ok: true, content: 'Three.', value: { free: 3 } }) })).toMatchObject({
      content: 'Three.',
      value: { free: 3 },
    })
    expect(await run({ output, execute: () => ({ free: 'three' }) })).toMatchObject({
      status: 'failed',
      error: {
        class: 'failed',
        message: expect.stringMatching(
          /^"seats" returned an invalid value: free: .*number|^"seats" returned an invalid value: free: .*integer/,
        ),
      },
    })
    const failed = { ok: false, error: { class: 'network', message: 'No line.' } } as const
    expect(await run({ output, execute: () => failed })).toMatchObject({ status: 'failed', error: failed.error })
  })

  it('is rendered as text: a text as it is, nothing as "Done.", anything else as JSON', async () => {
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    const texts = await Promise.all(['a', undefined, null, 3, { ok: true, free: 1 }, [1]].map((value) => run({ execute: () => value })))
    expect(texts.map((record) => record?.content)).toEqual(['a', 'Done.', 'null', '3', '{"ok":true,"free":1}', '[1]'])
    for (const value of [cycle, 1n, () => {}])
      expect(await run({ execute: () => value })).toMatchObject({
        status: 'failed',
        error: { message: expect.stringContaining('"seats" returned a value that is not JSON') },
      })
  })
})

describe('a definition that cannot work is refused with a remedy', () => {
  const refused = (definition: object): TroupeError => {
    try {
      defineTool({ ...base, execute: () => 'x', ...definition } as unknown as Parameters<typeof defineTool>[0])
    } catch (error) {
      if (error instanceof TroupeError) return error
    }
    throw new Error('it was accepted')
  }
  it.each([
    ['a valibot schema alone', { input: v.object({}) }, 'Wrap it: toStandardJsonSchema(schema), from @valibot/to-json-schema.'],
    ['a date', { input: z.object({ day: z.date() }) }, 'Use types that JSON can express'],
    ['an input that is no object', { input: z.string() }, 'object'],
    ['no input', {}, 'input'],
    ['an output that is no schema', { input: { type: 'object' }, output: { type: 'strnig' } }, 'output'],
  ])('%s', (_, definition, text) => {
    expect(refused(definition)).toMatchObject({ code: 'config_invalid', message: expect.stringContaining(text) })
  })
})
