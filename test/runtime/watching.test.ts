import { describe, expect, it } from 'vitest'
import type { ItemDelta, ModelPart, SessionId, Store, StreamEvent, TreeId } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { gate, type ScriptedStepSource } from '../../src/testing/index.ts'
import { agent, bounded, settle, tool, until, world } from '../acceptance/support.ts'
import { dataFolder } from '../fixtures/data-folder.ts'

// `sessions.events` with options, over both stores. Two worlds on one store are two processes.

const stores: { readonly [name: string]: () => Promise<Store> } = {
  memory: async () => memoryStore(),
  SQLite: async () => (await dataFolder()).open({ timing: { pollMs: 5 } }),
}

/** A reader that collects what it sees. */
function watching(events: AsyncIterable<StreamEvent>) {
  const seen: StreamEvent[] = []
  const iterator = events[Symbol.asyncIterator]()
  const ended = (async () => {
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) seen.push(next.value)
  })()
  const seqs = () => seen.flatMap((event) => ('seq' in event ? [event.seq] : []))
  const deltas = () => seen.filter((event): event is ItemDelta => event.type === 'interaction.item.delta')
  return { seen, ended: bounded(ended, 'the reader'), seqs, deltas, leave: () => iterator.return?.() }
}

const counted = (length: number): number[] => Array.from({ length }, (_, index) => index + 1)
const answers = (...texts: string[]): ScriptedStepSource[] => texts.map((text) => ({ text }))
const isIdle = async ({ store }: { store: Store }, id: SessionId) => (await store.trees.driver(id as TreeId)) === undefined

/** A model that sends a piece each time `say` is called. */
function talker() {
  const pieces: ModelPart[] = []
  let wake = gate()
  const say = (...more: readonly ModelPart[]): void => {
    pieces.push(...more)
    wake.open()
  }
  async function* stream(): AsyncGenerator<ModelPart> {
    for (;;) {
      const piece = pieces.shift()
      if (piece) yield piece
      else {
        wake = gate()
        await wake.promise
      }
    }
  }
  const adapter = { id: 'scripted/model', abilities: ['tools'] as const, stream }
  return { adapter, text: (text: string) => say({ type: 'text', text }), say, end: () => say({ type: 'finish', reason: 'stop' }) }
}

const ask = tool('ask', { approval: () => ({ summary: 'Ask', keys: [{ key: 'ask', label: 'ask' }] }) })

