import { AsyncLocalStorage } from 'node:async_hooks'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, expect, it } from 'vitest'
import type { BusEvent, Records, Store } from '../../contracts/index.ts'
import { openStore } from '../../stores/index.ts'
import { FakeClock, gate, sequentialIds } from '../../testing/index.ts'
import type { KernelDiagnostic } from '../shared/kernel-types.ts'
import { createBus, type RunningBus } from './create-bus.ts'
import { listDeadLetters, listEvents, retryDeadLetter } from './stored-events.ts'

const closed: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closed.splice(0)) await close()
})

async function memory(): Promise<Store> {
  const store = await openStore('memory:')
  closed.push(() => store.close())
  return store
}

async function setup() {
  const { records } = await memory()
  const clock = new FakeClock()
  const diagnostics: KernelDiagnostic[] = []
  const ids = sequentialIds('e')
  const create = (): RunningBus => createBus({ records, clock, ids, onDiagnostic: (each) => diagnostics.push(each) })
  return { records, clock, diagnostics, create, bus: create() }
}

const fromKernel = (name: string, data: string | number = '') => ({ name, data, source: 'kernel' })

it('delivers to every subscriber in order, and keeps the event for lists', async () => {
  const { bus, clock, records } = await setup()
  const got: string[] = []
  bus.subscribe({ id: 'one', name: 'news', handle: ({ data }) => void got.push(`one ${data}`) })
  bus.subscribe({ id: 'two', name: 'news', handle: ({ data }) => void got.push(`two ${data}`) })
  bus.subscribe({ id: 'two', name: 'other', handle: () => void got.push('wrong') })
  await bus.publish(fromKernel('news', 'before start'))
  await clock.elapse(0)
  expect(got).toEqual([])
  bus.start()
  await bus.publish(fromKernel('news', 'after'))
  await clock.elapse(0)
  expect(got.toSorted()).toEqual(['one after', 'one before start', 'two after', 'two before start'])
  expect(got.filter((each) => each.startsWith('one'))).toEqual(['one before start', 'one after'])
  const listed = await listEvents(records, { limit: 10 })
  expect(listed.map(({ event, waiting }) => ({ data: event.data, waiting }))).toEqual([
    { data: 'after', waiting: [] },
    { data: 'before start', waiting: [] },
  ])
})

it('retries with growing delays, without holding up later events, and ends with a dead letter that can be delivered again', async () => {
  const { bus, clock, records, diagnostics } = await setup()
  const attempts: number[] = []
  const others: unknown[] = []
  let isBroken = true
  const began = clock.now()
  bus.subscribe({
    id: 'weak',
    name: 'news',
    handle({ data, id }) {
      if (data !== 'poison') return void others.push(data)
      attempts.push(clock.now() - began)
      if (isBroken) throw new Error(`no disk for ${id}`)
    },
  })
  bus.start()
  await bus.publish(fromKernel('news', 'poison'))
  await bus.publish(fromKernel('news', 'fine'))
  await clock.elapse(0)
  expect(others).toEqual(['fine'])
  await clock.elapse(20 * 60_000)
  expect(attempts).toEqual([0, 1_000, 6_000, 36_000, 156_000, 756_000])
  const [letter] = await listDeadLetters(records, { limit: 10 })
  expect(letter).toMatchObject({ subscribers: ['weak'], attempts: 6, event: { data: 'poison' }, isChainEnd: false })
  expect(letter?.error).toBe(`no disk for ${letter?.event.id}`)
  expect(diagnostics.at(-1)).toMatchObject({ level: 'error', message: expect.stringContaining(`troupe events retry ${letter?.event.id}`) })
  expect(diagnostics).toHaveLength(6)

  isBroken = false
  if (letter) await retryDeadLetter(records, letter, clock.now())
  await clock.elapse(1_000)
  expect(attempts).toHaveLength(7)
  expect(await listDeadLetters(records, { limit: 10 })).toEqual([])
  await clock.elapse(60_000)
  expect(attempts).toHaveLength(7)
})

it('takes the same id of one source once, also after a restart', async () => {
  const { bus, clock, create } = await setup()
  const got: BusEvent[] = []
  const subscribe = (to: RunningBus) => to.subscribe({ id: 'one', name: 'news', handle: (event) => void got.push(event) })
  subscribe(bus)
  bus.start()
  await Promise.all([bus.publish({ ...fromKernel('news'), id: '7' }), bus.publish({ ...fromKernel('news'), id: '7' })])
  await clock.elapse(0)
  await bus.stop()
  const next = create()
  subscribe(next)
  next.start()
  await next.publish({ ...fromKernel('news'), id: '7' })
  await next.publish({ ...fromKernel('news'), source: 'kv', id: '7' })
  await clock.elapse(5_000)
  expect(got.map(({ id }) => id)).toEqual(['kernel:7', 'kv:7'])
})

