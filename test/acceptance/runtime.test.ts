import { describe, expect, test, vi } from 'vitest'
import type { Hook, Inbox } from '../../src/contracts/index.ts'
import { agentLoop, type InteractionEvent, type Recipe, type Store, type StreamEvent, type TreeId } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { gate } from '../../src/testing/index.ts'
import {
  agent,
  bounded,
  collect,
  durable,
  expectLegal,
  expectWhole,
  finish,
  inProcess,
  journalOf,
  ofType,
  resultsIn,
  temporaryFolder,
  tool,
  troupeError,
  until,
  world,
} from './support.ts'

vi.setConfig({ testTimeout: 60_000 })

describe('issue: a recipe that can be replaced', () => {
  test('prompt assembly: what the recipe says is what the model gets', async () => {
    const recipe: Recipe = {
      ...agentLoop,
      assemble: (...args: Parameters<Recipe['assemble']>) => {
        const made = agentLoop.assemble(...args)
        return { ...made, system: `${(made as { system: string }).system} SHOUT.` } as ReturnType<Recipe['assemble']>
      },
    }
    const { runtime, model } = world({ recipe, steps: [{ text: 'X' }] })
    expect((await bounded(runtime.run('go'))).status).toBe('completed')
    expect(JSON.stringify(model.requests[0])).toContain('SHOUT.')
  })

  test('decide: the recipe names the next action, and is asked again after each', async () => {
    const kinds: string[] = []
    const recipe: Recipe = {
      ...agentLoop,
      decide: (...args: Parameters<Recipe['decide']>) => {
        const action = agentLoop.decide(...args)
        kinds.push((action as { kind: string }).kind)
        return action
      },
    }
    const { runtime } = world({ recipe, steps: [{ calls: [{ tool: 'look' }] }, { text: 'x' }], tools: [tool('look')] })
    expect((await bounded(runtime.run('go'))).status).toBe('completed')
    expect(kinds).toContain('ask')
    expect(kinds.length).toBeGreaterThan(2)
  })

  test('a recipe that throws gives an outcome, reason internal, never a throw', async () => {
    for (const part of ['decide', 'assemble'] as const) {
      const recipe = {
        ...agentLoop,
        [part]: () => {
          throw new Error('bad recipe')
        },
      } as Recipe
      const { runtime } = world({ recipe, steps: [{ text: 'x' }] })
      const outcome = await bounded(runtime.run('go'))
      expect(outcome.status).toBe('failed')
      expect(`${outcome.message}`).toContain('bad recipe')
      expectWhole(outcome)
    }
  })
})

