import { describe, expect, test, vi } from 'vitest'
import type { JsonObject, JsonSchema, Tool, ToolContext } from '../../src/index.ts'
import { gate, ScriptedModel } from '../../src/testing/index.ts'
import { agent, bounded, expectLegal, finish, journalOf, objectSchema, ofType, resultsIn, settle, tool, until, world } from './support.ts'

vi.setConfig({ testTimeout: 15_000 })

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
  const events = await journalOf(store, outcome.treeId)
  expectLegal(events)
  expect(outcome.status).toBe('completed')
  return { got, result: resultsIn(model.requests[1])[0], request: model.requests[0], requests: model.requests, events, outcome }
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
      expect(ofType(await journalOf(store, outcome.treeId), 'interaction.item.completed')[0]?.item).toMatchObject({
        status: 'failed',
        error: { class: 'unknown_tool' },
      })
    })

  test('a name that is near to nothing is still an error that a model can act on: it lists what exists', async () => {
    const { runtime, model } = world({ steps: [{ calls: [{ tool: 'zzzzqqqq' }] }, { text: 'x' }], tools: [tool('read_file'), tool('send_mail')] })
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
    const { runtime, model, store } = world({ steps: [{ calls: names.map((name) => ({ tool: name })) }, { text: 'x' }], tools: [tool('read_file')] })
    const outcome = await runtime.run('go')
    expect(outcome.status).toBe('completed')
    expect(resultsIn(model.requests[1]).map(({ ok }) => ok)).toEqual(names.map(() => false))
    expectLegal(await journalOf(store, outcome.treeId))
  })
})