it('delivers an event that is not durable once, and stores nothing', async () => {
  const { bus, clock, records, diagnostics } = await setup()
  let calls = 0
  bus.subscribe({
    id: 'one',
    name: 'tick',
    handle() {
      calls += 1
      throw new Error('busy')
    },
  })
  bus.start()
  await bus.publish({ ...fromKernel('tick'), durable: false })
  await clock.elapse(60_000)
  expect(calls).toBe(1)
  expect(await listEvents(records, { limit: 1 })).toEqual([])
  expect(diagnostics.map(({ message }) => message)).toEqual(['one failed on the event tick (not durable, no retry): busy'])
})

it('runs handlers of one subscriber one after another, those of others beside them, and gives up a hanging one', async () => {
  const { bus, clock, diagnostics } = await setup()
  const got: string[] = []
  const hold = gate()
  let runs = 0
  bus.subscribe({
    id: 'slow',
    name: 'news',
    async handle({ data }) {
      got.push(`slow ${data}`)
      runs += 1
      if (runs === 1) await hold.promise
    },
  })
  bus.subscribe({ id: 'fast', name: 'news', handle: ({ data }) => void got.push(`fast ${data}`) })
  bus.start()
  await bus.publish(fromKernel('news', 1))
  await bus.publish(fromKernel('news', 2))
  await clock.elapse(59_000)
  expect(got).toEqual(['slow 1', 'fast 1', 'fast 2'])
  await clock.elapse(1_000)
  expect(got).toEqual(['slow 1', 'fast 1', 'fast 2', 'slow 2'])
  expect(diagnostics[0]?.message).toContain('no answer within 60 s')
  await clock.elapse(2_000)
  expect(got.at(-1)).toBe('slow 1')
  hold.open()
})

it('gives what a handler publishes its cause, and stops a chain of 16 with a dead letter that a retry continues', async () => {
  const { bus, clock, records, diagnostics } = await setup()
  const seen: BusEvent[] = []
  bus.subscribe({
    id: 'echo',
    name: 'ping',
    async handle(event) {
      seen.push(event)
      await Promise.resolve()
      await bus.publish({ name: 'ping', data: null, source: 'echo' })
    },
  })
  bus.start()
  await bus.publish({ ...fromKernel('ping'), correlationId: 'turn-1' })
  await clock.elapse(0)
  expect(seen.map(({ hops }) => hops)).toEqual([...Array(16).keys()])
  expect(new Set(seen.map(({ correlationId }) => correlationId))).toEqual(new Set(['turn-1']))
  const [letter, ...more] = await listDeadLetters(records, { limit: 10 })
  expect(more).toEqual([])
  expect(letter).toMatchObject({ isChainEnd: true, event: { hops: 16 }, subscribers: ['echo'] })
  expect(diagnostics.map(({ message }) => message)).toEqual([
    `The chain turn-1 has 16 events that led to each other, and was stopped. Its event ping of echo (${letter?.event.id}) was not delivered.`,
  ])
  if (letter) await retryDeadLetter(records, letter, clock.now())
  await clock.elapse(1_000)
  expect(seen).toHaveLength(32)
})

it('stops a chain after ten minutes, and one that is not durable, too', async () => {
  const { bus, clock, diagnostics } = await setup()
  let hops = 0
  bus.subscribe({
    id: 'slow',
    name: 'ping',
    async handle(event) {
      hops = Math.max(hops, event.hops)
      await new Promise<void>((resolve) => clock.after(55_000, resolve))
      // As an extension in another process does it: outside of the context of the handler.
      await bus.publish({ name: 'ping', data: null, source: 'slow' })
    },
  })
  bus.subscribe({ id: 'fast', name: 'pong', handle: () => bus.publish({ name: 'pong', data: null, source: 'fast', durable: false }) })
  bus.start()
  await bus.publish(fromKernel('ping'))
  await clock.elapse(20 * 60_000)
  expect(hops).toBe(10)
  expect(diagnostics.at(-1)?.message).toMatch(/has run for 10m, and was stopped/)
  await bus.publish(fromKernel('pong'))
  await clock.elapse(0)
  expect(diagnostics.at(-1)?.message).toMatch(/16 events .* was dropped/)
})