describe.each(Object.entries(stores))('events with the %s store', (_, open) => {
  it('end with the turn if it is suspended, and otherwise wait for the answer', async () => {
    const steps: ScriptedStepSource[] = [{ calls: [{ tool: 'ask' }] }, ...answers('Done.')]
    const at = world({ store: await open(), steps, tools: [ask], approver: { decide: () => 'suspend' } })
    const { sessions } = at.runtime
    const id = await sessions.start('Go.')
    const [turn, idle] = [watching(sessions.events(id, { until: 'turn' })), watching(sessions.events(id))]
    await turn.ended
    expect(turn.seen.at(-1)).toMatchObject({ type: 'interaction.turn.suspended' })
    // Nothing runs: it ends where it is.
    const again = watching(sessions.events(id, { until: 'turn', after: turn.seqs().length }))
    await again.ended
    expect(again.seen).toEqual([])
    const [request] = await sessions.requests(id)
    await sessions.approve(id, { approvalId: request?.id ?? '', decision: { kind: 'approve', breadth: 'once' } })
    await idle.ended
    expect(idle.seqs()).toEqual(counted((await at.store.journal.read(id as TreeId, 0)).length))
    expect(idle.seen.at(-1)).toMatchObject({ type: 'interaction.session.idle' })
  })

  it('stay until closed over turns, of this and of another process, and end when the session is deleted', async () => {
    const store = await open()
    const hold = gate()
    const one = world({ store, steps: [...answers('One.'), { wait: hold.promise, text: 'Two.' }] })
    const id = await one.runtime.sessions.start('1')
    await one.runtime.sessions.outcome(id)
    const watcher = world({ store })
    const readers = [one, watcher].map(({ runtime }) => watching(runtime.sessions.events(id, { until: 'closed', after: 2 })))
    await one.runtime.sessions.send(id, '2')
    await until('the model is asked', () =>
      readers[0]?.seen.some((event) => event.type === 'interaction.step.started' && event.turnId === 't2'),
    )
    hold.open()
    await one.runtime.sessions.outcome(id)
    const two = world({ store, steps: answers('Three.') })
    await until('it is idle', () => isIdle({ store }, id))
    const handle = await two.runtime.open(id)
    await handle.send('3')
    await handle.outcome
    await until('it is idle', () => isIdle({ store }, id))
    const { length } = await store.journal.read(id as TreeId, 0)
    for (const { seqs } of readers) {
      await until('all is seen', () => seqs().length === length - 2)
      expect(seqs()).toEqual(counted(length).slice(2))
    }
    // Those who drive see live text as well.
    expect(readers[0]?.deltas().map(({ text }) => text)).toEqual(['Two.'])
    expect(await store.trees.delete(id as TreeId)).toEqual({ ok: true })
    for (const { ended } of readers) await ended
  })

  it('end until closed with the runtime, and let a reader leave that waits', async () => {
    const at = world({ store: await open(), steps: answers('One.') })
    const id = await at.runtime.sessions.start('1')
    await at.runtime.sessions.outcome(id)
    const [leaving, staying] = [1, 2].map(() => watching(at.runtime.sessions.events(id, { until: 'closed' })))
    await until('both have read it', () => leaving?.seqs().length === staying?.seqs().length && (staying?.seqs().length ?? 0) > 5)
    await bounded(Promise.resolve(leaving?.leave()))
    await leaving?.ended
    await at.runtime.close()
    await staying?.ended
  })

  it('give a reader that comes late the text so far of every open item, and then continue', async () => {
    const model = talker()
    const at = world({ store: await open(), adapter: model.adapter })
    const { sessions } = at.runtime
    const id = await sessions.start('Go.')
    const first = watching(sessions.events(id))
    await until('the model is asked', () => first.seen.some(({ type }) => type === 'interaction.step.started'))
    await settle()
    const said = (reader: ReturnType<typeof watching>) => reader.deltas().map(({ kind, offset, text }) => [kind, offset, text])
    model.say({ type: 'reasoning', text: 'Hm' }, { type: 'reasoning', text: 'm.' })
    model.text('One')
    await until('it is seen', () => first.deltas().length === 3)
    const second = watching(sessions.events(id))
    const muted = watching(sessions.events(id, { live: false }))
    await until('it joins', () => second.deltas().length === 2)
    model.text(' two')
    await until('it is seen', () => first.deltas().length === 4)
    const third = watching(sessions.events(id, { after: 3 }))
    await until('it joins', () => third.deltas().length === 2)
    model.text(' three.')
    model.end()
    await Promise.all([first, second, third, muted].map(({ ended }) => ended))
    const thought = ['reasoning', 0, 'Hmm.']
    expect(said(first)).toEqual([
      ['reasoning', 0, 'Hm'],
      ['reasoning', 2, 'm.'],
      ['text', 0, 'One'],
      ['text', 3, ' two'],
      ['text', 7, ' three.'],
    ])
    expect(said(second)).toEqual([thought, ['text', 0, 'One'], ['text', 3, ' two'], ['text', 7, ' three.']])
    expect(said(third)).toEqual([thought, ['text', 0, 'One two'], ['text', 7, ' three.']])
    expect(muted.deltas()).toEqual([])
    const { length } = await at.store.journal.read(id as TreeId, 0)
    expect([first, second, muted].map(({ seqs }) => seqs())).toEqual([1, 2, 3].map(() => counted(length)))
    expect(third.seqs()).toEqual(counted(length).slice(3))
    // The text comes after the event that opens its item.
    const opened = second.seen.findIndex((event) => event.type === 'interaction.item.started')
    expect(opened).toBeLessThan(second.seen.findIndex((event) => event.type === 'interaction.item.delta'))
  })

  it('forget the text of an attempt that failed, and of a call that has ended', async () => {
    const model = talker()
    const [printed, go] = [gate(), gate()]
    const shell = tool('shell', {
      execute: async (_input, { output }) => {
        output('line 1\n')
        output('line 2\n')
        printed.open()
        await go.promise
        return 'done'
      },
    })
    const at = world({ store: await open(), adapter: model.adapter, tools: [shell] })
    const { sessions } = at.runtime
    const id = await sessions.start('Go.')
    const first = watching(sessions.events(id))
    await until('the model is asked', () => first.seen.some(({ type }) => type === 'interaction.step.started'))
    await settle()
    model.text('Lost')
    await until('it is seen', () => first.deltas().length === 1)
    model.say({ type: 'error', failure: { class: 'network', message: 'cut' } })
    await until('the step failed', () => first.seen.some(({ type }) => type === 'interaction.step.failed'))
    const second = watching(sessions.events(id))
    await until('it is asked again', async () => {
      await at.clock.elapse(1_000)
      return second.seen.filter(({ type }) => type === 'interaction.step.started').length === 2
    })
    model.say({ type: 'call', id: 'c', name: 'shell', input: '{}' }, { type: 'finish', reason: 'tool-calls' })
    await bounded(printed.promise)
    await until('it is seen', () => second.deltas().length === 2)
    const third = watching(sessions.events(id))
    await until('it joins', () => third.deltas().length === 1)
    expect(third.deltas()).toMatchObject([{ kind: 'output', offset: 0, text: 'line 1\nline 2\n' }])
    go.open()
    await until('the call has ended', () =>
      third.seen.some((event) => event.type === 'interaction.item.completed' && event.item.kind === 'call'),
    )
    const fourth = watching(sessions.events(id))
    await until('it joins', () => fourth.seqs().length === third.seqs().length)
    await settle()
    expect(fourth.deltas()).toEqual([])
    model.text('Done.')
    model.end()
    await Promise.all([first, second, third, fourth].map(({ ended }) => ended))
    expect(fourth.deltas()).toMatchObject([{ text: 'Done.', offset: 0 }])
  })
})

