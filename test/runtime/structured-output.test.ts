import { describe, expect, it } from 'vitest'
import { exitCodeOf } from '../../src/cli/terminal/exit-codes.ts'
import type { AgentDefinition } from '../../src/runtime/index.ts'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { ScriptedModel, type ScriptedStep } from '../../src/testing/index.ts'
import { tool } from './helpers.ts'

const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, nights: { type: 'integer', minimum: 1 } },
  required: ['city', 'nights'],
  additionalProperties: false,
}
const right = '{"city":"Oslo","nights":2}'

function clerk(steps: readonly ScriptedStep[], more: Partial<AgentDefinition> = {}) {
  const model = new ScriptedModel(steps)
  const agent = { name: 'clerk', description: 'd', prompt: 'p', model: 'm', output: { format: 'json', schema }, ...more } as const
  const store = memoryStore()
  const runtime = createAgentRuntime({ config: { agents: [agent], tools: [tool('look')] }, adapter: model, store })
  return { model, store, runtime, run: () => runtime.run('A weekend in Oslo') }
}

describe('an answer of blanks', () => {
  it.each([' ', '\n\n', '\t \u00a0\ufeff', '\u200b\ufeff', '\u2060\u3164\ufe0f\u0000'])('is none: %j is asked for again', async (text) => {
    const output = { format: 'text' } as const
    const { run, model } = clerk([{ text }, { text: 'Here.' }], { output, limits: { maxRetries: 1 } })
    expect(await run()).toMatchObject({ status: 'completed', report: { text: 'Here.' } })
    model.assertDone()
    const never = await clerk([{ text }, { text }], { output, limits: { maxRetries: 1 } }).run()
    expect(never).toMatchObject({ status: 'failed', failure: { class: 'invalid_response', message: 'The reply was empty.' } })
    expect(never.report).toBeUndefined()
  })
})

describe('arguments of a call', () => {
  it('are never changed: a large integer is sent back, also inside of a text that holds JSON', async () => {
    const seen: unknown[] = []
    const pay = tool('pay', {
      inputSchema: { type: 'object', properties: { id: { type: 'string' }, ids: { type: 'array' } } },
      execute: (input) => {
        seen.push(input)
        return 'ok'
      },
    })
    const call = (input: string) => ({ calls: [{ tool: 'pay', input }] })
    const model = new ScriptedModel([
      call('{"id": 12345678901234567890}'),
      call('{"ids": "[12345678901234567890]"}'),
      call('{"id": "12345678901234567890"}'),
      { text: 'Done.' },
    ])
    const agents = [{ name: 'clerk', description: 'd', prompt: 'p', model: 'm' }]
    expect((await createAgentRuntime({ config: { agents, tools: [pay] }, adapter: model }).run('Go')).status).toBe('completed')
    expect(seen).toEqual([{ id: '12345678901234567890' }])
    expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain(
      'the number 12345678901234567890 has too many digits to be exact; send it as a string',
    )
  })

  it.each(['{"id": -1e400}', '{id: -1e400,}', '{"id": "-1e400"}', '{"ids": "[1, 1.5E+999]"}'])(
    'never hands infinity to a tool, but refuses it: %s',
    async (input) => {
      const seen: unknown[] = []
      const pay = tool('pay', {
        inputSchema: {
          type: 'object',
          properties: { id: { type: 'integer', maximum: 100 }, ids: { type: 'array', items: { type: 'number' } } },
        },
        execute: (given) => {
          seen.push(given)
          return 'paid'
        },
      })
      const model = new ScriptedModel([{ calls: [{ tool: 'pay', input }] }, { text: 'Done.' }])
      const agents = [{ name: 'clerk', description: 'd', prompt: 'p', model: 'm' }]
      const { accounting } = await createAgentRuntime({ config: { agents, tools: [pay] }, adapter: model }).run('Go')
      expect(seen).toEqual([])
      expect(accounting.find(({ kind }) => kind === 'call')).toMatchObject({ status: 'failed', error: 'invalid_input' })
    },
  )
})