it('does not count the time in which an event waited for a retry or a restart as time of its chain', async () => {
  const { bus, clock, create, records } = await setup()
  let isReady = false
  const handle = (target: RunningBus) => async (): Promise<void> => {
    if (!isReady) throw new Error('not yet')
    await target.publish({ name: 'answer', data: null, source: 'late' })
  }
  bus.subscribe({ id: 'late', name: 'ask', handle: handle(bus) })
  bus.subscribe({ id: 'reader', name: 'answer', handle: () => {} })
  bus.start()
  await bus.publish(fromKernel('ask'))
  await clock.elapse(160_000)
  isReady = true
  await clock.elapse(600_000)
  await bus.stop()
  await bus.publish(fromKernel('ask'))
  await clock.elapse(3_600_000)
  const next = create()
  next.subscribe({ id: 'late', name: 'ask', handle: handle(next) })
  next.subscribe({ id: 'reader', name: 'answer', handle: () => {} })
  next.start()
  await clock.elapse(1_000)
  expect((await listEvents(records, { name: 'answer', limit: 9 })).map(({ event }) => event.hops)).toEqual([1, 1])
  expect(await listDeadLetters(records, { limit: 9 })).toEqual([])
})

it('gives an event without a context the one that its source handles as a cause', async () => {
  const { bus, clock, records } = await setup()
  const outside: (() => void)[] = []
  bus.subscribe({ id: 'boxed', name: 'ask', handle: () => new Promise<void>((resolve) => outside.push(resolve)) })
  bus.start()
  await bus.publish(fromKernel('ask'))
  await clock.elapse(0)
  await bus.publish({ name: 'answer', data: null, source: 'boxed' })
  for (const answer of outside) answer()
  await clock.elapse(0)
  await bus.publish({ name: 'answer', data: null, source: 'boxed' })
  const [later, during] = await listEvents(records, { limit: 2 })
  expect([later?.event.hops, during?.event.hops]).toEqual([0, 1])
})

it('takes what a handler started for its consequence for five minutes', async () => {
  const { bus, clock, records } = await setup()
  const again = (): void => {
    void bus.publish({ name: 'beat', data: null, source: 'loop' })
    // As timers of Node do it.
    clock.after(2 * 60_000, AsyncLocalStorage.bind(again))
  }
  bus.subscribe({ id: 'loop', name: 'go', handle: again })
  bus.start()
  await bus.publish(fromKernel('go'))
  await clock.elapse(9 * 60_000)
  const hops = (await listEvents(records, { name: 'beat', limit: 10 })).map(({ event }) => event.hops)
  expect(hops).toEqual([0, 0, 1, 1, 1])
})

it('keeps events for a subscriber that is away, and drops them after a day', async () => {
  const { bus, clock, create, diagnostics, records } = await setup()
  bus.subscribe({ id: 'gone', name: 'news', handle: () => {} })
  bus.subscribe({ id: 'back', name: 'news', handle: () => {} })
  await bus.publish(fromKernel('news', 'x'))
  const next = create()
  next.start()
  await clock.elapse(3_600_000)
  const got: unknown[] = []
  next.subscribe({ id: 'back', name: 'news', handle: ({ data }) => void got.push(data) })
  await clock.elapse(0)
  expect(got).toEqual(['x'])
  await clock.elapse(24 * 3_600_000)
  expect(diagnostics.map(({ message }) => message)).toEqual([expect.stringContaining('gone did not subscribe to it for a day')])
  expect((await listEvents(records, { limit: 1 }))[0]?.waiting).toEqual([])
})

it('keeps an old event that a person gave back for a subscriber that is away', async () => {
  const { bus, clock, create, records } = await setup()
  bus.subscribe({
    id: 'away',
    name: 'news',
    handle() {
      throw new Error('down')
    },
  })
  bus.start()
  await bus.publish(fromKernel('news'))
  await clock.elapse(900_000)
  await bus.stop()
  await clock.elapse(2 * 24 * 3_600_000)
  const [letter] = await listDeadLetters(records, { limit: 1 })
  if (letter) await retryDeadLetter(records, letter, clock.now())
  const next = create()
  next.start()
  await clock.elapse(60_000)
  expect((await listEvents(records, { limit: 1 }))[0]?.waiting).toMatchObject([{ subscriber: 'away' }])
})

it('keeps the last 1,000 events', async () => {
  const { bus, clock, records } = await setup()
  bus.subscribe({ id: 'one', name: 'news', handle: () => {} })
  for (let i = 0; i < 1_150; i += 1) await bus.publish({ ...fromKernel('news', i), id: String(i) })
  bus.start()
  await clock.elapse(2_000)
  const kept = await listEvents(records, { limit: 5_000 })
  expect(kept.map(({ event }) => event.data)).toEqual([...Array(1_000).keys()].map((each) => 1_149 - each))
  expect(await records.list('event_id')).toHaveLength(1_000)
})

