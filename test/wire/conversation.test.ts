import { describe, expect, it } from 'vitest'
import { formats } from './formats.ts'
import { expectWhole, forecast, modelOf, server, stage, turn } from './turn.ts'
import type { WireReply } from './wire-reply.ts'

const counted = { input: 120, output: 60, cacheRead: 40, cacheWrite: 0, reasoning: 20 }
const asking: WireReply = {
  reasoning: 'The person wants a forecast.',
  text: 'Let me look…',
  calls: [{ id: 'call_1', name: 'weather', input: forecast }],
  finish: 'tool-calls',
  usage: counted,
  costUsd: 0.25,
}
const answering: WireReply = { text: 'Sunny for three days.', finish: 'stop', usage: counted, costUsd: 0.5 }

describe.each(formats)('$name', (format) => {
  it('a whole conversation: question, call, result, answer', async () => {
    const { url, reply, requests, assertDone } = await server()
    for (const each of [asking, answering]) reply({ chunks: format.encode(each) })
    const result = await turn(format, { url })
    expectWhole(result)
    assertDone()
    const address = `${format.base}${format.path}`
    expect(requests.map(({ method, path }) => [method, path])).toEqual([
      ['POST', address],
      ['POST', address],
    ])
    // The second request carries what the tool said, and under which name it was called.
    expect(JSON.stringify(requests[0]?.body)).not.toContain('Sunny.')
    expect(JSON.stringify(requests[1]?.body)).toContain('Sunny.')
    expect(JSON.stringify(requests[1]?.body)).toContain('Let me look…')
  })

  it('what it received is what the recorded requests make again', async () => {
    const { url, reply, requests } = await server()
    for (const each of [asking, answering, answering, answering]) reply({ chunks: format.encode(each) })
    const { runtime } = await stage(format, { url })
    const { sessionId } = await runtime.run('Weather in Zürich?')
    const model = await modelOf(format, { url })
    for (const stepId of ['t1.s1', 't1.s2']) {
      const request = await runtime.sessions.modelRequest(sessionId, { stepId })
      for await (const _ of model.stream(request, { signal: new AbortController().signal }));
    }
    const [first, second, ...again] = requests.map(({ body }) => body)
    expect(JSON.stringify(again)).toBe(JSON.stringify([first, second]))
  })

  it('uses the token counts of the provider', async () => {
    const { url, reply } = await server()
    reply({ chunks: format.encode(answering) })
    const { outcome } = await turn(format, { url })
    // Ollama tells neither of what it has kept nor of what it has thought.
    expect(outcome.usage).toEqual(format.name === 'Ollama' ? { ...counted, cacheRead: 0, reasoning: 0 } : counted)
  })

  it('keeps reasoning apart from the answer', async () => {
    const { url, reply } = await server()
    reply({ chunks: format.encode({ ...answering, reasoning: 'Quite simple.' }) })
    const { outcome, told } = await turn(format, { url })
    expect(outcome.report?.text).toBe('Sunny for three days.')
    // OpenAI's chat completions do not show it.
    expect(told.includes('Quite simple.')).toBe(format.name !== 'OpenAI chat')
  })
})

describe('OpenRouter', () => {
  const format = formats.find(({ name }) => name === 'OpenRouter') ?? expect.unreachable()
  it('says what a request cost, and that is what it cost', async () => {
    const { url, reply } = await server()
    for (const each of [asking, answering]) reply({ chunks: format.encode(each) })
    expect((await turn(format, { url })).outcome.cost).toBe(0.75)
  })
})

describe('Anthropic messages', () => {
  const format = formats.find(({ name }) => name === 'Anthropic messages') ?? expect.unreachable()
  it('gets the signature of its thoughts back', async () => {
    const { url, reply, requests } = await server()
    for (const each of [asking, answering]) reply({ chunks: format.encode(each) })
    await turn(format, { url })
    expect(JSON.stringify(requests[1]?.body)).toContain('EqQBCg-sealed')
  })
  it('counts tokens written to the cache', async () => {
    const { url, reply } = await server()
    reply({ chunks: format.encode({ ...answering, usage: { ...counted, cacheWrite: 30 } }) })
    expect((await turn(format, { url })).outcome.usage).toEqual({ ...counted, cacheWrite: 30 })
  })
})

describe.each(formats.filter(({ name }) => ['Gemini', 'OpenAI responses'].includes(name)))('$name', (format) => {
  it('gets what it has sealed back', async () => {
    const { url, reply, requests } = await server()
    for (const each of [asking, answering]) reply({ chunks: format.encode(each) })
    await turn(format, { url })
    expect(JSON.stringify(requests[1]?.body)).toContain('-sealed')
  })
})
