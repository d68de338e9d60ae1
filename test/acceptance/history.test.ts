import { describe, expect, test, vi } from 'vitest'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { gate } from '../../src/testing/index.ts'
import { finish, journalOf, objectSchema, parts, rawModel, resultsIn, settle, textReply, tool, until, world } from './support.ts'

vi.setConfig({ testTimeout: 60_000 })

const word = objectSchema({ word: { type: 'string' } }, ['word'])

describe('invariant 7: same journal, same state, byte-equal snapshot', () => {
  test('two runs of the same script on the same clock and ids give the same bytes', async () => {
    const once = async (): Promise<string> => {
      const { sequentialIds } = await import('../../src/testing/index.ts')
      const store = memoryStore()
      const { runtime } = world({
        store,
        ids: sequentialIds('same'),
        steps: [{ calls: [{ tool: 'b' }, { tool: 'a' }, { tool: 'b' }] }, { text: 'x' }],
        tools: [tool('b', { concurrency: 'shared' }), tool('a', { concurrency: 'shared' })],
      })
      const outcome = await runtime.run('go')
      return JSON.stringify([await journalOf(store, outcome.sessionId), outcome])
    }
    expect(await once()).toBe(await once())
  })

  test('tools are ordered by name, whatever the order in the configuration', async () => {
    const { runtime, model } = world({ steps: [{ text: 'x' }], tools: [tool('zebra'), tool('ape'), tool('mole')] })
    await runtime.run('go')
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['ape', 'mole', 'zebra'])
  })
})

describe('core.md: results are shown to the model in call order', () => {
  test('although they finish in another', async () => {
    const doors = [gate(), gate(), gate()]
    const order: number[] = []
    const { runtime, model } = world({
      steps: [{ calls: [0, 1, 2].map((n) => ({ tool: 'wait', input: { n } })) }, { text: 'x' }],
      tools: [
        tool('wait', {
          concurrency: 'shared',
          schema: objectSchema({ n: { type: 'integer' } }),
          execute: async ({ n }) => {
            await doors[Number(n)]?.promise
            order.push(Number(n))
            return `result ${n}`
          },
        }),
      ],
    })
    const handle = runtime.stream('go')
    for (const n of [2, 0, 1]) {
      await settle()
      doors[n]?.open()
      await until(`call ${n} ended`, () => order.includes(n))
    }
    await finish(handle)
    expect(order).toEqual([2, 0, 1])
    expect(resultsIn(model.requests[1]).map(({ id, content }) => [id, content])).toEqual([
      ['call_1', 'result 0'],
      ['call_2', 'result 1'],
      ['call_3', 'result 2'],
    ])
  })

  test('with failures and unknown tools in between, every call has exactly one result', async () => {
    const { runtime, model } = world({
      steps: [{ calls: [{ tool: 'ok' }, { tool: 'nope' }, { tool: 'ok', input: '[]' }, { tool: 'ok' }] }, { text: 'x' }],
      tools: [tool('ok', { concurrency: 'shared' })],
    })
    await runtime.run('go')
    expect(resultsIn(model.requests[1]).map(({ id, ok }) => [id, ok])).toEqual([
      ['call_1', true],
      ['call_2', false],
      ['call_3', false],
      ['call_4', true],
    ])
  })
})

describe('contracts/messages.ts: metadata is the provider’s own and goes back to it untouched', () => {
  const reply = [
    { type: 'reasoning', text: 'think', metadata: { signature: 'abc==', n: [1, { deep: null }] } },
    { type: 'text', text: 'I look.', metadata: { cache: 'ephemeral' } },
    { type: 'call', id: 'c1', name: 'look', input: '{"word":"a"}', metadata: { thought_signature: 'sig' } },
    { type: 'finish', reason: 'tool-calls', metadata: { response: 'r1' } },
  ]
  test('text, reasoning and calls, within a turn', async () => {
    const { model, requests } = rawModel([() => parts(reply), textReply('done')])
    const { runtime } = world({ adapter: model, tools: [tool('look', { schema: word })] })
    expect((await runtime.run('go')).status).toBe('completed')
    expect(requests[1]?.messages[1]).toEqual({
      role: 'assistant',
      parts: [
        { type: 'reasoning', text: 'think', metadata: { signature: 'abc==', n: [1, { deep: null }] } },
        { type: 'text', text: 'I look.', metadata: { cache: 'ephemeral' } },
        { type: 'call', id: 'c1', name: 'look', input: '{"word":"a"}', metadata: { thought_signature: 'sig' } },
      ],
    })
  })

  test('and the order of the parts is kept: reasoning, text, reasoning, call, text, call', async () => {
    const mixed = [
      { type: 'reasoning', text: 'r1', metadata: { s: 1 } },
      { type: 'text', text: 't1' },
      { type: 'reasoning', text: 'r2', metadata: { s: 2 } },
      { type: 'call', id: 'c1', name: 'look', input: '{"word":"a"}' },
      { type: 'text', text: 't2' },
      { type: 'call', id: 'c2', name: 'look', input: '{"word":"b"}' },
    ]
    const { model, requests } = rawModel([() => parts([...mixed, { type: 'finish', reason: 'tool-calls' }]), textReply('done')])
    const { runtime } = world({ adapter: model, tools: [tool('look', { schema: word })] })
    await runtime.run('go')
    expect(requests[1]?.messages[1]).toEqual({ role: 'assistant', parts: mixed })
  })

  test('a signature that comes in a part of its own, without text, is not lost', async () => {
    const { model, requests } = rawModel([
      () =>
        parts([
          { type: 'reasoning', text: 'thi' },
          { type: 'reasoning', text: 'nk' },
          { type: 'reasoning', text: '', metadata: { signature: 'late' } },
          { type: 'call', id: 'c1', name: 'look', input: '{"word":"a"}' },
          { type: 'finish', reason: 'tool-calls' },
        ]),
      textReply('done'),
    ])
    const { runtime } = world({ adapter: model, tools: [tool('look', { schema: word })] })
    await runtime.run('go')
    expect(JSON.stringify(requests[1]?.messages[1])).toContain('"signature":"late"')
    const said = requests[1]?.messages[1]
    expect(said?.role === 'assistant' && said.parts.map((part) => ('text' in part ? part.text : '')).join('')).toBe('think')
  })

  test('after another runtime has taken the tree up: "Items keep the provider’s own metadata so that a request can be rebuilt exactly"', async () => {
    const store = memoryStore()
    const first = rawModel([() => parts(reply), textReply('done')])
    const one = world({ store, adapter: first.model, tools: [tool('look', { schema: word })] })
    const { sessionId: treeId } = await one.runtime.run('go')
    await one.runtime.close()
    const second = rawModel([textReply('again')])
    const two = world({ store, adapter: second.model, tools: [tool('look', { schema: word })] })
    const handle = await two.runtime.open(treeId)
    await handle.send('and now?')
    await finish(handle)
    expect(second.requests[0]?.messages.slice(0, 3)).toEqual(first.requests[1]?.messages)
  })
})
