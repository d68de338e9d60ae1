import { describe, expect, test, vi } from 'vitest'
import type { InteractionEvent, JsonObject, JsonSchema, Tool } from '../../src/index.ts'
import { agent, bounded, expectLegal, journalOf, objectSchema, ofType, resultsIn, tool, world } from './support.ts'

vi.setConfig({ testTimeout: 60_000 })

/** Calls one tool once with this input, as the model wrote it; tells what the tool got and what the model was told. */
async function callOnce(input: string | object, schema: JsonSchema, more: Partial<Tool> = {}) {
  const got: JsonObject[] = []
  const { runtime, model, store } = world({
    steps: [{ calls: [{ tool: 'target', input }] }, { text: 'x' }],
    tools: [
      {
        ...tool('target', { schema }),
        execute: (given) => {
          got.push(given)
          return 'ok'
        },
        ...more,
      },
    ],
  })
  const outcome = await bounded(runtime.run('go'))
  const events = await journalOf(store, outcome.sessionId)
  expectLegal(events)
  expect(outcome.status).toBe('completed')
  return { got, result: resultsIn(model.requests[1])[0], request: model.requests[0], requests: model.requests, events, outcome }
}

const titleOf = (events: readonly InteractionEvent[]): string => {
  const [started] = ofType(events, 'interaction.item.started')
  return started && 'title' in started.item ? started.item.title : ''
}

describe('find: a wrong name gets the nearest right ones', () => {
  for (const [wrong, right] of [
    ['read_fil', 'read_file'],
    ['readFile', 'read_file'],
    ['Read_File', 'read_file'],
    ['functions.read_file', 'read_file'],
    ['file_read', 'read_file'],
  ] as const)
    test(`${wrong} → ${right}`, async () => {
      const { runtime, model, store } = world({
        steps: [{ calls: [{ tool: wrong }] }, { text: 'x' }],
        tools: [tool('read_file'), tool('send_mail'), tool('weather')],
      })
      const outcome = await runtime.run('go')
      const [result] = resultsIn(model.requests[1])
      expect(result).toMatchObject({ ok: false, name: wrong })
      expect(result?.content).toContain(right)
      expect(ofType(await journalOf(store, outcome.sessionId), 'interaction.item.completed')[0]?.item).toMatchObject({
        status: 'failed',
        error: { class: 'unknown_tool' },
      })
    })

  test('a name that is near to nothing is still an error that a model can act on: it lists what exists', async () => {
    const { runtime, model } = world({
      steps: [{ calls: [{ tool: 'zzzzqqqq' }] }, { text: 'x' }],
      tools: [tool('read_file'), tool('send_mail')],
    })
    await runtime.run('go')
    expect(resultsIn(model.requests[1])[0]?.content).toMatch(/read_file[\s\S]*send_mail/)
  })

  test('a tool outside the agent’s allowlist does not run although the model names it', async () => {
    let ran = 0
    const secret = tool('secret_tool', {
      execute: () => {
        ran += 1
        return 'ran'
      },
    })
    const { runtime, model } = world({
      config: { agents: [{ ...agent, tools: ['open_*'] }] },
      steps: [{ calls: [{ tool: 'secret_tool' }, { tool: 'open_door' }] }, { text: 'x' }],
      tools: [secret, tool('open_door'), tool('opener')],
    })
    await runtime.run('go')
    expect(ran).toBe(0)
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['open_door'])
    expect(resultsIn(model.requests[1]).map(({ ok }) => ok)).toEqual([false, true])
  })

  test('a very long name and ones with odd characters do not harm', async () => {
    const names = ['x'.repeat(10_000), '../../etc/passwd', '__proto__', 'constructor', 'toString']
    const { runtime, model, store } = world({
      steps: [{ calls: names.map((name) => ({ tool: name })) }, { text: 'x' }],
      tools: [tool('read_file')],
    })
    const outcome = await runtime.run('go')
    expect(outcome.status).toBe('completed')
    expect(resultsIn(model.requests[1]).map(({ ok }) => ok)).toEqual(names.map(() => false))
    expectLegal(await journalOf(store, outcome.sessionId))
  })
})

