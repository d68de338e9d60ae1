/* Issue 3, Deliver 3: structured output: the provider's schema mode, validation, repair, code fences, truncation. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { createAgentRuntime, type JsonObject, type OutputContract } from '../../src/index.ts'
import { modelAdapter } from '../../src/models/index.ts'
import { FakeClock, ScriptedModel, type ScriptedStepSource } from '../../src/testing/index.ts'
import { agent, bounded, collect, durable, elapsing, everything, ofType, requestText, tool, troupeError, world } from './support.ts'
import { anthropic, gemini, lab, openAiChat, openAiResponses, openRouter, optionsFor, provider, reply, type Wire } from './wire.ts'

const schema: JsonObject = {
  type: 'object',
  properties: { country: { type: 'string' }, people: { type: 'integer', minimum: 0 } },
  required: ['country', 'people'],
  additionalProperties: false,
}
const good = '{"country":"Norway","people":5600000}'
const value = { country: 'Norway', people: 5600000 }

async function answered(steps: readonly ScriptedStepSource[], output: OutputContract = { format: 'json', schema }, maxRetries = 2) {
  const { runtime, model, clock } = world({
    steps,
    config: { agents: [{ ...agent, output, limits: { maxRetries } }], tools: [tool('act')] },
  })
  const handle = runtime.stream('go')
  const all = collect(handle)
  const outcome = await elapsing(clock, handle.outcome)
  return { outcome, model, events: durable(await all) }
}

describe('the schema mode of the provider', () => {
  const bodyOf = async (wire: Wire, contract: OutputContract = { format: 'json', schema }) => {
    const server = await provider(reply(wire, { text: good }))
    const runtime = createAgentRuntime({
      clock: new FakeClock(),
      adapter: modelAdapter(optionsFor(wire, server.url)),
      config: { agents: [{ ...agent, model: wire.model, output: contract }] },
    })
    onTestFinished(() => runtime.close())
    const outcome = await bounded(runtime.run('Where is Oslo?'))
    expect(outcome).toMatchObject({ status: 'completed', report: { format: 'json', value } })
    return server.asked[0]?.body
  }
  test('OpenAI chat is given the schema', async () => {
    expect(await bodyOf(openAiChat)).toMatchObject({ response_format: { type: 'json_schema', json_schema: { schema, strict: true } } })
  })
  test('OpenAI responses is given the schema', async () => {
    expect(await bodyOf(openAiResponses)).toMatchObject({ text: { format: { type: 'json_schema', schema, strict: true } } })
  })
  test('OpenAI is not held to the letter where its strict mode would refuse the schema', async () => {
    const loose = { ...schema, required: ['country'], additionalProperties: true }
    const body = await bodyOf(openAiChat, { format: 'json', schema: loose })
    expect(body.response_format?.json_schema?.strict ?? false).toBe(false)
    expect(JSON.stringify(body)).toContain('country')
  })
  test('Gemini is given the schema', async () => {
    const { generationConfig } = await bodyOf(gemini)
    expect(generationConfig.responseMimeType).toBe('application/json')
    expect(JSON.stringify(generationConfig.responseSchema ?? generationConfig.responseJsonSchema)).toContain('country')
  })
  test('Anthropic is given the schema', async () => {
    const body = await bodyOf(anthropic)
    expect(JSON.stringify([body.output_config, body.output_format, body.tools])).toContain('country')
  })
  test('OpenRouter is given the schema', async () => {
    expect(await bodyOf(openRouter)).toMatchObject({ response_format: { type: 'json_schema' } })
  })
  test('a server of which nothing is known hears of the schema in one way or another', async () => {
    expect(JSON.stringify(await bodyOf(lab))).toContain('people')
  })
  test('without a schema no object is forced, and JSON is asked for in words', async () => {
    const body = await bodyOf(openAiChat, { format: 'json' })
    expect(JSON.stringify(body.messages)).toMatch(/JSON/)
  })
  test('text stays text: nothing of this is sent', async () => {
    const server = await provider(reply(openAiChat, { text: 'Hello.' }))
    const runtime = createAgentRuntime({
      clock: new FakeClock(),
      adapter: modelAdapter(optionsFor(openAiChat, server.url)),
      config: { agents: [{ ...agent, model: openAiChat.model, output: { format: 'markdown' } }] },
    })
    onTestFinished(() => runtime.close())
    expect((await bounded(runtime.run('Hi'))).report).toEqual({ format: 'markdown', text: 'Hello.' })
    expect(server.asked[0]?.body).not.toHaveProperty('response_format')
    expect(JSON.stringify(server.asked[0]?.body)).not.toMatch(/JSON/)
  })
})

describe('an answer that has to be JSON', () => {
  test.each([
    ['bare', good],
    ['in a code fence', `\`\`\`json\n${good}\n\`\`\``],
    ['in a fence without a language', `\`\`\`\n${good}\n\`\`\``],
    ['in a fence with words around it', `Here it is:\n\n\`\`\`json\n${good}\n\`\`\`\n\nAnything else?`],
    ['with blanks and line ends', `\n\n  ${good}\n`],
    ['with a byte order mark', `\uFEFF${good}`],
  ])('%s, is taken at once', async (_, text) => {
    const { outcome, model } = await answered([{ text }])
    expect(outcome).toMatchObject({ status: 'completed', report: { format: 'json', value } })
    expect(model.requests).toHaveLength(1)
  })
  test.each([
    ['a field is missing', '{"country":"Norway"}', /people/],
    ['a type is wrong', '{"country":7,"people":"many"}', /country|people/],
    ['there is a field too many', '{"country":"Norway","people":1,"king":"Harald"}', /king|additional/],
    ['it is no JSON', 'Norway has 5.6 million people.', /JSON/],
    ['it is a list', '[1,2]', /object/],
    ['it is empty', '{}', /country/],
  ])('where %s, goes back with what is wrong', async (_, text, told) => {
    const { outcome, model } = await answered([{ text }, { text: good }])
    expect(outcome).toMatchObject({ status: 'completed', report: { value } })
    expect(model.requests).toHaveLength(2)
    const second = model.requests[1]
    expect(requestText(second), 'the model sees what it said').toContain(JSON.stringify(text).slice(1, -1).slice(0, 20))
    expect(requestText({ ...second, messages: second?.messages.slice(-1) } as never)).toMatch(told)
  })
  test('goes back at most maxRetries times, then it is invalid_output with the last text kept', async () => {
    const { outcome, model } = await answered([{ text: '{"a":1}' }, { text: '{"a":2}' }, { text: '{"a":3}' }, { text: good }])
    expect(model.requests).toHaveLength(3)
    expect(outcome).toMatchObject({ status: 'failed', reason: 'invalid_output', report: { text: '{"a":3}' } })
    expect(outcome.report).not.toHaveProperty('value')
    expect(outcome.message ?? '').toMatch(/country|schema|required/i)
    expect(outcome.remedy).toMatch(/\w+/)
  })
  test('with maxRetries 0 it is judged once', async () => {
    const { outcome, model } = await answered([{ text: 'no' }, { text: good }], undefined, 0)
    expect(model.requests).toHaveLength(1)
    expect(outcome).toMatchObject({ status: 'failed', reason: 'invalid_output', report: { text: 'no' } })
  })
  test('the verdict is in the journal, with the step that brought the answer', async () => {
    const { events } = await answered([{ text: '{"country":"Norway"}' }, { text: good }])
    expect(ofType(events, 'interaction.step.completed').map(({ output }) => output?.ok)).toEqual([false, true])
  })
  test('cut by the length of the reply it is never mended into a whole one', async () => {
    const half = '{"country":"Norway","people":56'
    const { outcome, model } = await answered([{ text: half, finish: 'length' }, { text: good }])
    if (outcome.status === 'completed') expect(outcome.report?.value).toEqual(value)
    expect(outcome.report?.value).not.toEqual({ country: 'Norway', people: 56 })
    expect(model.requests.length).toBeGreaterThan(1)
  })
  test('that never comes whole does not complete', async () => {
    const step: ScriptedStepSource = { text: '{"country":"Norway","people":56', finish: 'length' }
    const { outcome } = await answered([step, step, step, step, step])
    expect(outcome.status).not.toBe('completed')
    expect(outcome.report?.value).toBeUndefined()
  })
  test('broken in a small way is mended or sent back, never failed outright', async () => {
    const { outcome } = await answered([{ text: "{'country': 'Norway', people: 5600000,}" }, { text: good }])
    expect(outcome).toMatchObject({ status: 'completed', report: { value } })
  })
  test('tools may be used before it', async () => {
    const { outcome, model } = await answered([{ calls: [{ tool: 'act', input: { reason: 'r' } }] }, { text: good }])
    expect(outcome.report?.value).toEqual(value)
    expect(model.requests.every(({ output }) => output !== undefined)).toBe(true)
  })
  test('text beside calls is no answer and is not judged', async () => {
    const { outcome, model } = await answered([{ text: 'Let me see.', calls: [{ tool: 'act', input: { reason: 'r' } }] }, { text: good }])
    expect(outcome.status).toBe('completed')
    expect(model.requests).toHaveLength(2)
  })
  test('without a schema may be any JSON, but JSON', async () => {
    expect((await answered([{ text: '[1, "two", null]' }], { format: 'json' })).outcome.report).toMatchObject({ value: [1, 'two', null] })
    expect((await answered([{ text: 'well' }, { text: '"well"' }], { format: 'json' })).outcome.report).toMatchObject({ value: 'well' })
  })
  test('of draft 2020-12 is checked by its rules', async () => {
    const contract: OutputContract = {
      format: 'json',
      schema: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
    }
    const { outcome, model } = await answered([{ text: '["a","b"]' }, { text: '["a",2]' }], contract)
    expect(outcome.report).toMatchObject({ value: ['a', 2] })
    expect(model.requests).toHaveLength(2)
  })
  test('the forced last answer is judged too', async () => {
    const { runtime, clock } = world({
      steps: [{ calls: [{ tool: 'act', input: { reason: 'r' } }] }, { text: 'no json' }, { text: good }],
      config: {
        agents: [{ ...agent, output: { format: 'json', schema }, limits: { maxToolTurns: 1, maxRetries: 1 } }],
        tools: [tool('act')],
      },
    })
    const outcome = await elapsing(clock, runtime.run('go'))
    expect(outcome).toMatchObject({ status: 'partial', reason: 'steps', report: { value } })
  })
})

test('a schema that is none stops at the start, with its place', async () => {
  const error = await troupeError(async () => {
    const runtime = createAgentRuntime({
      adapter: new ScriptedModel([{ text: good }]),
      config: { agents: [{ ...agent, output: { format: 'json', schema: { type: 'objekt' } } }] },
    })
    const outcome = await runtime.run('go')
    expect(outcome.status, 'accepted at the start').toBe('refused')
  })
  expect(error.code).toBe('config_invalid')
  expect(everything(error)).toMatch(/output|schema/)
})
