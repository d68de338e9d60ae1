import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { somePlace } from '../../../test/fixtures/session-place.ts'
import type { CallId, JsonObject, ToolContext, ToolOutput } from '../../contracts/index.ts'
import { checkSchema } from '../../util/json-schema/check-schema.ts'
import { schemaValidator } from '../schema/schema-validator.ts'
import { readOutputTool } from './read-output-tool.ts'

const context = (stored: { readonly [handle: string]: string }): ToolContext => ({
  ...somePlace,
  agent: 'clerk',
  signal: new AbortController().signal,
  callId: 'c1' as CallId,
  attempt: 1,
  overlay: {},
  remaining: { steps: 1 },
  searchableTools: () => [],
  agents: [],
  mayUse: () => true,
  ask: async () => ({ kind: 'cancel' }),
  sample: async () => ({ ok: false, error: { class: 'config', message: 'There is no model here.' } }),
  startChild: () => Promise.reject(new Error('no children here')),
  confinement: { kind: 'none' },
  maxOutputBytes: 32_768,
  storedOutput: async (handle) => (Object.hasOwn(stored, handle) ? stored[handle] : undefined),
  skills: [],
  progress() {},
  output() {},
  updatePlan() {},
})

const tool = readOutputTool()
const ask = async (text: string, input: JsonObject = {}): Promise<ToolOutput> =>
  (await tool.execute({ handle: 'b1', ...input }, context({ b1: text }))) as ToolOutput
const read = async (text: string, input: JsonObject = {}): Promise<string> => {
  const output = await ask(text, input)
  if (!output.ok) throw new Error(output.error.message)
  return output.content
}

const numbered = (count: number): string => Array.from({ length: count }, (_, index) => `row ${index + 1}\n`).join('')

describe('read_output', () => {
  it('is a shared read behind its flag, with a sound schema', () => {
    const { name, effect, concurrency, requires } = tool
    expect({ name, effect, concurrency, requires, problems: checkSchema(tool.inputSchema, 'read_output') }).toEqual({
      name: 'read_output',
      effect: 'read',
      concurrency: 'shared',
      requires: [{ flag: 'stored_output' }],
      problems: [],
    })
  })

  it('says what to do about an unknown handle', async () => {
    expect(await tool.execute({ handle: 'b9' }, context({}))).toEqual({
      ok: false,
      error: {
        class: 'invalid_input',
        message: 'No stored output has the handle "b9".',
        remedy: 'Use the handle shown in the cut output: read_output {"handle":"…"}.',
      },
    })
  })

  it('says what to do about a line past the end', async () => {
    expect(await ask(numbered(3), { from_line: 4 })).toEqual({
      ok: false,
      error: {
        class: 'invalid_input',
        message: 'from_line 4 is past the end: the output has 3 lines.',
        remedy: 'Use a line from 1 to 3.',
      },
    })
  })
})

describe('paging', () => {
  it('shows lines with their numbers and what to ask next', async () => {
    expect(await read(numbered(10), { from_line: 3, lines: 2 })).toBe(
      'Lines 3-4 of 10 lines (61 bytes).\n3: row 3\n4: row 4\nNext: read_output {"handle":"b1","from_line":5}',
    )
  })

  it('shows 200 lines unless asked otherwise, and says where the end is', async () => {
    const first = (await read(numbered(201))).split('\n')
    expect([first.length, first[200], first.at(-1)]).toEqual([202, '200: row 200', 'Next: read_output {"handle":"b1","from_line":201}'])
    expect(await read(numbered(201), { from_line: 201 })).toBe('Lines 201-201 of 201 lines (1500 bytes).\n201: row 201\nEnd of the output.')
  })

  it('knows empty outputs, empty lines and other line ends', async () => {
    expect(await read('')).toBe('The output is empty: 0 lines (0 bytes).\nEnd of the output.')
    expect(await read('a\r\n\r\n\nb')).toBe('Lines 1-4 of 4 lines (7 bytes).\n1: a\n2: \n3: \n4: b\nEnd of the output.')
  })

  it('shortens very long lines and pages within them', async () => {
    const text = `short\n${'x'.repeat(50_000)}\nlast`
    expect((await read(text)).split('\n').map((line) => line.slice(-90))).toEqual([
      'Lines 1-3 of 3 lines (50011 bytes).',
      '1: short',
      `${'x'.repeat(90 - ' [columns 1-2000 of 50000]'.length)} [columns 1-2000 of 50000]`,
      '3: last',
      `Long lines are cut. Read on with read_output {"handle":"b1","from_line":2,"from_column":2001}`.slice(-90),
      'End of the output.',
    ])
    const [head, body, next] = (await read(text, { from_line: 2, from_column: 45_001 })).split('\n')
    expect([head, body, next]).toEqual([
      'Line 2 of 3 lines (50011 bytes).',
      `2: ${'x'.repeat(5_000)} [columns 45001-50000 of 50000]`,
      'End of the line.',
    ])
    expect(await read(text, { from_line: 2, from_column: 60_000 })).toContain('The line ends at column 50000, before column 60000.')
  })

  it('covers a long line without a gap, in whole letters', async () => {
    const line = 'ü😀'.repeat(10_000)
    let seen = ''
    for (let column = 1; column <= line.length; ) {
      const answer = await read(line, { from_line: 1, from_column: column })
      const [, part = '', to = ''] = /^1: (.*) \[columns \d+-(\d+) of \d+\]$/m.exec(answer) ?? []
      expect(part.isWellFormed()).toBe(true)
      seen += part
      column = Number(to) + 1
    }
    expect(seen).toBe(line)
  })
})