describe('parse, repair, validate arguments', () => {
  const schema = objectSchema({ word: { type: 'string' }, count: { type: 'integer' }, loud: { type: 'boolean' } }, ['word'])
  const repairable: readonly (readonly [string, string, object])[] = [
    ['a missing brace', '{"word":"a","count":2', { word: 'a', count: 2 }],
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
    test(`broken JSON is mended: ${name}`, async () => {
      const { got, result } = await callOnce(text, schema)
      expect(got, JSON.stringify(result)).toEqual([expected])
    })

  const mendable: readonly (readonly [string, object, object])[] = [
    ['"2" to 2', { word: 'a', count: '2' }, { word: 'a', count: 2 }],
    ['"true" to true', { word: 'a', loud: 'true' }, { word: 'a', loud: true }],
    ['2 to "2"', { word: 2 }, { word: '2' }],
  ]
  for (const [name, input, expected] of mendable)
    test(`ports.ts: "a type could be mended without loss": ${name}`, async () => {
      const { got, result } = await callOnce(input, schema)
      expect(got, JSON.stringify(result)).toEqual([expected])
    })

  test('a text that looks like a number stays a text where a text is asked for', async () => {
    const { got } = await callOnce({ word: '007' }, schema)
    expect(got).toEqual([{ word: '007' }])
  })
  test('a union takes what was given, as it was given', async () => {
    const { got } = await callOnce({ v: '10', w: 10 }, objectSchema({ v: { type: ['string', 'number'] }, w: { anyOf: [{ type: 'string' }, { type: 'number' }] } }))
    expect(got).toEqual([{ v: '10', w: 10 }])
  })
  for (const [name, input] of [
    ['"2.5" for an integer', { word: 'a', count: '2.5' }],
    ['"two" for an integer', { word: 'a', count: 'two' }],
    ['"maybe" for a boolean', { word: 'a', loud: 'maybe' }],
    ['an object for a string', { word: { a: 1 } }],
  ] as const)
    test(`what can not be mended without loss is an error and the tool does not run: ${name}`, async () => {
      const { got, result } = await callOnce(input, schema)
      expect(got).toEqual([])
      expect(result?.ok).toBe(false)
    })
  test('"" is not mended to 0, and "" not to false: that would be loss', async () => {
    const { got } = await callOnce({ word: 'a', count: '' }, schema)
    expect(got).toEqual([])
    const { got: other } = await callOnce({ word: 'a', loud: '' }, schema)
    expect(other).toEqual([])
  })

  test('errors name every problem at once: the place, what was expected and what was there', async () => {
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
    const { got, result } = await callOnce({ word: 'a', wrod: 'b' }, { ...objectSchema({ word: { type: 'string' } }), additionalProperties: false })
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
    test(`${name} instead of an object: invalid_input, the tool does not run, the model is told what was expected`, async () => {
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
    const intent = ofType(await journalOf(store, outcome.treeId), 'interaction.item.started')[0]?.item
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
    expect((ofType(events, 'interaction.item.started').at(0)?.item as { title: string }).title.toLowerCase()).toContain('target')
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
      expect((ofType(events, 'interaction.item.started').at(0)?.item as { title: unknown }).title).toEqual(expect.stringMatching(/\S/))
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
    const hidden: JsonSchema = { type: 'object', allOf: [{ $ref: '#/$defs/base' }], $defs: { base: { properties: { reason: { type: 'integer' } }, required: ['reason'] } } }
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

describe('hooks', () => {
  const schema = objectSchema({ path: { type: 'string' } }, ['path'])
  const hooked = async (hooks: Parameters<typeof world>[0] extends infer S ? NonNullable<S>['hooks'] : never, input: object = { path: '/a' }, more: Partial<Tool> = {}) => {
    const got: JsonObject[] = []
    const { runtime, model, store } = world({
      ...(hooks && { hooks }),
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
    const outcome = await bounded(runtime.run('go'), 'the run with hooks')
    const events = await journalOf(store, outcome.treeId)
    expectLegal(events)
    return { got, model, events, outcome, result: resultsIn(model.requests[1])[0], hook: ofType(events, 'interaction.hook.completed') }
  }

  test('change: the tool gets the changed input, the intent shows it, the journal names the hook', async () => {
    const { got, events, hook } = await hooked([
      { name: 'rewrite', onFailure: 'closed', beforeCall: () => ({ kind: 'change', input: { path: '/b' }, reason: 'Stay inside' }) },
    ])
    expect(got).toEqual([{ path: '/b' }])
    expect(ofType(events, 'interaction.item.started')[0]?.item).toMatchObject({ input: { path: '/b' } })
    expect(hook).toMatchObject([{ hook: 'rewrite', verdict: 'changed', message: 'Stay inside' }])
  })

  test('validate again: a change that does not fit the schema never reaches the tool', async () => {
    const { got, result } = await hooked([{ name: 'rewrite', onFailure: 'open', beforeCall: () => ({ kind: 'change', input: { path: 7, x: {} } as never, reason: 'r' }) }], { path: '/a' }, { inputSchema: { ...schema, additionalProperties: false } })
    expect(got).toEqual([])
    expect(result?.ok).toBe(false)
  })

  test('approval sees the changed arguments, exactly', async () => {
    const asked: unknown[] = []
    const got: JsonObject[] = []
    const { runtime } = world({
      hooks: [{ name: 'rewrite', onFailure: 'closed', beforeCall: () => ({ kind: 'change', input: { path: '/b' }, reason: 'r' }) }],
      approver: {
        review: (request) => {
          asked.push(request.input)
          return { kind: 'approve', breadth: 'once', by: 'me' }
        },
      },
      steps: [{ calls: [{ tool: 'target', input: { path: '/a' } }] }, { text: 'x' }],
      tools: [
        tool('target', {
          schema,
          approval: ({ path }) => ({ keys: [{ key: `path:${path}`, label: String(path) }], summary: `Write ${path}` }),
          execute: (input) => {
            got.push(input)
            return 'ok'
          },
        }),
      ],
    })
    await bounded(runtime.run('go'))
    expect(asked).toEqual([{ path: '/b' }])
    expect(got).toEqual([{ path: '/b' }])
  })

  test('block: the tool does not run and the model is told why', async () => {
    const { got, result, events, hook } = await hooked([{ name: 'guard', onFailure: 'closed', beforeCall: () => ({ kind: 'block', reason: 'Not on a Sunday' }) }])
    expect(got).toEqual([])
    expect(result).toMatchObject({ ok: false, content: expect.stringContaining('Not on a Sunday') })
    expect(ofType(events, 'interaction.item.completed')[0]?.item).toMatchObject({ error: { class: 'blocked' } })
    expect(hook).toMatchObject([{ hook: 'guard', verdict: 'blocked' }])
  })

  for (const [name, crash] of [
    ['throws', () => { throw new Error('hook broke') }],
    ['rejects', () => Promise.reject(new Error('hook broke'))],
    ['throws nothing', () => { throw undefined }],
    ['answers nonsense', () => ({ kind: 'banana' }) as never],
  ] as const) {
    test(`a hook that ${name}, onFailure closed: the call is blocked`, async () => {
      const { got, hook, result } = await hooked([{ name: 'shaky', onFailure: 'closed', beforeCall: crash }])
      expect(got).toEqual([])
      expect(result?.ok).toBe(false)
      expect(hook).toMatchObject([{ hook: 'shaky', verdict: 'failed' }])
    })
    test(`a hook that ${name}, onFailure open: the call goes through`, async () => {
      const { got, hook, outcome } = await hooked([{ name: 'shaky', onFailure: 'open', beforeCall: crash }])
      expect(got).toEqual([{ path: '/a' }])
      expect(outcome.status).toBe('completed')
      if (name !== 'answers nonsense') expect(hook).toMatchObject([{ hook: 'shaky', verdict: 'failed' }])
    })
  }

  test('context: what a hook adds is in the journal and in the next request', async () => {
    const { model, hook } = await hooked([{ name: 'linter', onFailure: 'open', afterCall: () => ({ kind: 'context', text: 'Line 3 is too long.' }) }])
    expect(JSON.stringify(model.requests[1]?.messages)).toContain('Line 3 is too long.')
    expect(hook).toMatchObject([{ hook: 'linter', verdict: 'context', message: 'Line 3 is too long.' }])
  })

  test('an afterCall that throws does not cost the result, which is there already', async () => {
    for (const onFailure of ['open', 'closed'] as const) {
      const { outcome, result, got } = await hooked([
        {
          name: 'shaky',
          onFailure,
          afterCall: () => {
            throw new Error('after broke')
          },
        },
      ])
      expect(got).toHaveLength(1)
      expect(outcome.status).toBe('completed')
      if (onFailure === 'open') expect(result).toMatchObject({ ok: true, content: expect.stringContaining('ok') })
    }
  })

  test('hooks run in their order, each on what the one before left; after a block the later ones are not asked', async () => {
    const seen: unknown[] = []
    const append = (name: string) => ({
      name,
      onFailure: 'closed' as const,
      beforeCall: ({ input }: { input: JsonObject }) => {
        seen.push([name, input.path])
        return name === 'three' ? ({ kind: 'block', reason: 'stop' } as const) : ({ kind: 'change', input: { path: `${input.path}/${name}` }, reason: name } as const)
      },
    })
    const { got } = await hooked([append('one'), append('two'), append('three'), append('four')])
    expect(seen).toEqual([
      ['one', '/a'],
      ['two', '/a/one'],
      ['three', '/a/one/two'],
    ])
    expect(got).toEqual([])
  })

  test('a hook sees the input without reason, and changing it in place changes nothing', async () => {
    const seen: unknown[] = []
    const { got } = await hooked(
      [
        {
          name: 'rude',
          onFailure: 'open',
          beforeCall: ({ input }) => {
            seen.push(structuredClone(input))
            try {
              ;(input as { path: string }).path = '/stolen'
            } catch {
              // frozen is as good
            }
            return { kind: 'continue' }
          },
        },
      ],
      { path: '/a', reason: 'Why' },
    )
    expect(seen).toEqual([{ path: '/a' }])
    expect(got).toEqual([{ path: '/a' }])
  })

  const never = (): Promise<never> => new Promise(() => undefined)
  const stuck: { [what: string]: Parameters<typeof world>[0] } = {
    'a hook before the call': { hooks: [{ name: 'stuck', onFailure: 'closed', beforeCall: never }], tools: [tool('target')] },
    'a hook after the call': { hooks: [{ name: 'stuck', onFailure: 'closed', afterCall: never }], tools: [tool('target')] },
    'a tool’s approval()': { tools: [tool('target', { approval: never })] },
    'a tool’s view()': { tools: [tool('target', { view: never })] },
    'a tool’s key()': { tools: [tool('target', { concurrency: { key: never } })] },
    'an approver': { tools: [tool('target', { approval: () => ({ keys: [], summary: 's' }) })], approver: { review: never } },
  }
  for (const [what, setup] of Object.entries(stuck))
    test(`core.md, cancel: "interrupt = signal, grace, kill" also while ${what} never answers`, async () => {
      const { runtime, model, store, clock } = world({ ...setup, steps: [{ calls: [{ tool: 'target' }] }] })
      const handle = runtime.stream('go')
      await until('asked', () => model.requests.length === 1)
      await settle(10)
      await handle.interrupt()
      for (let i = 0; i < 20; i += 1) await clock.elapse(1000)
      const outcome = await bounded(handle.outcome, 'the outcome', 2000)
      expect(outcome.status).toBe('interrupted')
      expectLegal(await journalOf(store, handle.treeId))
    })
})

describe('parallel calls run together where their gates allow', () => {
  /** Runs calls that note when they are entered and left; all leave when released. */
  const stage = (definitions: { [name: string]: Partial<Tool> }, calls: { tool: string; input?: object }[], limits = {}) => {
    const log: string[] = []
    const doors: { [name: string]: ReturnType<typeof gate> } = {}
    let count = 0
    const tools = Object.entries(definitions).map(([name, more]) => ({
      ...tool(name, { schema: { type: 'object' } }),
      execute: async (input: JsonObject) => {
        count += 1
        const id = `${name}${input.n ?? ''}`
        doors[id] = gate()
        log.push(`+${id}`)
        await doors[id]?.promise
        log.push(`-${id}`)
        return id
      },
      ...more,
    }))
    const made = world({ steps: [{ calls }, { text: 'x' }], tools, limits })
    const handle = made.runtime.stream('go')
    const leave = async (id: string) => {
      await until(`${id} entered`, () => doors[id])
      doors[id]?.open()
      await until(`${id} left`, () => log.includes(`-${id}`))
      await settle(10)
    }
    return { ...made, handle, log, leave, entered: (n: number) => until(`${n} calls entered`, () => count >= n) }
  }

  test('shared together', async () => {
    const { entered, log, leave, handle } = stage({ s: { concurrency: 'shared' } }, [1, 2, 3].map((n) => ({ tool: 's', input: { n } })))
    await entered(3)
    expect(log).toEqual(['+s1', '+s2', '+s3'])
    for (const id of ['s1', 's2', 's3']) await leave(id)
    expect((await finish(handle)).status).toBe('completed')
  })

  test('up to the cap (parallelToolCalls)', async () => {
    const { entered, log, leave, handle } = stage({ s: { concurrency: 'shared' } }, [1, 2, 3].map((n) => ({ tool: 's', input: { n } })), { parallelToolCalls: 2 })
    await entered(2)
    await settle(20)
    expect(log).toEqual(['+s1', '+s2'])
    await leave('s2')
    await entered(3)
    expect(log).toEqual(['+s1', '+s2', '-s2', '+s3'])
    await leave('s1')
    await leave('s3')
    await finish(handle)
  })

  test('equal keys not with each other, different keys together; the key may be a promise', async () => {
    const { entered, log, leave, handle } = stage({ k: { concurrency: { key: async ({ file }) => String(file) } } }, [
      { tool: 'k', input: { n: 1, file: 'a' } },
      { tool: 'k', input: { n: 2, file: 'a' } },
      { tool: 'k', input: { n: 3, file: 'b' } },
    ])
    await entered(2)
    await settle(20)
    expect(log).toEqual(['+k1', '+k3'])
    await leave('k1')
    await entered(3)
    expect(log).toEqual(['+k1', '+k3', '-k1', '+k2'])
    await leave('k2')
    await leave('k3')
    await finish(handle)
  })

  test('exclusive (the default) with none, wherever it stands', async () => {
    const { entered, log, leave, handle } = stage({ s: { concurrency: 'shared' }, e: {}, k: { concurrency: { key: () => 'x' } } }, [
      { tool: 's', input: { n: 1 } },
      { tool: 'e', input: { n: 1 } },
      { tool: 's', input: { n: 2 } },
      { tool: 'k', input: { n: 1 } },
    ])
    const all = ['s1', 'e1', 's2', 'k1']
    for (let round = 0; round < 4; round += 1) {
      await settle(10)
      const open = log.filter((line) => line.startsWith('+') && !log.includes(`-${line.slice(1)}`)).map((line) => line.slice(1))
      expect(open.length).toBeGreaterThan(0)
      if (open.includes('e1')) expect(open).toEqual(['e1'])
      await leave(open[0] as string)
    }
    await entered(4)
    expect(new Set(log.map((line) => line.slice(1)))).toEqual(new Set(all))
    expect((await finish(handle)).status).toBe('completed')
  })

  test('a key that throws or is no text costs that call, not the session', async () => {
    const { runtime, model } = world({
      steps: [{ calls: [{ tool: 'k' }, { tool: 'n' }, { tool: 'ok' }] }, { text: 'x' }],
      tools: [
        tool('k', {
          concurrency: {
            key: () => {
              throw new Error('no key')
            },
          },
        }),
        tool('n', { concurrency: { key: () => ({}) as never } }),
        tool('ok'),
      ],
    })
    const outcome = await bounded(runtime.run('go'))
    expect(outcome.status).toBe('completed')
    expect(resultsIn(model.requests[1])[2]?.ok).toBe(true)
  })
})

describe('gating by model ability and feature flag', () => {
  const gated = [
    tool('look_at', { requires: [{ ability: 'images' }] }),
    tool('risky', { requires: [{ flag: 'risky' }] }),
    tool('both', { requires: [{ ability: 'images' }, { flag: 'risky' }] }),
    tool('plain'),
  ]
  const offered = async (abilities: readonly ('tools' | 'images')[], features?: { [flag: string]: boolean }) => {
    const model = new ScriptedModel([{ text: 'x' }], { abilities })
    const { runtime } = world({ adapter: model, tools: gated, config: features ? { features } : {} })
    const outcome = await runtime.run('go')
    expect(outcome.status).toBe('completed')
    return model.requests[0]?.tools.map(({ name }) => name)
  }
  test('neither', async () => expect(await offered(['tools'])).toEqual(['plain']))
  test('the ability', async () => expect(await offered(['tools', 'images'])).toEqual(['look_at', 'plain']))
  test('the flag', async () => expect(await offered(['tools'], { risky: true })).toEqual(['plain', 'risky']))
  test('a flag that is off', async () => expect(await offered(['tools', 'images'], { risky: false })).toEqual(['look_at', 'plain']))
  test('both', async () => expect(await offered(['tools', 'images'], { risky: true })).toEqual(['both', 'look_at', 'plain', 'risky']))
  test('a model that can not use tools is offered none', async () => expect(await offered([])).toEqual([]))

  test('a tool behind a gate does not run although the model names it', async () => {
    let ran = 0
    const { runtime, model } = world({
      steps: [{ calls: [{ tool: 'risky' }] }, { text: 'x' }],
      tools: [
        tool('risky', {
          requires: [{ flag: 'risky' }],
          execute: () => {
            ran += 1
            return 'ran'
          },
        }),
        tool('plain'),
      ],
    })
    await runtime.run('go')
    expect(ran).toBe(0)
    expect(resultsIn(model.requests[1])[0]?.ok).toBe(false)
  })

  test('instructions of a tool are added to the prompt of every agent that is offered it, and of no other', async () => {
    const { runtime, model } = world({
      steps: [{ text: 'x' }],
      tools: [tool('plain', { instructions: 'Use plain with care.' }), tool('risky', { requires: [{ flag: 'risky' }], instructions: 'Risky business.' })],
    })
    await runtime.run('go')
    expect(model.requests[0]?.system).toContain('You are a clerk.')
    expect(model.requests[0]?.system).toContain('Use plain with care.')
    expect(model.requests[0]?.system).not.toContain('Risky business.')
  })

  test('"The library adds nothing to the prompt but what agent, tools, skills and context supply"', async () => {
    const { runtime, model } = world({ steps: [{ text: 'x' }] })
    await runtime.run('go')
    expect(model.requests[0]).toEqual({
      system: 'You are a clerk.',
      messages: [{ role: 'user', parts: [{ type: 'text', text: 'go' }] }],
      tools: [],
      toolChoice: 'auto',
      parameters: {},
    })
  })
})

describe('ToolContext', () => {
  test('has signal, call id, attempt, overlay, remaining budget, confinement, progress', async () => {
    const contexts: ToolContext[] = []
    const { runtime } = world({
      config: { overlay: { CITY: 'Oslo' } },
      limits: { maxToolTurns: 5, maxCalls: 4, maxTokens: 100_000, timeBudget: 60_000 },
      steps: [{ calls: [{ tool: 'a' }, { tool: 'a' }], usage: { input: 10, output: 10 } }, { calls: [{ tool: 'a' }] }, { text: 'x' }],
      tools: [
        tool('a', {
          execute: (_, context) => {
            contexts.push({ ...context, remaining: context.remaining, overlay: context.overlay, callId: context.callId, signal: context.signal, confinement: context.confinement, attempt: context.attempt } as ToolContext)
            return 'ok'
          },
        }),
      ],
    })
    await runtime.run('go')
    expect(contexts).toHaveLength(3)
    expect(contexts[0]).toMatchObject({ attempt: 1, overlay: { CITY: 'Oslo' }, confinement: { kind: 'none' } })
    expect(contexts[0]?.signal.aborted).toBe(false)
    expect(new Set(contexts.map(({ callId }) => callId)).size, 'unique everywhere').toBe(3)
    const remaining = contexts.map((context) => context.remaining)
    expect(remaining[2]?.steps).toBeLessThan(remaining[0]?.steps as number)
    expect(remaining[2]?.calls).toBeLessThan(remaining[0]?.calls as number)
    expect(remaining[0]?.tokens).toBeLessThan(100_000)
    expect(remaining[0]?.timeMs).toBeLessThanOrEqual(60_000)
  })

  test('call ids differ between sessions of one store', async () => {
    const ids: string[] = []
    const { runtime } = world({
      steps: [{ calls: [{ tool: 'a' }] }, { text: 'x' }, { calls: [{ tool: 'a' }] }, { text: 'x' }],
      tools: [
        tool('a', {
          execute: (_, { callId }) => {
            ids.push(callId)
            return 'ok'
          },
        }),
      ],
    })
    await runtime.run('go')
    await runtime.run('go')
    expect(new Set(ids).size).toBe(2)
  })

  test('the overlay can not be changed by a tool', async () => {
    const seen: string[] = []
    const { runtime } = world({
      config: { overlay: { CITY: 'Oslo' } },
      steps: [{ calls: [{ tool: 'a' }, { tool: 'a' }] }, { text: 'x' }],
      tools: [
        tool('a', {
          execute: (_, { overlay }) => {
            seen.push(String(overlay.CITY))
            try {
              ;(overlay as { CITY: string }).CITY = 'Bergen'
            } catch {
              // frozen is as good
            }
            return 'ok'
          },
        }),
      ],
    })
    await runtime.run('go')
    expect(seen).toEqual(['Oslo', 'Oslo'])
  })

  test('view: how people see it is the item’s type and details', async () => {
    const { runtime, store } = world({
      steps: [{ calls: [{ tool: 'sh', input: { command: 'ls' } }] }, { text: 'x' }],
      tools: [tool('sh', { schema: { type: 'object' }, view: ({ command }) => ({ type: 'command_execution', details: { command: String(command) } }) })],
    })
    const { treeId } = await runtime.run('go')
    const events = await journalOf(store, treeId)
    expect(ofType(events, 'interaction.item.started')[0]?.item).toMatchObject({ type: 'command_execution', details: { command: 'ls' } })
    expect(ofType(events, 'interaction.item.completed')[0]?.item).toMatchObject({ type: 'command_execution', status: 'completed' })
  })

  test('a view that throws or answers nonsense does not cost the call', async () => {
    for (const view of [
      () => {
        throw new Error('no view')
      },
      () => ({ type: 'banana' }) as never,
      () => undefined as never,
    ]) {
      const { runtime, model, store } = world({ steps: [{ calls: [{ tool: 'sh' }] }, { text: 'x' }], tools: [tool('sh', { view })] })
      const outcome = await bounded(runtime.run('go'))
      expect(outcome.status).toBe('completed')
      expect(resultsIn(model.requests[1])[0]?.ok, String(view)).toBe(true)
      expect(ofType(await journalOf(store, outcome.treeId), 'interaction.item.started')[0]?.item.type).toBe('tool_call')
    }
  })
})
