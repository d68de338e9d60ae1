/* Issue 3, Deliver 1 and 7: models of other frameworks, one suite over all of them, and the gated server of the testing kit. */
import { AIMessageChunk } from '@langchain/core/messages'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createAgentRuntime, type Model, type Tool } from '../../src/index.ts'
import { fromAiSdk, fromLangChain, fromLlamaIndex, modelAdapter } from '../../src/models/index.ts'
import { FakeClock, type GatedServer, gatedServer, type ModelBehaviour, modelContract } from '../../src/testing/index.ts'
import { agent, bounded, collect, elapsing, ofType, troupeError } from './support.ts'
import { optionsFor, type Said, type Wire, wires } from './wire.ts'

// biome-ignore lint/suspicious/noExplicitAny: foreign shapes
type Any = any
type Play = Said | 'fault' | 'silence' | 'cut'
/** One framework: a model that plays these replies in order, and what it was asked. */
type Framework = (plays: readonly Play[]) => Promise<{ model: Model; asked: Any[] }>

const usage = (said: Said) => said.usage ?? { input: 10, output: 5 }
const half = (text: string): string => text.slice(0, Math.ceil(text.length / 2))
const unending = (signal?: AbortSignal) =>
  new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason ?? new Error('aborted'))))

const aiSdk =
  (version: 'v3' | 'v4'): Framework =>
  async (plays) => {
    const asked: Any[] = []
    const foreign = {
      specificationVersion: version,
      provider: 'acme.chat',
      modelId: 'one',
      supportedUrls: {},
      doGenerate: () => expect.unreachable('only doStream is used'),
      async doStream(options: Any) {
        const play = plays[asked.push(options) - 1]
        if (play === 'fault')
          throw Object.assign(new Error('Acme is down'), {
            name: 'AI_APICallError',
            statusCode: 503,
            responseHeaders: {},
            url: 'http://acme.invalid',
          })
        const said: Said = play === 'cut' || play === 'silence' ? { text: 'Wel' } : (play as Said)
        const list: Any[] = [{ type: 'stream-start', warnings: [] }]
        if (said.text)
          list.push(
            { type: 'text-start', id: '1' },
            { type: 'text-delta', id: '1', delta: half(said.text) },
            { type: 'text-delta', id: '1', delta: said.text.slice(half(said.text).length) },
            { type: 'text-end', id: '1' },
          )
        for (const { id, name, input } of said.calls ?? [])
          list.push({ type: 'tool-call', toolCallId: id, toolName: name, input: JSON.stringify(input) })
        const { input, output } = usage(said)
        const finishReason = { unified: said.calls ? 'tool-calls' : 'stop', raw: 'x' }
        const counted = {
          inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: output, text: output, reasoning: 0 },
        }
        if (typeof play === 'object') list.push({ type: 'finish', finishReason, usage: counted })
        const stream = new ReadableStream({
          async pull(controller) {
            const part = list.shift()
            if (part) controller.enqueue(part)
            else if (play === 'silence') await unending(options.abortSignal).catch((error) => controller.error(error))
            else controller.close()
          },
        })
        return { stream }
      },
    }
    return { model: fromAiSdk(foreign as Any), asked }
  }

const langChain: Framework = async (plays) => {
  const asked: Any[] = []
  const foreign = {
    async stream(messages: Any, options: Any) {
      const play = plays[asked.push({ messages, options, tools: this.tools }) - 1]
      if (play === 'fault') throw Object.assign(new Error('503 Acme is down'), { status: 503 })
      return (async function* () {
        const said: Said = typeof play === 'object' ? play : { text: 'Wel' }
        if (said.text)
          for (const content of [half(said.text), said.text.slice(half(said.text).length)]) yield new AIMessageChunk({ content })
        for (const [index, { id, name, input }] of (said.calls ?? []).entries()) {
          const args = JSON.stringify(input)
          yield new AIMessageChunk({ content: '', tool_call_chunks: [{ type: 'tool_call_chunk', index, id, name, args: half(args) }] })
          yield new AIMessageChunk({
            content: '',
            tool_call_chunks: [{ type: 'tool_call_chunk', index, args: args.slice(half(args).length) }],
          })
        }
        if (play === 'silence') await unending(options?.signal)
        if (play === 'cut') throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
        const { input, output } = usage(said)
        yield new AIMessageChunk({
          content: '',
          response_metadata: { finish_reason: said.calls ? 'tool_calls' : 'stop' },
          usage_metadata: { input_tokens: input, output_tokens: output, total_tokens: input + output },
        } as Any)
      })()
    },
    tools: undefined as Any,
    bindTools(tools: Any) {
      return { ...this, tools, bindTools: this.bindTools }
    },
  }
  return { model: fromLangChain(foreign as Any, { id: 'acme/one' }), asked }
}