describe('parse, repair, validate arguments', () => {
  const schema = objectSchema({ word: { type: 'string' }, count: { type: 'integer' }, loud: { type: 'boolean' } }, ['word'])
  const repairable: readonly (readonly [string, string, object])[] = [
    ['a trailing comma', '{"word":"a","count":2,}', { word: 'a', count: 2 }],
    ['single quotes', "{'word':'a','loud':true}", { word: 'a', loud: true }],
    ['keys without quotes', '{word:"a"}', { word: 'a' }],
    ['a code fence', '```json\n{"word":"a"}\n```', { word: 'a' }],
    ['a bare code fence', '```\n{"word":"a"}\n```', { word: 'a' }],
    ['comments', '{"word":"a" /* why */}', { word: 'a' }],
    ['Python words', '{"word":"a","loud":True}', { word: 'a', loud: true }],
    ['a raw line break in a string', '{"word":"a\nb"}', { word: 'a\nb' }],
    ['JSON in JSON', JSON.stringify('{"word":"a"}'), { word: 'a' }],
  ]
  for (const [name, text, expected] of repairable)
    test(`broken JSON is repaired: ${name}`, async () => {
      const { got, result } = await callOnce(text, schema)
      expect(got, JSON.stringify(result)).toEqual([expected])
    })

  test.each(['{"word":"a","count":2', '{"word":"/home/ada/proj', '{"word":"a'])(
    'JSON that may be truncated is never repaired into a call: %s',
    async (text) => {
      const { got } = await callOnce(text, schema)
      expect(got).toEqual([])
    },
  )

  const mendable: readonly (readonly [string, object, object])[] = [
    ['"2" to 2', { word: 'a', count: '2' }, { word: 'a', count: 2 }],
    ['"true" to true', { word: 'a', loud: 'true' }, { word: 'a', loud: true }],
    ['2 to "2"', { word: 2 }, { word: '2' }],
  ]
  for (const [name, input, expected] of mendable)
    test(`ports.ts: a type is converted without loss: ${name}`, async () => {
      const { got, result } = await callOnce(input, schema)
      expect(got, JSON.stringify(result)).toEqual([expected])
    })

  test('a text that looks like a number stays a text where a text is asked for', async () => {
    const { got } = await callOnce({ word: '007' }, schema)
    expect(got).toEqual([{ word: '007' }])
  })
  test('a union takes what was given, as it was given', async () => {
    const { got } = await callOnce(
      { v: '10', w: 10 },
      objectSchema({ v: { type: ['string', 'number'] }, w: { anyOf: [{ type: 'string' }, { type: 'number' }] } }),
    )
    expect(got).toEqual([{ v: '10', w: 10 }])
  })
  for (const [name, input] of [
    ['"2.5" for an integer', { word: 'a', count: '2.5' }],
    ['"two" for an integer', { word: 'a', count: 'two' }],
    ['"maybe" for a boolean', { word: 'a', loud: 'maybe' }],
    ['an object for a string', { word: { a: 1 } }],
  ] as const)
    test(`a value that cannot be converted without loss is an error and the tool does not run: ${name}`, async () => {
      const { got, result } = await callOnce(input, schema)
      expect(got).toEqual([])
      expect(result?.ok).toBe(false)
    })
  test('"" is not converted to 0 or false: that would be a loss', async () => {
    const { got } = await callOnce({ word: 'a', count: '' }, schema)
    expect(got).toEqual([])
    const { got: other } = await callOnce({ word: 'a', loud: '' }, schema)
    expect(other).toEqual([])
  })

  test('errors name all problems together: the place, what was expected and what was there', async () => {
    const deep = objectSchema(
      {
        to: { type: 'array', items: objectSchema({ mail: { type: 'string', minLength: 3 } }, ['mail']) },
        kind: { enum: ['short', 'long'] },
        size: { type: 'integer', minimum: 1, maximum: 5 },
        subject: { type: 'string' },
      },
      ['to', 'subject'],
    )
    const { got, result, events } = await callOnce({ to: [{ mail: 'abc' }, {}], kind: 'medium', size: 9 }, deep)
    expect(got).toEqual([])
    expect(result?.ok).toBe(false)
    for (const part of ['subject', 'mail', 'kind', 'short', 'long', 'medium', 'size', '5']) expect(result?.content, part).toContain(part)
    expect(result?.content, 'the second recipient').toMatch(/to[[./]1/)
    expect(ofType(events, 'interaction.item.completed').at(0)?.item).toMatchObject({ error: { class: 'invalid_input' } })
  })

  test('an unknown key where none is allowed is named', async () => {
    const { got, result } = await callOnce(
      { word: 'a', wrod: 'b' },
      { ...objectSchema({ word: { type: 'string' } }), additionalProperties: false },
    )
    expect(got).toEqual([])
    expect(result?.content).toContain('wrod')
  })

  for (const [name, text] of [
    ['prose', 'I would like to look up the word troupe please'],
    ['a list', '[1,2]'],
    ['null', 'null'],
    ['a number', '42'],
    ['a text', '"word"'],
  ] as const)
    test(`${name} instead of an object: invalid_input, the tool does not run, the model learns what was expected`, async () => {
      const { got, result, events } = await callOnce(text, schema)
      expect(got).toEqual([])
      expect(result?.ok).toBe(false)
      expect(result?.content).toMatch(/object|word/)
      expect(ofType(events, 'interaction.item.completed').at(0)?.item).toMatchObject({ error: { class: 'invalid_input' } })
    })

  test('no input at all is an empty object', async () => {
    const { got } = await callOnce('', objectSchema())
    expect(got).toEqual([{}])
  })

  test('"__proto__" in arguments pollutes nothing', async () => {
    const { got } = await callOnce('{"word":"a","__proto__":{"polluted":true}}', schema)
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
    for (const each of got) expect((each as { polluted?: boolean }).polluted).toBeUndefined()
  })

  test('arguments of 1 MB and 2,000 levels cost that call at most', async () => {
    const { got } = await callOnce({ word: 'a'.repeat(1_000_000) }, schema)
    expect(String(got[0]?.word).length).toBe(1_000_000)
    await callOnce(`{"word":"a","x":${'['.repeat(2000)}${']'.repeat(2000)}}`, schema)
  })

  test('draft 2020-12: $defs, prefixItems, dependentRequired and unevaluatedProperties bite', async () => {
    const modern: JsonSchema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: { point: { type: 'array', prefixItems: [{ type: 'number' }, { type: 'number' }], items: false } },
      properties: { at: { $ref: '#/$defs/point' }, a: {}, b: {} },
      dependentRequired: { a: ['b'] },
      unevaluatedProperties: false,
    }
    expect((await callOnce({ at: [1, 2] }, modern)).got).toHaveLength(1)
    expect((await callOnce({ at: [1, 2], reason: 'Because' }, modern)).got).toEqual([{ at: [1, 2] }])
    expect((await callOnce({ at: [1, 2, 3] }, modern)).got).toEqual([])
    expect((await callOnce({ a: 1 }, modern)).got).toEqual([])
    expect((await callOnce({ c: 1 }, modern)).got).toEqual([])
  })

  test('the common "one of these keys" schema is legal and bites', async () => {
    const either: JsonSchema = {
      type: 'object',
      properties: { id: { type: 'string' }, name: { type: 'string' } },
      anyOf: [{ required: ['id'] }, { required: ['name'] }],
    }
    expect((await callOnce({ id: 'a' }, either)).got).toEqual([{ id: 'a' }])
    expect((await callOnce({ name: 'a' }, either)).got).toEqual([{ name: 'a' }])
    expect((await callOnce({}, either)).got).toEqual([])
  })

  test('"required" may name what "properties" does not describe: legal in draft 2020-12', async () => {
    const loose: JsonSchema = { type: 'object', properties: { other: { type: 'string' } }, required: ['word'] }
    expect((await callOnce({ word: 'a' }, loose)).got).toEqual([{ word: 'a' }])
    expect((await callOnce({}, loose)).got).toEqual([])
  })

  test('formats and annotations that the validator does not know are no reason to refuse a tool', async () => {
    const annotated = objectSchema({ at: { type: 'string', format: 'date-time', 'x-order': 1 }, by: { type: 'string', format: 'made-up' } })
    expect((await callOnce({ at: '2026-01-01T00:00:00Z', by: 'me' }, annotated)).got).toEqual([{ at: '2026-01-01T00:00:00Z', by: 'me' }])
  })

  test('the tool gets a copy of its own: changing it changes neither journal nor history', async () => {
    const { runtime, model, store } = world({
      steps: [{ calls: [{ tool: 'rude', input: { list: [1] } }] }, { text: 'x' }],
      tools: [
        tool('rude', {
          schema: objectSchema({ list: { type: 'array' } }),
          execute: (input) => {
            try {
              ;(input.list as number[]).push(2)
            } catch {
              // a frozen input is as good
            }
            return 'ok'
          },
        }),
      ],
    })
    const outcome = await runtime.run('go')
    const intent = ofType(await journalOf(store, outcome.sessionId), 'interaction.item.started')[0]?.item
    expect(intent).toMatchObject({ input: { list: [1] } })
    expect(JSON.stringify(model.requests[1]?.messages)).toContain('{\\"list\\":[1]}')
  })
})