describe('close()', () => {
  test('releases what runs, waits for it; the store stays its owner’s', async () => {
    const store = memoryStore()
    const { runtime, model } = world({ store, steps: [{ text: 'x', fault: 'silence' }] })
    const handle = runtime.stream('go')
    await until('asked', () => model.requests.length === 1)
    await bounded(runtime.close(), 'close')
    const outcome = await finish(handle)
    expect([outcome.status, outcome.reason]).toEqual(['suspended', 'released'])
    expectLegal(await journalOf(store, handle.sessionId), { settled: false })
    expect((await store.trees.list()).length, 'the store is still open').toBe(1)
  })

  test('twice, and with nothing running; hooks are closed once, however they take it', async () => {
    const closed: string[] = []
    const hook = (name: string, more: () => void = () => {}): Hook => ({
      name,
      onFailure: 'open',
      atStop: () => ({ kind: 'continue' }),
      close: () => {
        closed.push(name)
        more()
      },
    })
    const refuses = () => {
      throw new Error('no')
    }
    const { runtime } = world({ hooks: [hook('a', refuses), hook('b')] })
    await bounded(Promise.all([runtime.close(), runtime.close()]))
    await bounded(runtime.close())
    expect(closed).toEqual(['a', 'b'])
  })

  test('afterwards everything says runtime_closed (or ends in an outcome that says so)', async () => {
    const store = memoryStore()
    const { runtime, model } = world({ store, steps: [{ text: 'x' }, { text: 'y' }] })
    const { sessionId: treeId } = await bounded(runtime.run('go'))
    await runtime.close()
    expect((await troupeError(() => runtime.open(treeId))).code).toBe('runtime_closed')
    expect((await troupeError(() => runtime.sessions.start('x'))).code).toBe('runtime_closed')
    try {
      const outcome = await bounded(runtime.run('again'))
      expect(outcome.status).not.toBe('completed')
    } catch (error) {
      expect((error as { code: string }).code).toBe('runtime_closed')
    }
    expect(model.requests).toHaveLength(1)
  })

  test('a suspended tree stays suspended and can be resumed elsewhere', async () => {
    const store = memoryStore()
    const one = world({
      store,
      tools: [tool('ask', { approval: () => ({ keys: [], summary: 's' }) })],
      approver: { decide: () => 'suspend' },
      steps: [{ calls: [{ tool: 'ask' }] }],
    })
    const { sessionId: treeId } = await bounded(one.runtime.run('go'))
    await bounded(one.runtime.close())
    expectLegal(await journalOf(store, treeId), { settled: false })
    expect(ofType(await journalOf(store, treeId), 'interaction.turn.interrupted')).toEqual([])
    const two = world({ store })
    expect((await bounded(two.runtime.sessions.outcome(treeId))).status).toBe('suspended')
  })

  test('releases trees: another runtime on the same store can open them immediately', async () => {
    const path = temporaryFolder()
    const one = world({ store: sqliteStore({ path }), steps: [{ text: 'x' }] })
    const { sessionId: treeId } = await bounded(one.runtime.run('go'))
    await one.runtime.close()
    const two = world({ store: sqliteStore({ path }), steps: [{ text: 'y' }] })
    const handle = await bounded(two.runtime.open(treeId))
    await handle.send('more')
    await until('answered', () => two.model.requests.length === 1)
  })

  test('a tool that ignores its signal does not hold close() for ever', async () => {
    const entered = gate()
    const { runtime, clock } = world({
      steps: [{ calls: [{ tool: 'deaf' }] }],
      tools: [
        tool('deaf', {
          execute: () => {
            entered.open()
            return new Promise<string>(() => undefined)
          },
        }),
      ],
    })
    runtime.stream('go')
    await entered.promise
    const closed = runtime.close()
    for (let i = 0; i < 30; i += 1) await clock.elapse(1000)
    await bounded(closed, 'close', 30_000)
  })
})