describe('searching', () => {
  it('shows hits with numbers and context, in any letter case', async () => {
    const text = 'one\ntwo\nthree\nFour\nfive\nsix\nseven\neight\nnine\nFOUR again\n'
    expect(await read(text, { search: 'four', context: 1 })).toBe(
      ['2 hits for "four" in 10 lines (56 bytes).', '  3: three', '> 4: Four', '  5: five', '--', '  9: nine', '> 10: FOUR again'].join(
        '\n',
      ),
    )
  })

  it('shows every line once where contexts meet', async () => {
    expect(await read('a\nhit\nb\nhit\nc\n', { search: 'hit' })).toBe(
      '2 hits for "hit" in 5 lines (14 bytes).\n  1: a\n> 2: hit\n  3: b\n> 4: hit\n  5: c',
    )
  })

  it('takes the text for a text, not for a pattern', async () => {
    expect(await read('abc\na.c\n', { search: 'a.c', context: 0 })).toBe('1 hit for "a.c" in 2 lines (8 bytes).\n> 2: a.c')
  })

  it('says what to do when nothing is found', async () => {
    expect(await read('abc', { search: 'xyz' })).toBe(
      'No hits for "xyz" in 1 line (3 bytes). Try a shorter text, or page with read_output {"handle":"b1"}',
    )
  })

  it('shows at most fifty hits and how to continue', async () => {
    const text = numbered(120)
    const first = (await read(text, { search: 'ROW', context: 0 })).split('\n')
    expect([first[0], first.length, first.at(-1)]).toEqual([
      '120 hits for "ROW" in 120 lines (852 bytes).',
      52,
      '70 more: read_output {"handle":"b1","search":"ROW","from_line":51}',
    ])
    const rest = (await read(text, { search: 'ROW', context: 0, from_line: 101 })).split('\n')
    expect([rest[0], rest[1], rest.at(-1)]).toEqual([
      '20 hits for "ROW" from line 101 on in 120 lines (852 bytes).',
      '> 101: row 101',
      '> 120: row 120',
    ])
  })

  it('shows long lines around the hits, all of them', async () => {
    const text = Array.from({ length: 200 }, (_, index) => `${'x'.repeat(1_000)}<needle ${index}>`).join('')
    const seen = new Set<string>()
    let input: JsonObject | undefined = { search: 'needle' }
    while (input) {
      const answer: string = await read(text, input)
      for (const [hit] of answer.matchAll(/<needle \d+>/g)) seen.add(hit)
      const more = /more: read_output (\{.*\})$/.exec(answer)?.[1]
      input = more === undefined ? undefined : (JSON.parse(more) as JsonObject)
    }
    expect(seen.size).toBe(200)
  })
})

describe('whatever is asked of whatever output', () => {
  const validator = schemaValidator()
  const unit = fc.constantFrom(
    'a',
    'İ',
    'ß',
    '😀',
    '\ud800',
    '\n',
    '\r\n',
    ' ',
    '漢'.repeat(3_000),
    'x'.repeat(40_000),
    'word\n'.repeat(300),
  )
  const text = fc.array(unit, { maxLength: 40 }).map((parts) => parts.join(''))
  const input = fc.record(
    {
      from_line: fc.integer({ min: 1, max: 2_000 }),
      from_column: fc.integer({ min: 1, max: 100_000 }),
      lines: fc.integer({ min: 1, max: 2_000 }),
      search: fc.constantFrom('a', 'i', 'x', 'WORD', '漢', '😀', 'word\nword'),
      context: fc.integer({ min: 0, max: 20 }),
    },
    { requiredKeys: [] },
  )

  it('answers within its size', async () => {
    await fc.assert(
      fc.asyncProperty(text, input, async (stored, request) => {
        const asked = { handle: 'b1', ...request } as JsonObject
        expect((await validator.compile(tool.inputSchema))(asked)).toEqual({ ok: true, value: asked })
        const output = await ask(stored, asked)
        expect(Buffer.byteLength(JSON.stringify(output))).toBeLessThan(26_000)
        expect(Buffer.byteLength(output.ok ? output.content : output.error.message)).toBeLessThan(24_000)
      }),
      { numRuns: 300 },
    )
  })

  it('shows every line when its advice is followed', async () => {
    const lines = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '漢', ' '), maxLength: 1_500 }), { minLength: 1, maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(lines, fc.integer({ min: 1, max: 30 }), async (list, count) => {
        const seen: string[] = []
        let next: JsonObject | undefined = {}
        while (next) {
          const answer: string = await read(`${list.join('\n')}\n`, { ...next, lines: count })
          seen.push(...answer.split('\n').flatMap((line) => /^\d+: (.*)$/.exec(line)?.[1] ?? []))
          const more = /^Next: read_output (\{.*\})$/m.exec(answer)?.[1]
          next = more === undefined ? undefined : (JSON.parse(more) as JsonObject)
        }
        expect(seen).toEqual(list)
      }),
    )
  })
})

it('keeps its answer within what a model is shown', async () => {
  const lines = Array.from({ length: 400 }, (_, index) => `line ${index} ${'x'.repeat(60)}`).join('\n')
  for (const maxOutputBytes of [512, 2_000, 50_000]) {
    const context = { maxOutputBytes, storedOutput: async () => lines } as unknown as ToolContext
    for (const input of [{ handle: 'h' }, { handle: 'h', search: 'line' }, { handle: 'h', from_line: 2, from_column: 3 }]) {
      const output = await readOutputTool().execute(input, context)
      expect(typeof output === 'object' && output.ok ? Buffer.byteLength(output.content) : output).toBeLessThanOrEqual(maxOutputBytes)
    }
  }
})