it('many readers that come and go at any time see every event once, and every text without a gap', async () => {
  const model = talker()
  const helper = { name: 'helper', description: 'Helps', prompt: 'Help.', model: 'scripted/model' }
  const at = world({ adapter: model.adapter, config: { agents: [agent, helper], agentSelection: { agent: 'clerk' } } })
  const { sessions } = at.runtime
  const id = await sessions.start('Go.')
  const readers: ReturnType<typeof watching>[] = []
  for (let round = 0; round < 60; round++) {
    readers.push(watching(sessions.events(id, { after: round % 7 })))
    model.text(`piece ${round} `)
    if (round % 3 === 0) model.say({ type: 'reasoning', text: `thought ${round}` })
    if (round % 4 === 0) await settle(1)
    if (round % 11 === 10) await readers[round - 5]?.leave()
  }
  model.end()
  await Promise.all(readers.map(({ ended }) => ended))
  const { length } = await at.store.journal.read(id as TreeId, 0)
  for (const [index, { seqs, deltas, seen }] of readers.entries()) {
    if (seen.at(-1)?.type === 'interaction.session.idle') expect(seqs()).toEqual(counted(length).slice(index % 7))
    const texts = new Map<string, number>()
    for (const { itemId, kind, offset, text } of deltas()) {
      const key = `${itemId} ${kind}`
      expect(offset).toBe(texts.get(key) ?? 0)
      texts.set(key, offset + text.length)
    }
  }
})

