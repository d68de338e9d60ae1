import { describe, expect, test, vi } from 'vitest'
import type { InteractionEvent, TreeId } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import {
  approverOf,
  bounded,
  elapsing,
  expectLegal,
  finish,
  journalOf,
  objectSchema,
  ofType,
  parts,
  rawModel,
  settle,
  storeWith,
  textReply,
  tool,
  until,
  watchedStore,
  world,
} from './support.ts'

vi.setConfig({ testTimeout: 60_000 })

describe('core.md: resume. open() after an unfinished run, for every prefix of a journal', () => {
  const make = async () => {
    const ran: string[] = []
    const tools = (note: string[]) => [
      tool('reads', {
        effect: 'read',
        concurrency: 'shared',
        execute: (_, { callId, attempt }) => {
          note.push(`reads ${callId} ${attempt}`)
          return 'read'
        },
      }),
      tool('again', {
        effect: 'idempotent',
        concurrency: 'shared',
        execute: (_, { callId, attempt }) => {
          note.push(`again ${callId} ${attempt}`)
          return 'done again'
        },
      }),
      tool('writes', {
        execute: (_, { callId, attempt }) => {
          note.push(`writes ${callId} ${attempt}`)
          return 'written'
        },
      }),
    ]
    const inner = memoryStore()
    const { runtime } = world({
      store: inner,
      steps: [{ text: 'I do.', calls: [{ tool: 'reads' }, { tool: 'again' }, { tool: 'writes' }] }, { text: 'All done.' }],
      tools: tools(ran),
    })
    const outcome = await bounded(runtime.run('go'))
    expect(ran).toHaveLength(3)
    return { events: await journalOf(inner, outcome.sessionId), tools, ran }
  }
  const callIdOf = (notes: readonly string[], name: string): string | undefined =>
    notes.find((note) => note.startsWith(name))?.split(' ')[1]

  test('every item and turn ends once; read and idempotent run again, the latter under the same call id; a write never runs twice and is unknown', async () => {
    const { events, tools, ran } = await make()
    for (let length = 1; length < events.length; length += 1) {
      const prefix = events.slice(0, length)
      const store = await storeWith(prefix)
      const notes: string[] = []
      const { model, requests } = rawModel([
        (request) =>
          request.messages.some(({ role }) => role === 'tool')
            ? textReply('All done.')()
            : parts([
                { type: 'text', text: 'I do.' },
                ...['reads', 'again', 'writes'].map((name, i) => ({ type: 'call', id: `call_${i + 1}`, name, input: '{}' })),
                { type: 'finish', reason: 'tool-calls' },
              ]),
        textReply('All done.'),
      ])
      const { runtime, clock } = world({ store, adapter: model, tools: tools(notes) })
      const handle = await bounded(runtime.open(prefix[0]?.treeId as TreeId), `open at ${length}`)
      if (prefix.some(({ type }) => type === 'interaction.turn.completed')) {
        await settle(10)
        expect([notes, requests], 'nothing is left to do').toEqual([[], []])
        await runtime.close()
        continue
      }
      if (!prefix.some(({ type }) => type === 'interaction.input.accepted')) continue
      const outcome = await elapsing(clock, handle.outcome, [500, 50])
      expect([length, outcome.status, outcome.report?.text]).toEqual([length, 'completed', 'All done.'])
      const all = await journalOf(store, handle.sessionId)
      expectLegal(all)
      expect(ofType(all, 'interaction.turn.completed'), `one end at ${length}`).toHaveLength(1)
      const inPrefix = (name: string, what: 'started' | 'completed') =>
        prefix.some((event) => {
          const started = events.find((each) => each.type === 'interaction.item.started' && 'tool' in each.item && each.item.tool === name)
          return event.type === `interaction.item.${what}` && event.itemId === started?.itemId
        })
      for (const name of ['reads', 'again', 'writes']) {
        const runs = notes.filter((note) => note.startsWith(name))
        if (inPrefix(name, 'completed')) expect(runs, `${name} at ${length}: its result is there`).toEqual([])
        else if (!inPrefix(name, 'started')) expect(runs, `${name} at ${length}: never started before`).toHaveLength(1)
        else if (name === 'writes') {
          // It is exclusive and last, so it can not have been entered before the two others ended: then it may run, once.
          const mayRun = !inPrefix('reads', 'completed') || !inPrefix('again', 'completed')
          expect(runs.length, `writes at ${length}: an intent without a result is never repeated`).toBeLessThanOrEqual(mayRun ? 1 : 0)
        } else expect(runs, `${name} at ${length}: runs again as attempt 2`).toEqual([`${name} ${callIdOf(ran, name)} 2`])
      }
      if (inPrefix('writes', 'started') && !inPrefix('writes', 'completed') && !notes.some((note) => note.startsWith('writes'))) {
        const record = ofType(all, 'interaction.item.completed').find(({ item }) => item.status === 'unknown')
        expect(record, `the write is flagged at ${length}`).toBeDefined()
        expect(JSON.stringify(requests.at(-1)?.messages), 'the model is told').toMatch(/not known|unknown|may have/i)
      }
      if (prefix.some(({ type }) => type === 'interaction.turn.started'))
        expect(ofType(all, 'interaction.session.resumed').length, `resumption is on the record at ${length}`).toBe(1)
      await runtime.close()
    }
  })

  const crashed = async (setup: Parameters<typeof world>[0], ready: (running: readonly string[]) => boolean) => {
    // Runs until the effects are under way, then takes what is durable at that moment, as a crash would leave it.
    const running: string[] = []
    const inner = memoryStore()
    const names = ['a', 'b']
    const { runtime, model } = world({
      ...setup,
      store: inner,
      tools: names.map((name) =>
        tool(name, {
          ...(setup?.tools?.find((each) => 'name' in each && each.name === name) as object),
          execute: (_, { signal }) => {
            running.push(name)
            return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
          },
        }),
      ),
    })
    const handle = runtime.stream('go')
    await until('the effects are under way', () => ready(running))
    await settle(10)
    const events = [...(await journalOf(inner, handle.sessionId))]
    await handle.interrupt()
    await runtime.close()
    expect(model.requests).toHaveLength(1)
    return events
  }
  const resumed = async (events: readonly InteractionEvent[], setup: Parameters<typeof world>[0]) => {
    const store = await storeWith(events)
    const repeated: string[] = []
    const { runtime } = world({
      ...setup,
      store,
      steps: [{ text: 'All done.' }, { text: 'All done.' }],
      tools: setup?.tools?.map((each) => ({
        ...(each as ReturnType<typeof tool>),
        execute: () => {
          repeated.push((each as ReturnType<typeof tool>).name)
          return 'ran'
        },
      })),
    } as Parameters<typeof world>[0])
    const handle = await runtime.open(events[0]?.treeId as TreeId)
    const outcome = await finish(handle)
    return { repeated, outcome, events: await journalOf(store, handle.sessionId) }
  }

  test('two shared writes were running; resumed with a smaller cap, none is repeated and both are unknown', async () => {
    const tools = [tool('a', { concurrency: 'shared' }), tool('b', { concurrency: 'shared' })]
    const steps = [{ calls: [{ tool: 'a' }, { tool: 'b' }] }]
    const events = await crashed({ tools, steps }, (running) => running.length === 2)
    const after = await resumed(events, { tools, limits: { parallelToolCalls: 1 } })
    expect(after.repeated).toEqual([])
    expect(ofType(after.events, 'interaction.item.completed').filter(({ item }) => item.status === 'unknown')).toHaveLength(2)
  })

  test('two shared writes were running; resumed where the tools are exclusive now, none is repeated', async () => {
    const events = await crashed(
      {
        tools: [tool('a', { concurrency: 'shared' }), tool('b', { concurrency: 'shared' })],
        steps: [{ calls: [{ tool: 'a' }, { tool: 'b' }] }],
      },
      (running) => running.length === 2,
    )
    const after = await resumed(events, { tools: [tool('a'), tool('b')] })
    expect(after.repeated).toEqual([])
  })

  test('a write ran while the call before it waited for a person; it is not repeated', async () => {
    const asks = tool('a', { approval: () => ({ keys: [], summary: 's' }), concurrency: { key: () => 'a' } })
    const tools = [asks, tool('b', { concurrency: 'shared' })]
    const events = await crashed(
      { tools, steps: [{ calls: [{ tool: 'a' }, { tool: 'b' }] }], approver: approverOf(() => 'wait') },
      (running) => running.includes('b'),
    )
    const after = await resumed(events, { tools, approver: approverOf(() => ({ kind: 'deny', by: 'me' })) })
    expect(after.repeated).toEqual([])
    expect(
      ofType(after.events, 'interaction.item.completed')
        .map(({ item }) => item.status)
        .sort(),
    ).toEqual(['completed', 'declined', 'unknown'])
  })

  test('a call approved and running when the driver died is not repeated', async () => {
    const tools = [tool('a', { approval: () => ({ keys: [], summary: 's' }) }), tool('b')]
    const approver = approverOf(() => ({ kind: 'approve', breadth: 'once', by: 'me' }))
    const events = await crashed({ tools, steps: [{ calls: [{ tool: 'a' }] }], approver }, (running) => running.includes('a'))
    const after = await resumed(events, { tools, approver })
    expect(after.repeated).toEqual([])
    expect(ofType(after.events, 'interaction.item.completed').some(({ item }) => item.status === 'unknown')).toBe(true)
  })

  test('a tool that was "read" and is "write" now: the recorded effect of the intent applies, and a write is not repeated', async () => {
    const events = await crashed({ tools: [tool('a')], steps: [{ calls: [{ tool: 'a' }] }] }, (running) => running.length === 1)
    const after = await resumed(events, { tools: [tool('a', { effect: 'read' })] })
    expect(after.repeated).toEqual([])
  })

  test('a missing tool: the call ends, the turn continues, a diagnostic reports it', async () => {
    const events = await crashed(
      { tools: [tool('a', { effect: 'read' })], steps: [{ calls: [{ tool: 'a' }] }] },
      (running) => running.length === 1,
    )
    const after = await resumed(events, { tools: [tool('b')] })
    expect(after.outcome.status).toBe('completed')
    expectLegal(after.events)
    expect(JSON.stringify(after.outcome.diagnostics), '"each difference is a diagnostic"').toMatch(/\ba\b/)
  })

  test('with a cap of one, the next shared write waits until the result before it is durable', async () => {
    const watched = watchedStore()
    const ran: string[] = []
    const note = (name: string) =>
      tool(name, {
        concurrency: 'shared',
        execute: () => {
          ran.push(name)
          return 'ok'
        },
      })
    const { runtime } = world({
      store: watched.store,
      limits: { parallelToolCalls: 1 },
      steps: [{ calls: [{ tool: 'a' }, { tool: 'b' }] }, { text: 'x' }],
      tools: [note('a'), note('b')],
    })
    const hold = watched.hold((batch) =>
      batch.events.some((event) => event.type === 'interaction.item.completed' && event.itemId === 't1.s1.1'),
    )
    const handle = runtime.stream('go')
    await bounded(hold.reached, 'the result of the first')
    await settle(20)
    expect(ran).toEqual(['a'])
    hold.release()
    await finish(handle)
  })

  test('a model attempt in flight is lost and asked again; its input and a usual reply count as spent', async () => {
    const { events, tools } = await make()
    const started = events.findIndex(({ type }) => type === 'interaction.step.started')
    const store = await storeWith(events.slice(0, started + 1))
    const { runtime, clock } = world({ store, steps: [{ text: 'short', usage: { input: 1, output: 1 } }], tools: tools([]) })
    const handle = await runtime.open(events[0]?.treeId as TreeId)
    const outcome = await elapsing(clock, handle.outcome, [500, 50])
    const lost = ofType(await journalOf(store, handle.sessionId), 'interaction.step.failed')
    expect(lost).toMatchObject([{ failure: { class: 'lost' } }])
    const { reservation } = ofType(events, 'interaction.step.started')[0]!
    expect(outcome.usage.input + outcome.usage.output).toBe(reservation.input + Math.min(reservation.output, 4_096) + 2)
  })

  test('session-service.ts: outcome "Resolves when the session is idle or suspended", also while the idle tree is open here', async () => {
    const { events, tools } = await make()
    const { runtime } = world({ store: await storeWith(events), tools: tools([]) })
    const treeId = events[0]?.treeId as TreeId
    expect((await bounded(runtime.sessions.outcome(treeId), 'before open', 30_000)).report?.text).toBe('All done.')
    await runtime.open(treeId)
    expect((await bounded(runtime.sessions.outcome(treeId), 'after open', 30_000)).report?.text).toBe('All done.')
  })

  test('messages left in the inbox are processed by the next process that opens the tree', async () => {
    const { events, tools } = await make()
    const store = await storeWith(events)
    const treeId = events[0]?.treeId as TreeId
    await store.inbox.add(treeId, 'from-outside' as never, { kind: 'input', parts: [{ type: 'text', text: 'more' }], mode: 'queue' })
    const { runtime, model } = world({ store, steps: [{ text: 'More.' }], tools: tools([]) })
    const handle = await runtime.open(treeId)
    await until('it is answered', async () => ofType(await journalOf(store, treeId), 'interaction.turn.completed').length === 2)
    expect((await finish(handle)).report?.text).toBe('More.')
    expect(JSON.stringify(model.requests[0]?.messages.at(-1))).toContain('more')
  })

  test('folding the journal again gives the same snapshot, byte for byte', async () => {
    const inner = memoryStore()
    const one = world({
      store: inner,
      steps: [{ calls: [{ tool: 'a', input: { x: 1 } }] }, { text: 'x' }],
      tools: [tool('a', { schema: objectSchema({ x: {} }) })],
    })
    const outcome = await one.runtime.run('go')
    await one.runtime.close()
    const two = world({ store: inner, tools: [tool('a', { schema: objectSchema({ x: {} }) })] })
    const again = await two.runtime.sessions.outcome(outcome.sessionId)
    const events = await journalOf(inner, outcome.sessionId)
    if (events.length === outcome.snapshot.seq) expect(JSON.stringify(again.snapshot)).toBe(JSON.stringify(outcome.snapshot))
    expect([again.status, again.report, again.usage, again.accounting]).toEqual([
      outcome.status,
      outcome.report,
      outcome.usage,
      outcome.accounting,
    ])
  })
})
