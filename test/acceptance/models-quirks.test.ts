/* Issue 3, Bad input and Shown by: what real servers of the four formats do beside the documented path. */
// biome-ignore-all lint/complexity/useMaxParams: the columns of a table of cases
import { describe, expect, onTestFinished, test } from 'vitest'
import { type AgentLimits, createAgentRuntime, type Tool } from '../../src/index.ts'
import { modelAdapter } from '../../src/models/index.ts'
import { FakeClock, gatedServer } from '../../src/testing/index.ts'
import { agent, bounded, collect, ofType, settle } from './support.ts'
import { type Answer, gemini, lab, ollama, openRouter, optionsFor, provider, reply, type Wire } from './wire.ts'

const executed: unknown[] = []
const act: Tool = {
  name: 'act',
  description: 'Acts.',
  inputSchema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
  execute: (input) => {
    executed.push(input)
    return 'acted'
  },
}
function runtimeOn(wire: Wire, url: string, limits: Partial<AgentLimits> = { maxRetries: 0 }, clock = new FakeClock()) {
  const runtime = createAgentRuntime({
    clock,
    adapter: modelAdapter(optionsFor(wire, url)),
    config: { agents: [{ ...agent, model: wire.model, limits }], tools: [act] },
  })
  onTestFinished(() => runtime.close())
  return runtime
}
async function run(wire: Wire, ...replies: readonly Answer[]) {
  const server = await provider(...replies)
  executed.length = 0
  return { outcome: await bounded(runtimeOn(wire, server.url).run('go')), asked: server.asked }
}
const call = { id: 'call_a', name: 'act', input: { word: 'x', reason: 'r' } }
describe('servers that speak the format of OpenAI in their own way', () => {
  const done = reply(lab, { text: 'Done.' })
  const chunk = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
  const args = JSON.stringify(call.input)
  test('a whole call in one chunk that ends with stop, as Ollama sends it', async () => {
    const body =
      chunk({
        role: 'assistant',
        content: '',
        tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'act', arguments: args } }],
      }) +
      chunk({}, 'stop') +
      'data: [DONE]\n\n'
    const { outcome } = await run(ollama, { body }, done)
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Done.' } })
    expect(executed).toEqual([{ word: 'x' }])
  })
  test('two calls with ids of their own, their pieces mixed', async () => {
    const piece = (index: number, more: object) => chunk({ tool_calls: [{ index, ...more }] })
    const body = [
      piece(0, { id: 'a', type: 'function', function: { name: 'act', arguments: '' } }),
      piece(1, { id: 'b', type: 'function', function: { name: 'act', arguments: '' } }),
      piece(0, { function: { arguments: '{"word":"one",' } }),
      piece(1, { function: { arguments: '{"word":"two",' } }),
      piece(1, { function: { arguments: '"reason":"r"}' } }),
      piece(0, { function: { arguments: '"reason":"r"}' } }),
      chunk({}, 'tool_calls'),
      'data: [DONE]\n\n',
    ].join('')
    const { outcome } = await run(lab, { body }, done)
    expect(outcome.status).toBe('completed')
    expect(executed).toEqual([{ word: 'one' }, { word: 'two' }])
  })
  test('comments, carriage returns, no blank behind the colon, bytes in the middle of a letter', async () => {
    const body = `: OPENROUTER PROCESSING\r\n\r\n${lab.events({ text: 'Smørrebrød 🎉' }).list.join('').replaceAll('\n', '\r\n').replaceAll('data: {', 'data:{')}`
    const bytes = Buffer.from(body)
    const server = await gatedServer()
    onTestFinished(() => server.close())
    server.reply({
      chunks: Array.from({ length: Math.ceil(bytes.length / 3) }, (_, n) => new Uint8Array(bytes.subarray(n * 3, n * 3 + 3))),
    })
    const outcome = await bounded(runtimeOn(openRouter, server.url).run('go'))
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Smørrebrød 🎉' } })
  })
  test('no usage: it is estimated and said to be', async () => {
    const { outcome } = await run(lab, { body: `${chunk({ content: 'Hello.' }) + chunk({}, 'stop')}data: [DONE]\n\n` })
    expect(outcome).toMatchObject({ status: 'completed', usage: { estimated: true } })
  })
  test('an error with a good status, as OpenRouter sends it', async () => {
    for (const answer of [
      { headers: { 'content-type': 'application/json' }, body: '{"error":{"code":429,"message":"upstream is busy"}}' },
      {
        body: `${chunk({ content: 'Ha' })}data: {"id":"x","error":{"code":502,"message":"upstream is busy"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}\n\n`,
      },
    ]) {
      const { outcome } = await run(openRouter, answer)
      expect(outcome).toMatchObject({
        status: 'failed',
        failure: { message: expect.stringContaining('upstream is busy'), remedy: expect.any(String) },
      })
    }
  })
  test('arguments that are not JSON in a complete reply: the model is informed, nothing runs', async () => {
    const body =
      chunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'act', arguments: 'word is x' } }] }) +
      chunk({}, 'tool_calls') +
      'data: [DONE]\n\n'
    const { outcome, asked } = await run(lab, { body }, done)
    expect(executed).toEqual([])
    expect(outcome.status).toBe('completed')
    expect(lab.history(asked[1]?.body).results).toHaveLength(1)
  })
  test('a tool that was never offered: the model is informed, nothing runs', async () => {
    const { outcome, asked } = await run(lab, reply(lab, { calls: [{ ...call, name: 'acct' }] }), done)
    expect(outcome.status).toBe('completed')
    expect(lab.history(asked[1]?.body).results[0]).toMatch(/\bact\b/)
  })
  test('reasoning beside the text, as DeepSeek and others send it, is reasoning', async () => {
    const server = await provider({
      body: `${chunk({ reasoning_content: 'Hmm.' }) + chunk({ content: 'Hello.' }) + chunk({}, 'stop')}data: [DONE]\n\n`,
    })
    const handle = runtimeOn(lab, server.url).stream('go')
    const events = await bounded(collect(handle))
    expect((await handle.outcome).report?.text).toBe('Hello.')
    expect(ofType(events, 'interaction.item.delta').map(({ kind, text }) => `${kind} ${text}`)).toEqual(['reasoning Hmm.', 'text Hello.'])
  })
})