describe('several runtimes on one SQLite folder', () => {
  const running = () => {
    const path = temporaryFolder()
    const door = gate()
    const entered = gate()
    const slow = tool('slow', {
      execute: async (_, { signal }) => {
        entered.open()
        await Promise.race([door.promise, new Promise((resolve) => signal.addEventListener('abort', resolve))])
        return 'ok'
      },
    })
    const one = world({ store: sqliteStore({ path }), steps: [{ calls: [{ tool: 'slow' }] }, { text: 'x' }, { text: 'y' }], tools: [slow] })
    const two = world({ store: sqliteStore({ path }), tools: [slow] })
    const handle = one.runtime.stream('go')
    return { one, two, handle, door, entered, path }
  }

  test('open of a tree that another drives: session_driven, which a retry can help', async () => {
    const { two, handle, door, entered } = running()
    await entered.promise
    const error = await troupeError(() => two.runtime.open(handle.sessionId))
    expect([error.code, error.retry]).toEqual(['session_driven', true])
    door.open()
    expect((await finish(handle)).status).toBe('completed')
  })

  test('send, cancel and events work from the other one: the inbox is for any process', async () => {
    const { two, handle, door, entered, one } = running()
    await entered.promise
    const tail = collect(two.runtime.sessions.events(handle.sessionId))
    await two.runtime.sessions.send(handle.sessionId, 'from two')
    door.open()
    await until(
      'two turns',
      async () => ofType(await journalOf(one.store, handle.sessionId), 'interaction.turn.completed').length === 2,
      30_000,
    )
    const events = durable(await bounded(tail, 'the tail from the other runtime'))
    expect(events).toEqual(await journalOf(one.store, handle.sessionId))
  })

  test('interrupt from the other one reaches the driver', async () => {
    const { two, handle, entered } = running()
    await entered.promise
    await two.runtime.sessions.cancel(handle.sessionId, 'interrupt')
    expect((await finish(handle)).status).toBe('interrupted')
  })

  test('outcome of a tree that another drives waits for it', async () => {
    const { two, handle, door, entered } = running()
    await entered.promise
    const other = two.runtime.sessions.outcome(handle.sessionId)
    door.open()
    const [mine, theirs] = await bounded(Promise.all([handle.outcome, other]), 'both outcomes')
    expect([theirs.status, theirs.report]).toEqual([mine.status, mine.report])
  })

  test('both list all trees', async () => {
    const { one, two, handle, door } = running()
    door.open()
    await finish(handle)
    expect(await two.runtime.sessions.list()).toEqual(await one.runtime.sessions.list())
  })

  test('an owner that died is replaced: another process takes the tree up, a write is not repeated', async () => {
    const path = temporaryFolder()
    const { ran } = await inProcess(
      `
      const runtime = createAgentRuntime({
        store: sqliteStore({ path: ${JSON.stringify(path)} }),
        adapter: new ScriptedModel([{ calls: [{ tool: 'write' }] }]),
        config: { agents: [agent], tools: [{ name: 'write', description: 'd', inputSchema: { type: 'object' }, execute: () => { process.kill(process.pid, 'SIGKILL'); return new Promise(() => {}) } }] },
      })
      await runtime.run('go')
    `,
    )
    expect(ran.killed).toBe(true)
    let runs = 0
    const { runtime, store } = world({
      store: sqliteStore({ path }),
      steps: [{ text: 'Told.' }],
      tools: [
        tool('write', {
          execute: () => {
            runs += 1
            return 'x'
          },
        }),
      ],
    })
    const [entry] = await runtime.sessions.list()
    expect(entry?.status).toBe('running')
    const handle = await bounded(runtime.open(entry?.sessionId as TreeId))
    const outcome = await finish(handle)
    expect([outcome.status, outcome.report?.text, runs]).toEqual(['completed', 'Told.', 0])
    const events = await journalOf(store, handle.sessionId)
    expectLegal(events)
    expect(ofType(events, 'interaction.item.completed')[0]?.item.status).toBe('unknown')
  })

  test('fifty concurrent trees on one store: all end, none mixed up', async () => {
    const store = sqliteStore({ path: temporaryFolder() })
    const { runtime } = world({
      store,
      adapter: {
        id: 'raw/echo',
        abilities: ['tools'],
        async *stream({ messages }) {
          const first = messages[0]
          const text = first?.role === 'user' && first.parts[0]?.type === 'text' ? first.parts[0].text : ''
          if (messages.length === 1) {
            yield { type: 'call', id: 'c', name: 'echo', input: JSON.stringify({ text }) } as const
            yield { type: 'finish', reason: 'tool-calls' } as const
          } else {
            yield { type: 'text', text: `${text}: ${resultsIn({ messages } as never)[0]?.content}` } as const
            yield { type: 'finish', reason: 'stop' } as const
          }
        },
      },
      tools: [tool('echo', { schema: { type: 'object' }, execute: ({ text }) => `echo ${text}` })],
    })
    const outcomes = await bounded(Promise.all(Array.from({ length: 50 }, (_, i) => runtime.run(`n${i}`))))
    expect(outcomes.map(({ report }) => report?.text)).toEqual(Array.from({ length: 50 }, (_, i) => `n${i}: echo n${i}`))
  })
})

describe('a store that misbehaves', () => {
  const broken = (part: 'claim' | 'inbox.read' | 'inbox.add'): Store => {
    const inner = memoryStore()
    const fail = (): never => {
      throw new Error(`broken ${part}`)
    }
    const journal = { ...bind(inner.journal), ...(part === 'claim' && { claim: fail }) }
    const inbox: Inbox = { ...bind(inner.inbox), ...(part === 'inbox.read' && { read: fail }), ...(part === 'inbox.add' && { add: fail }) }
    return { ...inner, journal: journal as Store['journal'], inbox }
  }
  test('watch throws: "run never throws", and the process lives', async () => {
    const { answer, ran } = await inProcess(`
      const inner = memoryStore()
      const watch = () => { throw new Error('broken watch') }
      const store = { ...inner, inbox: { add: inner.inbox.add.bind(inner.inbox), read: inner.inbox.read.bind(inner.inbox), watch } }
      const runtime = createAgentRuntime({ store: store as any, adapter: new ScriptedModel([{ text: 'x' }]), config: { agents: [agent] } })
      const outcome = await runtime.run('go')
      await rounds()
      done({ status: outcome.status })
    `)
    expect(answer, ran.stderr.slice(0, 300)).toMatchObject({ status: expect.stringMatching(/completed|failed/) })
  })
  for (const part of ['claim', 'inbox.read'] as const)
    test(`${part} throws: run gives an outcome`, async () => {
      const { runtime } = world({ store: broken(part), steps: [{ text: 'x' }] })
      const outcome = await bounded(runtime.run('go'), 'run', 30_000)
      expect(['completed', 'failed']).toContain(outcome.status)
      expectWhole(outcome)
    })
  test('inbox.add throws: send rejects, the run continues', async () => {
    const door = gate()
    const { runtime } = world({ store: broken('inbox.add'), steps: [{ text: 'x', wait: door.promise }] })
    const handle = runtime.stream('go')
    await expect(bounded(handle.send('more'), 'send', 30_000)).rejects.toThrow(/broken inbox.add/)
    door.open()
    expect((await finish(handle)).status).toBe('completed')
  })
  test('a journal row that this version can not read: store_invalid or an outcome, never a crash', async () => {
    const store = memoryStore()
    const one = world({ store, steps: [{ text: 'x' }] })
    const { sessionId: treeId } = await bounded(one.runtime.run('go'))
    await one.runtime.close()
    const claim = await store.journal.claim(treeId, 'other' as never)
    if (!claim.ok) return expect.unreachable()
    await store.journal.append({
      treeId,
      epoch: claim.epoch,
      expectedSeq: claim.seq,
      events: [
        {
          type: 'interaction.from.the.future',
          seq: claim.seq + 1,
          treeId,
          sessionId: treeId,
          agentPath: 'root',
          at: 0,
        } as unknown as InteractionEvent,
      ],
    })
    await store.journal.release(treeId, claim.epoch)
    const two = world({ store, steps: [{ text: 'y' }] })
    const error = await troupeError(async () => {
      const handle = await two.runtime.open(treeId)
      await handle.send('more')
      const outcome = await bounded(handle.outcome, 'the outcome', 30_000)
      if (outcome.status === 'completed') throw new Error('it went on over a row that it could not read')
      expectWhole(outcome)
    })
    expect(['store_invalid', 'internal']).toContain(error.code)
  })
})