it.each([
  [{ name: 'two words', data: 1 }, /name: expected the name of an event, not "two words"/],
  [{ name: 'news', data: undefined as never }, /data: expected JSON/],
  [{ name: 'news', data: 'x'.repeat(300_000) }, /data: 300002 characters of JSON, at most 262144. Store it elsewhere/],
  [{ name: 'news', data: 1, id: '' }, /id: expected an id/],
])('refuses a wrong publication %#', async (publication, problem) => {
  const { bus } = await setup()
  await expect(bus.publish({ source: 'kv', ...publication })).rejects.toThrow(problem)
})

it('reports a store that fails once, and delivers when it works again', async () => {
  const { records } = await memory()
  const clock = new FakeClock()
  const messages: string[] = []
  let isBroken = false
  const bus = createBus({
    records: crashing(records, () => isBroken),
    clock,
    ids: sequentialIds(),
    onDiagnostic: ({ message }) => messages.push(message),
  })
  const got: unknown[] = []
  bus.subscribe({
    id: 'one',
    name: 'news',
    handle({ data }) {
      got.push(data)
      isBroken = got.length === 1
    },
  })
  bus.start()
  await bus.publish(fromKernel('news', 'first'))
  await bus.publish(fromKernel('news', 'second'))
  await clock.elapse(10_000)
  expect(messages).toEqual(['Events cannot be read or written, and wait: the process is dead'])
  isBroken = false
  await clock.elapse(1_000)
  // The first delivery was not recorded.
  expect(got).toEqual(['first', 'first', 'second'])
})

/** Fails at random points, as a process that dies does: nothing after it is stored. */
function crashing(records: Records, isDead: () => boolean): Records {
  const alive = (): Records => {
    if (isDead()) throw new Error('the process is dead')
    return records
  }
  return {
    get: (...args) => alive().get(...args),
    list: (...args) => alive().list(...args),
    update: (...args) => alive().update(...args),
  }
}

it.each(['memory', 'sqlite'])('delivers everything at least once, and nothing after its delivery was recorded: %s', async (kind) => {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-bus-'))
  closed.push(() => rm(folder, { recursive: true }))
  const step = fc.constantFrom('publish', 'fail', 'crash', 'crash in handler', 'wait')
  const check = async (steps: readonly string[]): Promise<void> => {
    const store = await openStore(kind === 'memory' ? 'memory:' : `sqlite:${await mkdtemp(join(folder, 'run-'))}`)
    const clock = new FakeClock()
    const ids = sequentialIds('e')
    const published: string[] = []
    const recorded = new Set<string>()
    const delivered = new Map<string, number>()
    let failures = 0
    // Six would make a dead letter.
    let failuresLeft = 5
    let dieInHandler = false
    let kill = (): void => {}
    const begin = (): RunningBus => {
      let isDead = false
      const die = (): void => {
        isDead = true
      }
      kill = die
      const bus = createBus({ records: crashing(store.records, () => isDead), clock, ids, onDiagnostic: () => {} })
      for (const id of ['a', 'b'])
        bus.subscribe({
          id,
          name: 'news',
          handle({ data }) {
            if (isDead) return
            const key = `${id} ${data}`
            expect(recorded).not.toContain(key)
            delivered.set(key, (delivered.get(key) ?? 0) + 1)
            if (dieInHandler) {
              dieInHandler = false
              die()
            } else if (failures > 0) {
              failures -= 1
              throw new Error('failed')
            }
          },
        })
      bus.start()
      return bus
    }
    const note = async (): Promise<void> => {
      for (const { event, waiting } of await listEvents(store.records, { limit: 1_000 }))
        for (const id of ['a', 'b']) if (!waiting.some(({ subscriber }) => subscriber === id)) recorded.add(`${id} ${event.data}`)
    }
    let bus = begin()
    for (const [i, action] of steps.entries()) {
      if (action === 'publish') {
        await bus.publish(fromKernel('news', i))
        published.push(`a ${i}`, `b ${i}`)
      }
      if (action === 'fail' && failuresLeft-- > 0) failures += 1
      if (action === 'crash in handler') dieInHandler = true
      if (action === 'wait') await clock.elapse(1_000)
      if (action.startsWith('crash')) {
        if (action === 'crash') kill()
        else {
          await bus.publish(fromKernel('news', i))
          published.push(`a ${i}`, `b ${i}`)
          await clock.elapse(0)
          kill()
        }
        await note()
        bus = begin()
      }
    }
    await clock.elapse(13 * 60_000)
    await bus.stop()
    expect([...delivered.keys()].toSorted()).toEqual(published.toSorted())
    expect(await listDeadLetters(store.records, { limit: 1 })).toEqual([])
    await store.close()
  }
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), check), { numRuns: kind === 'memory' ? 30 : 5 })
})
