import { LLMock } from '@copilotkit/aimock'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formats } from './formats.ts'
import { expectWhole, forecast, turn } from './turn.ts'

// A mock that other people wrote, checked against the real services: our encoders cannot agree with our own mistakes here.

const mock = new LLMock({ port: 0 })
beforeAll(async () => {
  const toolCalls = [{ id: 'call_1', name: 'weather', arguments: JSON.stringify(forecast) }]
  mock.on({ userMessage: /Weather in/, hasToolResult: true, toolResultContains: 'Sunny.' }, { content: 'Sunny for three days.' })
  // The mock ends a call of Gemini with FUNCTION_CALL, the service itself with STOP.
  mock.on(
    { userMessage: /Weather in/, hasToolResult: false, model: /^gemini/ },
    { content: 'Let me look.', toolCalls, finishReason: 'stop' },
  )
  mock.on({ userMessage: /Weather in/, hasToolResult: false }, { content: 'Let me look.', toolCalls })
  await mock.start()
})
afterAll(() => mock.stop())

describe.each(formats)('$name', (format) => {
  it('an independent mock: text, call, result, answer', async () => {
    mock.clearRequests()
    const result = await turn(format, { url: mock.url })
    expectWhole(result)
    expect(result.outcome.usage.output).toBeGreaterThan(0)
    expect(mock.getRequests().map(({ response }) => response.status)).toEqual([200, 200])
  })

  it('an independent mock that fails: a typed failure', async () => {
    mock.nextRequestError(503, { message: 'Not now.', type: 'server_error' })
    const { outcome, ran } = await turn(format, { url: mock.url })
    expect(outcome).toMatchObject({ status: 'failed', failure: { class: 'rate_limit', message: expect.stringContaining('Not now.') } })
    expect(ran).toEqual([])
  })
})
