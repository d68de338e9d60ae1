import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../src/testing/index.ts'
import { formats } from './formats.ts'
import { answering, expectFailure, server, stage, textOf, turnOver } from './turn.ts'

describe.each(formats)('$name', (format) => {
  it('an unassigned status is reported unchanged', async () => {
    const body = JSON.stringify(format.errorBody(999, 'Go away.'))
    const turn = await turnOver(format, [{ status: 999, headers: { 'content-type': 'application/json' }, chunks: [body] }])
    expectFailure(turn, 'model')
    expect(turn.outcome).toMatchObject({ failure: { message: 'Go away. (HTTP 999)' } })
  })

  it('a page under the name of events is a wrong address, not a broken connection', async () => {
    const turn = await turnOver(format, [{ chunks: ['<!doctype html>\n<title>Sign in</title>\n'] }])
    expectFailure(turn, 'invalid_response')
    expect(turn.outcome).toMatchObject({
      failure: { message: expect.stringContaining('web page'), remedy: expect.stringContaining('base URL') },
    })
  })

  it.each([
    [401, 'auth', format.keyVariable],
    [500, 'model', ''],
  ] as const)('a %i whose body does not end is reported by its status', async (status, kind, remedy) => {
    const { url, reply } = await server()
    const exchange = reply({ status, headers: { 'content-type': 'application/json' }, chunks: ['{"error":'], ending: 'silence' })
    const clock = new FakeClock()
    const { runtime } = await stage(format, { url, clock, limits: { maxRetries: 0, llmTimeout: 60_000 } })
    const running = runtime.run('Go')
    await exchange.sent(1)
    let isOver = false
    void running.finally(() => {
      isOver = true
    })
    while (!isOver && clock.monotonic() < 10_000) await clock.elapse(100)
    expect(await running).toMatchObject({ failure: { class: kind, remedy: expect.stringContaining(remedy) } })
    expect(await exchange.over).toBe('left')
  })

  it.each(['1.5', '1e300', '-4'])('%s is no number of tokens: they are estimated', async (tokens) => {
    const chunks = format.encode(answering).map((chunk) => textOf(chunk).replaceAll(/\b120\b/g, tokens))
    const { outcome } = await turnOver(format, [{ chunks }])
    expect(outcome.status).toBe('completed')
    expect(outcome.usage).toMatchObject({
      estimated: true,
      input: expect.toSatisfy((count) => Number.isSafeInteger(count) && count !== 120),
    })
  })
})