const llamaIndex: Framework = async (plays) => {
  const asked: Any[] = []
  const foreign = {
    supportToolCall: true,
    metadata: { model: 'one', contextWindow: 8000 },
    async chat(params: Any) {
      const play = plays[asked.push(params) - 1]
      if (play === 'fault') throw Object.assign(new Error('503 Acme is down'), { status: 503 })
      return (async function* () {
        const said: Said = typeof play === 'object' ? play : { text: 'Wel' }
        if (said.text) for (const delta of [half(said.text), said.text.slice(half(said.text).length)]) yield { delta, raw: {} }
        if (said.calls) yield { delta: '', raw: {}, options: { toolCall: said.calls.map(({ id, name, input }) => ({ id, name, input })) } }
        if (play === 'silence') await unending(params.signal)
        if (play === 'cut') throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
        const { input, output } = usage(said)
        yield { delta: '', raw: { choices: [{ delta: {}, finish_reason: said.calls ? 'tool_calls' : 'stop' }] } }
        yield { delta: '', raw: { choices: [], usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output } } }
      })()
    },
  }
  return { model: fromLlamaIndex(foreign as Any, { id: 'acme/one' }), asked }
}

async function server(): Promise<GatedServer> {
  const made = await gatedServer()
  onTestFinished(() => made.close())
  return made
}
const wired =
  (wire: Wire): Framework =>
  async (plays) => {
    const { url, reply, requests } = await server()
    for (const play of plays) {
      const { list } = wire.events(typeof play === 'object' ? play : { text: 'Wel' })
      const some = list.slice(0, list.findIndex((each) => each.includes('We')) + 1)
      if (play === 'fault')
        reply({ status: 503, headers: { 'content-type': 'application/json' }, chunks: [wire.error(503, 'Acme is down')] })
      else if (play === 'silence' || play === 'cut') reply({ chunks: some, ending: play })
      else reply({ chunks: list })
    }
    return { model: await modelAdapter(optionsFor(wire, url)).resolve(wire.model), asked: requests as Any }
  }

const frameworks: readonly (readonly [string, Framework])[] = [
  ...wires.map((wire) => [wire.name, wired(wire)] as const),
  ['AI SDK v4', aiSdk('v4')],
  ['AI SDK v3', aiSdk('v3')],
  ['LangChain', langChain],
  ['LlamaIndex', llamaIndex],
]
const inputs: unknown[] = []
const act: Tool = {
  name: 'act',
  description: 'Acts.',
  inputSchema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
  execute: (input) => {
    inputs.push(input)
    return `acted on ${input.word}`
  },
}
async function loop(framework: Framework, plays: readonly Play[], limits = {}) {
  const { model, asked } = await framework(plays)
  const clock = new FakeClock()
  const runtime = createAgentRuntime({ clock, adapter: model, config: { agents: [{ ...agent, limits }], tools: [act] } })
  onTestFinished(() => runtime.close())
  inputs.length = 0
  const handle = runtime.stream('go')
  const all = collect(handle)
  const outcome = await elapsing(clock, handle.outcome, [200, 4000])
  return { outcome, asked, events: await bounded(all), model }
}
const call = (id: string, word: string) => ({ id, name: 'act', input: { word, reason: 'why' } })

describe.each(frameworks)('the same loop over %s', (_, framework) => {
  test('text streams in pieces and comes out whole, with its usage', async () => {
    const { outcome, events } = await loop(framework, [{ text: 'Hello there.', usage: { input: 21, output: 4 } }])
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Hello there.' }, usage: { input: 21, output: 4 } })
    expect(ofType(events, 'interaction.item.delta').map(({ text }) => text)).toEqual(['Hello ', 'there.'])
  })
  test('calls run with their arguments, and their results come back', async () => {
    const { outcome, asked } = await loop(framework, [{ text: 'So.', calls: [call('c1', 'one'), call('c2', 'two')] }, { text: 'Done.' }])
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Done.' } })
    expect(inputs).toEqual([{ word: 'one' }, { word: 'two' }])
    expect(JSON.stringify(asked[1])).toContain('acted on one')
    expect(JSON.stringify(asked[1])).toContain('acted on two')
  })
  test('a failure of the provider is tried again', async () => {
    const { outcome } = await loop(framework, ['fault', { text: 'Here I am.' }])
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Here I am.' } })
    expect(outcome.accounting).toMatchObject([
      { status: 'failed', failure: { message: expect.stringContaining('Acme is down') } },
      { status: 'completed' },
    ])
  })
  test('a cut reply is tried again, and only the whole one counts', async () => {
    const { outcome } = await loop(framework, ['cut', { text: 'Whole.' }])
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Whole.' } })
  })
  test('the last answer is asked for with tools switched off or gone', async () => {
    const { outcome, asked } = await loop(framework, [{ calls: [call('c1', 'one')] }, { text: 'What I have.' }], { maxToolTurns: 1 })
    expect(outcome).toMatchObject({ status: 'partial', reason: 'steps', report: { text: 'What I have.' } })
    expect(asked).toHaveLength(2)
  })
  const behave = async (behaviour: ModelBehaviour) =>
    (
      await framework([
        {
          text: { text: 'Hello there.' },
          calls: { text: 'So.', calls: [call('c1', 'one'), call('c2', 'two')] },
          fault: 'fault',
          silence: 'silence',
        }[behaviour] as Play,
      ])
    ).model
  test.each(modelContract(behave).map(({ name, run }) => [name, run] as const))('contract: %s', (_name, run) => bounded(run(), 'the case'))
})