test('two calls of Gemini to one tool without ids are two calls, each with its result', async () => {
  const body = `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: ['one', 'two'].map((word) => ({ functionCall: { name: 'act', args: { word, reason: 'r' } } })) }, finishReason: 'STOP', index: 0 }], usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 } })}\n\n`
  const { outcome, asked } = await run(gemini, { body }, reply(gemini, { text: 'Done.' }))
  expect(outcome.status).toBe('completed')
  expect(executed).toEqual([{ word: 'one' }, { word: 'two' }])
  expect(gemini.history(asked[1]?.body).results).toHaveLength(2)
})

test('arguments that trickle in are no silence, long as they take', async () => {
  const server = await gatedServer()
  onTestFinished(() => server.close())
  const letters = [...JSON.stringify({ word: 'abcdefghij', reason: 'r' })]
  const chunk = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
  const pieces = letters.map((letter) => ({ held: chunk({ tool_calls: [{ index: 0, function: { arguments: letter } }] }) }))
  const exchange = server.reply({
    chunks: [
      chunk({ content: 'So. ' }),
      chunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'act', arguments: '' } }] }),
      ...pieces,
      { held: chunk({}, 'tool_calls') },
      'data: [DONE]\n\n',
    ],
  })
  server.reply({ chunks: lab.events({ text: 'Done.' }).list })
  const clock = new FakeClock()
  executed.length = 0
  const handle = runtimeOn(lab, server.url, { maxRetries: 0, idleTimeout: 5000, llmTimeout: 10 ** 7 }, clock).stream('go')
  for await (const event of handle) if (event.type === 'interaction.item.delta') break
  for (let n = 0; n <= letters.length; n += 1) {
    await settle(3)
    await clock.elapse(4000)
    exchange.release()
    await exchange.sent(3 + n)
    // The piece has to have crossed the loopback before time goes on.
    await settle(40)
  }
  expect(await bounded(handle.outcome)).toMatchObject({ status: 'completed', report: { text: 'Done.' } })
  expect(executed).toEqual([{ word: 'abcdefghij' }])
})

test('leaving a run gives the connection up', async () => {
  const server = await gatedServer()
  onTestFinished(() => server.close())
  const exchange = server.reply({ chunks: lab.events({ text: 'Well, well.' }).list.slice(0, 2), ending: 'silence' })
  const handle = runtimeOn(lab, server.url).stream('go')
  for await (const event of handle) if (event.type === 'interaction.item.delta') break
  await handle.interrupt()
  expect(await bounded(handle.outcome)).toMatchObject({ status: 'interrupted' })
  expect(await bounded(exchange.over)).toBe('left')
})
