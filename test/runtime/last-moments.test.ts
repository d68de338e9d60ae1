import { describe, expect, it, onTestFinished } from 'vitest'
import type { Model, ModelRequest, RunHandle, Store, TreeId } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { approverOf, bounded, collect, journalOf, ofType, temporaryFolder, tool, until } from '../acceptance/support.ts'
import { yes } from './approval-stage.ts'
import { runtimeWith } from './helpers.ts'

// Whatever was acknowledged is driven, however close to the end of a drive it comes: every number of microtasks is tried.

const lastSaid = ({ messages }: ModelRequest): string => {
  const last = messages.at(-1)
  return last?.role === 'user' ? last.parts.map((part) => (part.type === 'text' ? part.text : '')).join() : ''
}

/** Calls `danger` for whoever says so. */
const model: Model = {
  id: 'test/last-moments',
  abilities: ['tools'],
  async *stream(request) {
    if (lastSaid(request) === 'danger') yield { type: 'call', id: 'c1', name: 'danger', input: '{}' }
    else yield { type: 'text', text: 'Done.' }
    yield { type: 'finish', reason: lastSaid(request) === 'danger' ? 'tool-calls' : 'stop' }
  },
}

const danger = tool('danger', { approval: () => ({ summary: 'Danger', keys: [{ key: 'k:danger', label: 'danger' }] }) })

function made(store: Store) {
  const runtime = runtimeWith(model, { store, tools: [danger], approver: approverOf(() => 'suspend') })
  onTestFinished(async () => {
    await runtime.close()
    await store.close()
  })
  return runtime
}

async function microtasks(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await null
}

/** Everything in the inbox has its place in the journal, and nobody drives the tree any more. */
async function taken(store: Store, treeId: TreeId, moment: number) {
  const rows = await store.inbox.read(treeId, 0)
  const positions = async () => (await journalOf(store, treeId)).flatMap((event) => ('inbox' in event ? [event.inbox] : []))
  const what = `what was sent ${moment} microtasks later is taken`
  await until(what, async () => (await positions()).length === rows.length && (await store.trees.driver(treeId)) === undefined)
  expect(await positions(), what).toEqual(rows.map(({ position }) => position))
}

async function asked(handle: RunHandle) {
  for await (const event of handle) if (event.type === 'interaction.approval.requested') return event.request.id
  throw new Error('nothing was asked')
}

describe.each([
  { name: 'memory', open: () => memoryStore(), most: 60 },
  { name: 'SQLite', open: () => sqliteStore({ path: temporaryFolder() }), most: 12 },
])('in the last microtasks of a drive, in $name', ({ open, most }) => {
  it('an input is not lost: as the second, and in a conversation', async () => {
    const store = open()
    const runtime = made(store)
    for (let moment = 0; moment < most; moment++) {
      const handle = runtime.stream('one')
      await microtasks(moment)
      await handle.send('two')
      await bounded(handle.outcome)
      await taken(store, handle.sessionId, moment)
      const again = await runtime.open(handle.sessionId)
      await again.send('three')
      await microtasks(moment)
      await runtime.sessions.send(handle.sessionId, 'four')
      await bounded(again.outcome)
      await taken(store, handle.sessionId, moment)
      expect(ofType(await journalOf(store, handle.sessionId), 'interaction.turn.started')).toHaveLength(4)
    }
  })

  it('an input is what its outcome and its events are waited for', async () => {
    const store = open()
    const runtime = made(store)
    for (let moment = 0; moment < most; moment++) {
      const handle = runtime.stream('one')
      await microtasks(moment)
      await handle.send('two')
      const events = collect(runtime.sessions.events(handle.sessionId))
      const { turnId } = await bounded(runtime.sessions.outcome(handle.sessionId))
      const ended = ofType(await bounded(events), 'interaction.turn.completed')
      expect([turnId, ended.length], `${moment} microtasks`).toEqual(['t2', 2])
    }
  })

  it('an approval is not lost', async () => {
    const store = open()
    const runtime = made(store)
    for (let moment = 0; moment < most; moment++) {
      const handle = runtime.stream('danger')
      const approvalId = await asked(handle)
      await microtasks(moment)
      await handle.approve(approvalId, yes())
      await bounded(handle.outcome)
      await taken(store, handle.sessionId, moment)
      expect(await bounded(runtime.sessions.outcome(handle.sessionId)), `${moment} microtasks`).toMatchObject({ status: 'completed' })
    }
  })

  it('an interrupt is not lost', async () => {
    const store = open()
    const runtime = made(store)
    for (let moment = 0; moment < most; moment++) {
      const handle = runtime.stream('danger')
      await asked(handle)
      await microtasks(moment)
      await handle.interrupt()
      await bounded(handle.outcome)
      await taken(store, handle.sessionId, moment)
      expect(await bounded(runtime.sessions.outcome(handle.sessionId)), `${moment} microtasks`).toMatchObject({ status: 'interrupted' })
    }
  })
})