describe('an agent whose output is text', () => {
  it.each([
    [{ format: 'text' } as const, 'p\n\nAnswer in plain text, without Markdown.'],
    [{ format: 'markdown' } as const, 'p'],
    [undefined, 'p'],
  ])('%j: the model is asked for it', async (output, system) => {
    const model = new ScriptedModel([{ text: 'Oslo.' }])
    const agent = { name: 'clerk', description: 'd', prompt: 'p', model: 'm', ...(output && { output }) } as const
    const outcome = await createAgentRuntime({ config: { agents: [agent] }, adapter: model }).run('Where?')
    expect([model.requests[0]?.system, outcome.report?.format]).toEqual([system, output?.format ?? 'markdown'])
  })
})

describe('an agent whose output is JSON', () => {
  it('asks for the schema and reports the value', async () => {
    const { run, model } = clerk([{ text: right }])
    const outcome = await run()
    expect(outcome).toMatchObject({ status: 'completed', report: { format: 'json', text: right, value: { city: 'Oslo', nights: 2 } } })
    expect(model.requests[0]?.output).toEqual({ schema })
  })

  it('may say its schema alone, as in a file', async () => {
    const { run, model } = clerk([{ text: right }], { output: { schema } })
    expect(await run()).toMatchObject({ status: 'completed', report: { format: 'json', value: { city: 'Oslo', nights: 2 } } })
    expect(model.requests[0]?.output).toEqual({ schema })
    const nothing = () => clerk([], { output: { schema: undefined } as never })
    expect(nothing).toThrow(/output\.format: expected one of text, markdown, json, found nothing/)
  })

  it('may be called with JSON by a schema alone, too', async () => {
    const model = new ScriptedModel([
      { calls: [{ tool: 'agent__scout', input: { city: 'Oslo', nights: 2 } }] },
      { text: 'Found.' },
      { text: 'Done.' },
    ])
    const agent = { description: 'd', prompt: 'p', model: 'm' }
    const agents = [
      { ...agent, name: 'boss', agents: ['scout'] },
      { ...agent, name: 'scout', input: { schema } },
    ]
    expect((await createAgentRuntime({ config: { agents }, adapter: model }).run('Go')).status).toBe('completed')
    expect(model.requests[0]?.tools[0]?.inputSchema).toMatchObject({ required: expect.arrayContaining(['city', 'nights']) })
  })

  const accepted: [string, string][] = [
    ['in a fence', `\`\`\`json\n${right}\n\`\`\``],
    ['between words', `Here you are: ${right}. Enjoy.`],
    ['broken so that it can be mended', "{city: 'Oslo', 'nights': 2,}"],
    ['with a number as text', '{"city":"Oslo","nights":"2"}'],
  ]
  it.each(accepted)('takes JSON %s', async (_, text) => {
    const { run, model } = clerk([{ text }])
    expect((await run()).report).toEqual({ format: 'json', text: right, value: { city: 'Oslo', nights: 2 } })
    model.assertDone()
  })

  it.each([
    ['[1, 2,]', [1, 2]],
    ['[{a: 1}]', [{ a: 1 }]],
  ])('repairs the list %s', async (text, value) => {
    const list = { format: 'json', schema: { type: 'array' } } as const
    expect((await clerk([{ text }], { output: list }).run()).report).toMatchObject({ value })
  })

  it('never makes JSON of prose', async () => {
    const { run, model } = clerk([{ text: 'I think { is a brace. It is fine.' }, { text: '{"a":1}' }], { output: { format: 'json' } })
    expect((await run()).report).toMatchObject({ value: { a: 1 } })
    model.assertDone()
  })

  it('sends an answer back with what is wrong with it', async () => {
    const { run, model } = clerk([{ text: '{"city":"Oslo"}' }, { text: 'Sorry, no.' }, { text: right }])
    const outcome = await run()
    expect(outcome).toMatchObject({ status: 'completed', report: { value: { city: 'Oslo', nights: 2 } } })
    const [, second, third] = model.requests
    expect(second?.messages.at(-2)).toEqual({ role: 'assistant', parts: [{ type: 'text', text: '{"city":"Oslo"}' }] })
    expect(second?.messages.at(-1)).toEqual({
      role: 'user',
      parts: [
        {
          type: 'text',
          text: 'Your answer is invalid: missing required "nights" (integer). Answer again with the corrected JSON and nothing else.',
        },
      ],
    })
    expect(third?.messages.at(-1)).toMatchObject({ parts: [{ text: expect.stringContaining('it is not JSON') }] })
  })

  it('fails with the last text kept when the retries are used up', async () => {
    const { run, model } = clerk([{ text: 'one' }, { text: 'two' }, { text: 'three' }], { limits: { maxRetries: 2 } })
    expect(await run()).toMatchObject({
      status: 'failed',
      reason: 'invalid_output',
      message: 'The answer is not the requested JSON: it is not JSON.',
      report: { format: 'text', text: 'three' },
    })
    model.assertDone()
  })

  it('does not take an answer that was cut at its length limit, and reports it', async () => {
    const { run, model } = clerk([{ text: right, finish: 'length' }, { text: right }])
    expect(await run()).toMatchObject({ status: 'completed', report: { value: { nights: 2 } } })
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({ parts: [{ text: expect.stringContaining('cut at its output limit') }] })
  })

  it('says what to do about answers that are always cut', async () => {
    const cut = { text: right, finish: 'length' } as const
    expect(await clerk([cut, cut], { limits: { maxRetries: 1 } }).run()).toMatchObject({
      status: 'failed',
      remedy: 'Raise maxOutputTokens.',
    })
  })

  it('checks only answers: what comes with calls is not one', async () => {
    const { run } = clerk([{ text: 'Let me look.', calls: [{ tool: 'look', input: { q: 'x' } }] }, { text: right }])
    expect(await run()).toMatchObject({ status: 'completed', report: { format: 'json' } })
  })

  it('reports a forced last answer that fits as partial, and one that does not as a failure', async () => {
    const call = { calls: [{ tool: 'look', input: { q: 'x' } }] }
    const limits = { maxToolTurns: 1 }
    expect(await clerk([call, { text: right }], { limits }).run()).toMatchObject({
      status: 'partial',
      reason: 'steps',
      report: { value: {} },
    })
    const once = { ...limits, maxRetries: 0 }
    expect(await clerk([call, { text: 'no' }], { limits: once }).run()).toMatchObject({
      status: 'failed',
      reason: 'steps',
      message: expect.stringContaining('limits.maxToolTurns of clerk is 1'),
      remedy: expect.stringContaining('--max-steps'),
    })
  })

  it.each(['json', 'text'] as const)('names the limit where the model gives no last answer (%s)', async (format) => {
    const call = { calls: [{ tool: 'look', input: { q: 'x' } }] }
    const output = format === 'json' ? { format, schema } : { format }
    for (const none of [call, { text: ' ' }]) {
      const steps = await clerk([call, none, none], { output, limits: { maxToolTurns: 1, maxRetries: 1 } }).run()
      expect(steps).toMatchObject({
        status: 'failed',
        reason: 'steps',
        message: expect.stringContaining('limits.maxToolTurns of clerk is 1'),
        remedy: expect.stringContaining('--max-steps'),
        diagnostics: [{ code: 'limit_reached' }],
      })
      expect(exitCodeOf(steps)).toBe(5)
      const tokens = await clerk([none], { output, limits: { maxTokens: 1_200, maxRetries: 0 } }).run()
      expect(tokens).toMatchObject({ status: 'failed', reason: 'tokens', remedy: expect.stringContaining('--max-tokens') })
    }
    const cut = await clerk([call, { fault: 'cut' }], { output, limits: { maxToolTurns: 1, maxRetries: 0 } }).run()
    expect([cut.reason, cut.remedy], 'a provider that fails is no limit').toEqual(['model', expect.stringContaining('Try again')])
  })

  it('repairs a forced last answer, and sends it back as often as any other', async () => {
    const call = { calls: [{ tool: 'look', input: { q: 'x' } }] }
    const limits = { maxToolTurns: 1, maxRetries: 2 }
    const value = { city: 'Oslo', nights: 2 }
    expect((await clerk([call, { text: "{city: 'Oslo', 'nights': 2,}" }], { limits }).run()).report).toMatchObject({ value })
    const { run, model } = clerk([call, { text: 'no' }, { text: '{"city":"Oslo"}' }, { text: right }], { limits })
    expect((await run()).report).toMatchObject({ value })
    expect(model.requests[3]?.messages.at(-1)).toMatchObject({ parts: [{ text: expect.stringContaining('missing required "nights"') }] })
    expect(model.requests[3]?.toolChoice).toBe('none')
    const never = clerk([call, { text: 'no' }, { text: 'no' }, { text: 'no' }], { limits })
    expect((await never.run()).status).toBe('failed')
    never.model.assertDone()
  })

  it('turns to the next model when one keeps giving answers that do not fit', async () => {
    const models = { a: new ScriptedModel([{ text: 'no' }, { text: 'no' }]), b: new ScriptedModel([{ text: '{}' }, { text: right }]) }
    const agent = { name: 'clerk', description: 'd', prompt: 'p', models: ['a', 'b'], output: { format: 'json', schema } } as const
    const adapter = { resolve: (name: string) => models[name as keyof typeof models] }
    const outcome = await createAgentRuntime({ config: { agents: [agent], limits: { maxRetries: 1, maxToolTurns: 2 } }, adapter }).run('Go')
    expect(outcome).toMatchObject({ status: 'completed', report: { value: { city: 'Oslo', nights: 2 } } })
    for (const model of Object.values(models)) model.assertDone()
  })

  const whole = { format: 'json', schema: { type: 'object', properties: { id: { type: ['string', 'integer'] } } } } as const
  it.each([
    ['plain', '{"id":12345678901234567890}'],
    ['in a fence', '```json\n{"id": 12345678901234567890}\n```'],
    ['in JSON that needs repair', '{id: 12345678901234567890,}'],
    ['beyond any number', `{"id":${'9'.repeat(400)}}`],
  ])('never changes a large integer, but has it sent as a string: %s', async (_, text) => {
    const { run, model } = clerk([{ text }, { text: '{"id":"12345678901234567890"}' }], { output: whole })
    expect((await run()).report).toMatchObject({ text: '{"id":"12345678901234567890"}', value: { id: '12345678901234567890' } })
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({
      parts: [{ text: expect.stringMatching(/the number \d+ has too many digits to be exact; send it as a string/) }],
    })
  })

  it.each(['{"id":9007199254740993.0e-1}', '{"id":9007199254740992}', '{"id":"12345678901234567890"}'])(
    'takes %s as it is',
    async (text) => {
      const { run, model } = clerk([{ text }], { output: { format: 'json' } })
      expect((await run()).status).toBe('completed')
      model.assertDone()
    },
  )

  it('names the right properties where a schema is put together from others', async () => {
    const { additionalProperties: _, ...open } = schema
    const joined = { format: 'json', schema: { $defs: { trip: open }, $ref: '#/$defs/trip', unevaluatedProperties: false } } as const
    const { run, model } = clerk([{ text: '{"city":"Oslo","nights":2,"citty":"x"}' }, { text: right }], { output: joined })
    expect((await run()).status).toBe('completed')
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({
      parts: [{ text: expect.stringContaining('unknown property "citty"; did you mean "city"? Allowed: city, nights') }],
    })
  })

  it('takes any JSON if there is no schema, and a list where the schema says so', async () => {
    expect((await clerk([{ text: '[1, null]' }], { output: { format: 'json' } }).run()).report).toMatchObject({ value: [1, null] })
    const list = { format: 'json', schema: { type: 'array', items: { type: 'integer' } } } as const
    expect((await clerk([{ text: '["x"]' }, { text: '[1]' }], { output: list }).run()).report).toMatchObject({ value: [1] })
  })

  it('continues with the next turn from what was said', async () => {
    const { runtime, model } = clerk([{ text: 'no' }, { text: right }, { text: right }])
    const first = await runtime.run('One')
    const handle = await runtime.open(first.sessionId)
    await handle.send('Two')
    expect(await handle.outcome).toMatchObject({ status: 'completed', report: { format: 'json' } })
    expect(model.requests[2]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user'])
  })

  it('is refused with a wrong contract, all problems together', () => {
    const wrong = { format: 'xml', schema: { type: 'objct' } } as unknown as { format: 'json' }
    const agent = { name: 'a', description: 'd', prompt: 'p', model: 'm', output: wrong, parameters: { reasoning: 'lots', cache: 1 } }
    const make = () => createAgentRuntime({ config: { agents: [agent as unknown as AgentDefinition] }, adapter: new ScriptedModel([]) })
    expect(make).toThrow(/output\.format: expected one of text, markdown, json[\s\S]*output\.schema/)
    expect(make).toThrow(/parameters\.reasoning: expected one of none[\s\S]*parameters\.cache: expected true or false/)
  })
})