it('a handle that is opened while a turn runs begins with the text so far', async () => {
  const model = talker()
  const at = world({ adapter: model.adapter })
  const id = await at.runtime.sessions.start('Go.')
  const first = watching(at.runtime.sessions.events(id))
  model.text('One')
  await until('it is seen', () => first.deltas().length === 1)
  const handle = watching(await at.runtime.open(id))
  model.text(' two.')
  model.end()
  await handle.ended
  expect(handle.deltas().map(({ offset, text }) => [offset, text])).toEqual([
    [0, 'One'],
    [3, ' two.'],
  ])
})

it.each<[string, unknown, RegExp]>([
  ['an unknown end', { until: 'never' }, /options\.until/],
  ['a wrong position', { after: -1 }, /options\.after/],
  ['an unknown key', { from: 1 }, /options\.from: unknown key/],
])('refuses %s', async (_, options, message) => {
  expect(() => world().runtime.sessions.events('x', options as never)).toThrow(message)
})

it('throws for an unknown session, also until closed', async () => {
  const { runtime } = world()
  for (const until of ['turn', 'idle', 'closed'] as const)
    await expect(watching(runtime.sessions.events('nobody', { until })).ended).rejects.toMatchObject({ code: 'session_unknown' })
})

it('watches nothing once its readers have left', async () => {
  const store = memoryStore()
  let watches = 0
  const counting =
    <Given extends readonly unknown[]>(watch: (...given: Given) => () => void) =>
    (...given: Given) => {
      watches++
      const stop = watch(...given)
      return () => {
        watches--
        stop()
      }
    }
  const journal = { ...store.journal, watch: counting(store.journal.watch) }
  const trees = { ...store.trees, watch: counting(store.trees.watch) }
  const at = world({ store: { ...store, journal, trees }, steps: Array.from({ length: 20 }, () => ({ text: 'Done.' })) })
  const { sessions } = at.runtime
  for (let round = 0; round < 20; round++) {
    const id = await sessions.start('Go.', { clientId: `c${round}`, key: `k${round}` })
    const reader = watching(sessions.events(id, { until: 'closed' }))
    await sessions.outcome(id)
    await until('it is seen', () => reader.seen.some(({ type }) => type === 'interaction.session.idle'))
    await bounded(Promise.resolve(reader.leave()))
    await reader.ended
  }
  expect(watches).toBe(0)
  expect(at.clock.pending).toBe(0)
})

it('a reader that came while a turn was about to begin gets its live text', async () => {
  const store = memoryStore()
  const [asked, answered] = [gate(), gate()]
  let isHeld = false
  // It has found no driver, and looks at the store next.
  const trees: Store['trees'] = {
    ...store.trees,
    async get(treeId) {
      if (isHeld) {
        isHeld = false
        asked.open()
        await answered.promise
      }
      return store.trees.get(treeId)
    },
  }
  const model = talker()
  const at = world({ store: { ...store, trees }, adapter: model.adapter })
  const { sessions } = at.runtime
  model.text('One.')
  model.end()
  const id = await sessions.start('1')
  await sessions.outcome(id)
  await until('it is idle', () => isIdle({ store }, id))
  isHeld = true
  const reader = watching(sessions.events(id, { until: 'closed', after: 3 }))
  await bounded(asked.promise)
  await sessions.send(id, '2')
  const other = watching(sessions.events(id, { until: 'closed', after: 3 }))
  await until('the model is asked', () => other.seen.some((event) => event.type === 'interaction.step.started' && event.turnId === 't2'))
  answered.open()
  await until('it reads the turn', () => reader.seqs().length === other.seqs().length)
  model.text('Two.')
  await until('it is seen', () => reader.deltas().some(({ text }) => text === 'Two.'))
  model.end()
  await sessions.outcome(id)
  for (const { leave } of [reader, other]) await leave()
})