describe('gatedServer of the testing kit', () => {
  const text = async (response: Response) => await response.text()
  test('is on loopback and plays its script in order', async () => {
    const { url, reply, requests, assertDone } = await server()
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    reply({ chunks: [{ event: 'a', id: '7', data: { x: 1 } }, { data: 'plain' }] })
    reply({ status: 418, headers: { 'content-type': 'text/plain' }, chunks: ['teapot'] })
    const first = await fetch(`${url}/one?q=1`, { method: 'POST', body: '{"b":2}' })
    expect(first.headers.get('content-type')).toContain('text/event-stream')
    const body = await text(first)
    for (const line of ['event: a', 'id: 7', 'data: {"x":1}', 'data: plain']) expect(body.split('\n')).toContain(line)
    const second = await fetch(`${url}/two`)
    expect([second.status, await text(second)]).toEqual([418, 'teapot'])
    expect(requests).toMatchObject([
      { method: 'POST', path: '/one?q=1', body: { b: 2 } },
      { method: 'GET', path: '/two' },
    ])
    assertDone()
  })
  test('holds a chunk until it is released', async () => {
    const { url, reply } = await server()
    const exchange = reply({ chunks: ['one ', { held: 'two ' }, 'three'] })
    const reader = (await fetch(url)).body?.getReader()
    const read = async () => new TextDecoder().decode((await reader?.read())?.value)
    expect(await read()).toBe('one ')
    await exchange.sent(1)
    expect(exchange.chunksSent).toBe(1)
    exchange.release()
    let rest = ''
    while (!rest.includes('three')) rest += await read()
    expect(rest).toBe('two three')
    await reader?.read()
    expect(await bounded(exchange.over)).toBe('whole')
  })
  test('holds the head too', async () => {
    const { url, reply } = await server()
    const exchange = reply({ headHeld: true, chunks: ['x'] })
    let came = false
    const response = fetch(url).then((each) => {
      came = true
      return each
    })
    await exchange.arrived()
    expect(came).toBe(false)
    exchange.release()
    expect(await text(await bounded(response))).toBe('x')
  })
  test('cuts, and tells a client that left from one that stayed', async () => {
    const { url, reply } = await server()
    const cut = reply({ chunks: ['half'], ending: 'cut' })
    await expect(fetch(url).then(text)).rejects.toThrow()
    expect(await bounded(cut.over)).toBe('cut')
    const silent = reply({ chunks: ['half'], ending: 'silence' })
    const leaving = new AbortController()
    const response = await fetch(url, { signal: leaving.signal })
    await silent.sent(1)
    leaving.abort()
    await response.text().catch(() => undefined)
    expect(await bounded(silent.over)).toBe('left')
    const byHand = reply({ chunks: ['half', { held: 'never' }] })
    const third = await fetch(url)
    await byHand.sent(1)
    byHand.cut()
    await expect(third.text()).rejects.toThrow()
    expect(await bounded(byHand.over)).toBe('cut')
  })
  test('repeats a chunk without an end, as fast as it is read, up to a bound', async () => {
    const { url, reply } = await server()
    const exchange = reply({ ending: { repeat: 'x'.repeat(1000), mostBytes: 100_000 } })
    const decoder = await fetch(url).then(({ body }) => body?.getReader())
    let bytes = 0
    const read = () => decoder?.read().catch(() => undefined)
    for (let chunk = await read(); chunk?.value; chunk = await read()) bytes += chunk.value.length
    expect(bytes).toBeGreaterThanOrEqual(100_000)
    await bounded(exchange.over)
    expect(exchange.bytesSent).toBeLessThan(200_000)
  })
  test('a request that is not in the script, or not as expected, is told at the end', async () => {
    const unexpected = await server()
    expect((await fetch(unexpected.url)).ok).toBe(false)
    expect((await troupeError(() => unexpected.assertDone())).code).toBe('script_mismatch')
    const unasked = await server()
    unasked.reply({ chunks: ['x'] })
    expect((await troupeError(() => unasked.assertDone())).code).toBe('script_mismatch')
    const checked = await server()
    checked.reply({ chunks: ['x'], check: ({ path }) => expect(path).toBe('/right') })
    await fetch(`${checked.url}/wrong`).then(text, () => undefined)
    expect((await troupeError(() => checked.assertDone())).code).toBe('script_mismatch')
  })
  test('whoever waits is told when nothing can come any more', async () => {
    const made = await gatedServer()
    const exchange = made.reply({ chunks: ['x'] })
    const waiting = Promise.allSettled([exchange.arrived(), exchange.sent(1)])
    await made.close()
    expect((await bounded(waiting)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await bounded(exchange.over)).toBe('closed')
  })
})
