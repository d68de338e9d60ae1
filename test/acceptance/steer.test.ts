import { describe, expect, test, vi } from 'vitest'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { gate } from '../../src/testing/index.ts'
import { expectLegal, finish, journalOf, ofType, settle, tool, until, world } from './support.ts'

vi.setConfig({ testTimeout: 60_000 })

describe('core.md: steer enters at the next step boundary, queue when idle', () => {
  const slow = () => {
    const door = gate()
    const entered = gate()
    return {
      door,
      entered,
      tool: tool('slow', {
        execute: async () => {
          entered.open()
          await door.promise
          return 'slow done'
        },
      }),
    }
  }

  test('steer is in the next request of the same turn, after the results', async () => {
    const work = slow()
    const { runtime, model, store } = world({ steps: [{ calls: [{ tool: 'slow' }] }, { text: 'x' }], tools: [work.tool] })
    const handle = runtime.stream('go')
    await work.entered.promise
    await handle.steer('rather this')
    work.door.open()
    const outcome = await finish(handle)
    expect(outcome.turnId).toBe('t1')
    expect(model.requests).toHaveLength(2)
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user'])
    expect(model.requests[1]?.messages[3]).toEqual({ role: 'user', parts: [{ type: 'text', text: 'rather this' }] })
    const events = await journalOf(store, handle.sessionId)
    expectLegal(events)
    const [, second] = ofType(events, 'interaction.step.started')
    const steered = ofType(events, 'interaction.input.accepted').find(({ mode }) => mode === 'steer')
    expect(second?.absorbs).toEqual([steered?.clientId])
  })

  test('steer while the model writes its answer is not dropped: "Nothing accepted is dropped"', async () => {
    const door = gate()
    const { runtime, model, store } = world({ steps: [{ text: 'first answer', wait: door.promise }, { text: 'second answer' }] })
    const handle = runtime.stream('go')
    await until('asked', () => model.requests.length === 1)
    await handle.steer('one more thing')
    door.open()
    await finish(handle)
    expect(model.requests).toHaveLength(2)
    expect(JSON.stringify(model.requests[1]?.messages)).toContain('one more thing')
    expectLegal(await journalOf(store, handle.sessionId))
  })

  test('queue starts a turn of its own after the present one, in order', async () => {
    const work = slow()
    const { runtime, model, store } = world({
      steps: [{ calls: [{ tool: 'slow' }] }, { text: 'one' }, { text: 'two' }, { text: 'three' }],
      tools: [work.tool],
    })
    const handle = runtime.stream('first')
    await work.entered.promise
    await handle.send('second')
    await handle.send('third')
    work.door.open()
    const outcome = await finish(handle)
    const events = await journalOf(store, handle.sessionId)
    expectLegal(events)
    expect(JSON.stringify(model.requests[1]?.messages)).not.toContain('second')
    const turns = ofType(events, 'interaction.turn.started')
    // Whether the two waiting inputs share a turn is not written down; that none is lost and none comes early is.
    expect(turns.flatMap(({ inputs }) => inputs)).toHaveLength(3)
    expect(turns.length).toBeGreaterThanOrEqual(2)
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toMatch(/first.*second.*third/)
    expect(outcome.turnId).toBe(`t${turns.length}`)
    expect(ofType(events, 'interaction.session.idle'), 'idle only when everything has settled').toHaveLength(1)
  })

  test('a message sent after the session went idle starts a further turn with the history before it', async () => {
    const { runtime, model, store } = world({ steps: [{ text: 'one' }, { text: 'two' }] })
    const handle = runtime.stream('first')
    await finish(handle)
    await handle.send('second')
    await until('the second turn', async () => ofType(await journalOf(store, handle.sessionId), 'interaction.turn.completed').length === 2)
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
  })

  test('steer after the session went idle is not dropped', async () => {
    const { runtime, model } = world({ steps: [{ text: 'one' }, { text: 'two' }] })
    const handle = runtime.stream('first')
    await finish(handle)
    await handle.steer('late')
    await until('it is answered', () => model.requests.length === 2)
    expect(JSON.stringify(model.requests[1]?.messages)).toContain('late')
  })

  test('a repeated client id is taken once', async () => {
    const work = slow()
    const { runtime, model, store } = world({
      steps: [{ calls: [{ tool: 'slow' }] }, { text: 'one' }, { text: 'two' }],
      tools: [work.tool],
    })
    const handle = runtime.stream('first')
    await work.entered.promise
    const clientId = 'mine' as never
    await handle.send('second', { clientId })
    await handle.send('second', { clientId })
    await runtime.sessions.send(handle.sessionId, 'second', { clientId })
    work.door.open()
    await finish(handle)
    await runtime.sessions.send(handle.sessionId, 'second', { clientId })
    await settle(20)
    model.assertDone()
    const inputs = ofType(await journalOf(store, handle.sessionId), 'interaction.input.accepted')
    expect(inputs.filter((input) => input.clientId === clientId)).toHaveLength(1)
  })

  test('a repeated client id is taken once over runtimes and restarts', async () => {
    const store = memoryStore()
    const one = world({ store, steps: [{ text: 'a' }, { text: 'b' }] })
    const handle = one.runtime.stream('first')
    await finish(handle)
    await handle.send('second', { clientId: 'mine' as never })
    await until('second', () => one.model.requests.length === 2)
    await finish(handle)
    await one.runtime.close()
    const two = world({ store, steps: [{ text: 'never' }] })
    const again = await two.runtime.open(handle.sessionId)
    await again.send('second', { clientId: 'mine' as never })
    await settle(20)
    expect(two.model.requests).toHaveLength(0)
  })

  test('text, image and file parts reach the model as they were sent', async () => {
    const input = [
      { type: 'text', text: 'see' },
      { type: 'image', mediaType: 'image/png', data: 'aGk=' },
      { type: 'file', mediaType: 'text/plain', data: 'aGk=', name: 'a.txt' },
    ] as const
    const { runtime, model } = world({ steps: [{ text: 'x' }] })
    await runtime.run(input)
    expect(model.requests[0]?.messages).toEqual([{ role: 'user', parts: input }])
  })
})