function bind<T extends object>(target: T): T {
  const out: { [key: string]: unknown } = {}
  for (const key of ['claim', 'release', 'append', 'read', 'watch', 'add']) {
    const value = (target as { [name: string]: unknown })[key]
    if (typeof value === 'function') out[key] = value.bind(target)
  }
  return out as T
}

test('agent: another agent of the config for this tree', async () => {
  const { runtime, model } = world({
    config: { agents: [agent, { ...agent, name: 'other', prompt: 'You are another.' }], agentSelection: { agent: 'clerk' } },
    steps: [{ text: 'x' }, { text: 'y' }],
  })
  await bounded(runtime.run('go'))
  const outcome = await bounded(runtime.run('go', { agent: 'other' }))
  expect(model.requests.map(({ system }) => system)).toEqual(['You are a clerk.', 'You are another.'])
  expect(outcome.snapshot.selectedAgent.name).toBe('other')
})

test('invariant 9: the library writes nothing to stdout or stderr', async () => {
  const { ran } = await inProcess(`
    const runtime = createAgentRuntime({
      adapter: new ScriptedModel([{ calls: [{ tool: 'bad' }, { tool: 'nope' }] }, { text: 'x' }]),
      config: { agents: [agent], tools: [{ name: 'bad', description: 'd', inputSchema: { type: 'object', properties: { a: { type: 'string', format: 'made-up', 'x-odd': 1 } } }, execute: () => { throw new Error('boom') } }] },
    })
    await runtime.run('go')
    await runtime.close()
    done('end')
  `)
  expect([ran.stdout, ran.stderr]).toEqual(['"end"\n', ''])
})

test('a process whose run has ended and whose runtime is closed goes home by itself', async () => {
  const { ran } = await inProcess(
    `
    import { mkdtempSync } from 'node:fs'
    const store = sqliteStore({ path: mkdtempSync(process.cwd() + '/data-') })
    const runtime = createAgentRuntime({ store, adapter: new ScriptedModel([{ text: 'x' }]), config: { agents: [agent] } })
    await runtime.run('go')
    await runtime.close()
    await store.close()
    console.log('"end"')
  `,
    8000,
  )
  expect(ran.killed).toBe(false)
  expect(ran.code).toBe(0)
})

test('live events of a handle come in the order of what they belong to', async () => {
  const { runtime } = world({ steps: [{ text: 'abc', chunks: 3, reasoning: 'r' }] })
  const events: StreamEvent[] = await bounded(collect(runtime.stream('go')))
  const open = new Set<string>()
  for (const event of events) {
    if (event.type === 'interaction.item.started') open.add(event.itemId as string)
    if (event.type === 'interaction.item.delta')
      expect(open.has(event.itemId), 'a delta of an item that has started and not ended').toBe(true)
    if (event.type === 'interaction.item.completed') open.delete(event.itemId as string)
  }
})