describe('reason', () => {
  const schema = objectSchema({ word: { type: 'string' } }, ['word'])
  test('is in every schema offered, required there, read_output included', async () => {
    const { runtime, model } = world({
      limits: { maxOutputBytes: 1000 },
      steps: [{ calls: [{ tool: 'big' }] }, { text: 'x' }],
      tools: [
        tool('big', { execute: () => 'x'.repeat(5000) }),
        tool('plain', { schema }),
        tool('open', { schema: { type: 'object' } }),
        tool('composed', { schema: { type: 'object', allOf: [{ properties: { a: { type: 'string' } }, required: ['a'] }] } }),
        tool('closed', { schema: { ...schema, additionalProperties: false } }),
      ],
    })
    await runtime.run('go')
    const offered = model.requests[1]?.tools ?? []
    expect(offered.map(({ name }) => name)).toContain('read_output')
    for (const { name, inputSchema } of offered)
      expect(inputSchema, name).toMatchObject({ properties: { reason: { type: 'string' } }, required: expect.arrayContaining(['reason']) })
  })

  test('is stripped before the tool sees it, and is the title', async () => {
    const { got, events } = await callOnce({ word: 'a', reason: 'To know what it means' }, { ...schema, additionalProperties: false })
    expect(got).toEqual([{ word: 'a' }])
    expect(ofType(events, 'interaction.item.started').at(0)?.item).toMatchObject({ title: 'To know what it means', input: { word: 'a' } })
  })

  test('missing is fine: the call runs and is titled from the tool’s name', async () => {
    const { got, events } = await callOnce({ word: 'a' }, schema)
    expect(got).toEqual([{ word: 'a' }])
    expect(titleOf(events).toLowerCase()).toContain('target')
  })

  for (const [name, reason] of [
    ['a number', 42],
    ['null', null],
    ['an object', { a: 1 }],
    ['an empty text', ''],
  ] as const)
    test(`a reason that is ${name} is no reason to fail`, async () => {
      const { got, events } = await callOnce({ word: 'a', reason }, schema)
      expect(got).toEqual([{ word: 'a' }])
      expect(titleOf(events)).toEqual(expect.stringMatching(/\S/))
    })

  test('call_reason where a tool owns the word: the tool gets its own reason, the title is ours', async () => {
    const owns = { ...objectSchema({ reason: { type: 'integer' } }, ['reason']), additionalProperties: false }
    const { got, events, request } = await callOnce({ reason: 7, call_reason: 'To refund' }, owns)
    expect(request?.tools[0]?.inputSchema).toMatchObject({
      properties: { reason: { type: 'integer' }, call_reason: { type: 'string' } },
      required: expect.arrayContaining(['reason', 'call_reason']),
    })
    expect(got).toEqual([{ reason: 7 }])
    expect(ofType(events, 'interaction.item.started').at(0)?.item).toMatchObject({ title: 'To refund', input: { reason: 7 } })
  })

  test('a tool that owns the word behind allOf or $ref owns it too', async () => {
    const hidden: JsonSchema = {
      type: 'object',
      allOf: [{ $ref: '#/$defs/base' }],
      $defs: { base: { properties: { reason: { type: 'integer' } }, required: ['reason'] } },
    }
    const { got } = await callOnce({ reason: 7, call_reason: 'To refund' }, hidden)
    expect(got).toEqual([{ reason: 7 }])
  })

  test('the schema that the tool was made with is left as it was', async () => {
    const mine = objectSchema({ word: { type: 'string' } }, ['word'])
    const before = JSON.stringify(mine)
    await callOnce({ word: 'a' }, mine)
    expect(JSON.stringify(mine)).toBe(before)
  })
})
