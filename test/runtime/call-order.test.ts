import { expect, test } from 'vitest'
import type { DriverId } from '../../src/contracts/index.ts'
import type { ApprovalId, JsonObject, Tool } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { gate } from '../../src/testing/index.ts'
import {
  bounded,
  expectLegal,
  finish,
  firstTree,
  journalOf,
  objectSchema,
  ofType,
  resultsIn,
  settle,
  tool,
  until,
  world,
} from '../acceptance/support.ts'
import { no, yes } from './approval-stage.ts'

// Calls of one step start in order: a call never overtakes an earlier one that it conflicts with, also while that one waits
// for a person. Calls that do not conflict run meanwhile.

const schema = objectSchema({ file: { type: 'string' } })
const asks: Pick<Tool, 'approval'> = { approval: ({ file }) => ({ summary: `Write ${file}`, keys: [{ key: `file:${file}`, label: 'f' }] }) }
const byFile = { concurrency: { key: ({ file }: JsonObject) => String(file) } }

/** `write` needs an approval, `edit` has the same key, `look` is shared, `send` overlaps with nothing. */
function tools(log: string[], changes: { readonly [name: string]: Partial<Tool> } = {}): Tool[] {
  const noting = (name: string, more: Partial<Tool>): Tool => ({
    ...tool(name, { schema }),
    execute: ({ file }) => {
      log.push(`${name} ${file}`)
      return 'done'
    },
    ...more,
    ...changes[name],
  })
  return [
    noting('write', { ...asks, ...byFile }),
    noting('edit', byFile),
    noting('look', { concurrency: 'shared', effect: 'read' }),
    noting('send', {}),
  ]
}

const call = (name: string, file: string) => ({ tool: name, input: { file } })
const waiting = { approver: { decide: () => 'wait' as const } }
const suspending = { approver: { decide: () => 'suspend' as const } }

async function ask(calls: readonly object[], changes: Parameters<typeof tools>[1] = {}) {
  const log: string[] = []
  const made = world({ steps: [{ calls }, { text: 'Done.' }] as never, tools: tools(log, changes), ...waiting })
  const handle = made.runtime.stream('go')
  const requests = async () =>
    ofType(await journalOf(made.store, handle.sessionId), 'interaction.approval.requested').map(({ request }) => request)
  await until('somebody is asked', async () => (await requests()).length > 0)
  await settle(20)
  const answer = async (decision = yes() as Parameters<typeof handle.approve>[1], at = 0) => {
    const id = (await requests())[at]?.id as ApprovalId
    await handle.approve(id, decision)
  }
  return { ...made, log, handle, requests, answer }
}

test.each([
  { decision: yes(), after: ['look b', 'write a', 'edit a'] },
  { decision: no(), after: ['look b', 'edit a'] },
])('a call with the same key waits for the answer, others run meanwhile: $decision.kind', async ({ decision, after }) => {
  const { log, handle, answer, requests, model, store } = await ask([call('write', 'a'), call('edit', 'a'), call('look', 'b')])
  expect(log).toEqual(['look b'])
  expect((await requests())[0]?.lane).toEqual({ kind: 'key', key: 'a' })
  await answer(decision)
  expect((await finish(handle)).status).toBe('completed')
  expect(log).toEqual(after)
  expect(resultsIn(model.requests[1]).map(({ name }) => name)).toEqual(['write', 'edit', 'look'])
  expectLegal(await journalOf(store, handle.sessionId))
})

test('an exclusive call waits for any earlier call, and later calls wait behind it, conflict or not', async () => {
  const { log, handle, answer } = await ask([call('write', 'a'), call('edit', 'b'), call('send', 'c'), call('look', 'd')])
  expect(log).toEqual(['edit b'])
  await answer()
  await finish(handle)
  expect(log).toEqual(['edit b', 'write a', 'send c', 'look d'])
})

test('a request of an exclusive tool, or of one whose key cannot be computed, holds every later call back', async () => {
  const broken = () => {
    throw new Error('no key')
  }
  for (const write of [{ concurrency: 'exclusive' as const }, { concurrency: { key: broken } }]) {
    const { log, handle, answer, requests } = await ask([call('look', 'a'), call('write', 'a'), call('look', 'b')], { write })
    expect(log).toEqual(['look a'])
    expect((await requests())[0]?.lane).toEqual({ kind: 'exclusive' })
    await answer()
    await finish(handle)
    expect(log).toEqual(['look a', 'write a', 'look b'])
  }
})

test('an approved call waits for an earlier one that is still open', async () => {
  const { log, handle, answer } = await ask([call('write', 'a'), call('write', 'a'), call('write', 'b')])
  await answer(yes(), 1)
  await answer(yes(), 2)
  await until('the other file is written', () => log.length > 0)
  await settle(20)
  expect(log).toEqual(['write b'])
  await answer(yes(), 0)
  await finish(handle)
  expect(log).toEqual(['write b', 'write a', 'write a'])
})

test('stopping skips what waits behind an open request', async () => {
  const { log, handle, store } = await ask([call('write', 'a'), call('edit', 'a')])
  await handle.stop()
  await finish(handle)
  expect(log).toEqual([])
  const ended = ofType(await journalOf(store, handle.sessionId), 'interaction.item.completed').map(
    ({ item }) => 'status' in item && item.status,
  )
  expect(ended.slice(0, 2)).toEqual(['skipped', 'skipped'])
})

test.each([yes(), no()])('the order holds after a suspension, in another runtime: $kind', async (decision) => {
  const store = memoryStore()
  const log: string[] = []
  const calls = [call('write', 'a'), call('edit', 'a'), call('look', 'b')]
  const first = world({ steps: [{ calls }], tools: tools(log), store, ...suspending })
  const outcome = await bounded(first.runtime.run('go'), 'the turn')
  expect(outcome).toMatchObject({ status: 'suspended', reason: 'approval' })
  expect(log).toEqual(['look b'])
  await first.runtime.close()

  const second = world({ steps: [{ text: 'Done.' }], tools: tools(log), store, ...waiting })
  const handle = await second.runtime.open(outcome.sessionId)
  await settle(20)
  expect(log).toEqual(['look b'])
  const [request] = ofType(await journalOf(store, outcome.sessionId), 'interaction.approval.requested')
  await handle.approve(request?.request.id as ApprovalId, decision)
  expect((await finish(handle)).status).toBe('completed')
  expect(log).toEqual(decision.kind === 'deny' ? ['look b', 'edit a'] : ['look b', 'write a', 'edit a'])
  const events = await journalOf(store, outcome.sessionId)
  // It had not begun: nothing is repeated, and nothing is unknown.
  expect(ofType(events, 'interaction.item.updated')).toEqual([])
  expect(resultsIn(second.model.requests[0]).map(({ ok }) => ok)).toEqual([decision.kind !== 'deny', true, true])
})

test('a rule that was added while a call waited behind another one still applies to it', async () => {
  const store = memoryStore()
  const log: string[] = []
  const first = world({ steps: [{ calls: [call('write', 'a'), call('edit', 'a')] }], tools: tools(log), store, ...suspending })
  const { sessionId: treeId } = await bounded(first.runtime.run('go'), 'the turn')
  await first.runtime.close()
  const approvals = [{ rules: [{ deny: 'edit' }] }]
  const second = world({ steps: [{ text: 'Done.' }], tools: tools(log), store, config: { approvals } as never, ...waiting })
  const handle = await second.runtime.open(treeId)
  const [request] = ofType(await journalOf(store, treeId), 'interaction.approval.requested')
  await handle.approve(request?.request.id as ApprovalId, yes())
  await finish(handle)
  expect(log).toEqual(['write a'])
})

test('a journal without lanes: its request holds every later call back, and a write that may have run is not repeated', async () => {
  const store = memoryStore()
  const log: string[] = []
  const isIn = gate()
  const calls = [call('write', 'a'), call('edit', 'b'), call('look', 'c')]
  const stuck = { execute: () => new Promise<never>(() => isIn.open()) }
  const first = world({ steps: [{ calls }], tools: tools([], { edit: stuck, look: stuck }), store, ...waiting })
  void first.runtime.run('go').catch(() => undefined)
  await bounded(isIn.promise, 'both calls run')
  const treeId = await firstTree(store)
  const older = memoryStore()
  await copyWithoutLanes(await journalOf(store, treeId), older)

  const second = world({ steps: [{ text: 'Done.' }], tools: tools(log), store: older, ...waiting })
  const handle = await second.runtime.open(treeId)
  await settle(20)
  expect(log).toEqual([])
  const [request] = ofType(await journalOf(older, treeId), 'interaction.approval.requested')
  await handle.approve(request?.request.id as ApprovalId, yes())
  const outcome = await finish(handle)
  expect(log).toEqual(['write a', 'look c'])
  expect(outcome.diagnostics.map(({ code }) => code)).toContain('call_unknown')
})

/** As versions wrote it that recorded no lane with a request. */
async function copyWithoutLanes(events: Awaited<ReturnType<typeof journalOf>>, store: ReturnType<typeof memoryStore>): Promise<void> {
  const [first] = events
  if (!first) throw new Error('nothing to copy')
  const plain = events.map((event) => {
    if (event.type !== 'interaction.approval.requested') return event
    const { lane: _, ...request } = event.request
    return { ...event, request }
  })
  const claim = await store.journal.claim(first.treeId, 'older' as DriverId)
  if (!claim.ok) throw new Error('the tree is new')
  const summary = { agent: 'clerk', title: 'go', status: 'running', openRequests: 1 } as const
  await store.journal.append({ treeId: first.treeId, expectedSeq: 0, epoch: claim.epoch, events: plain, summary })
  await store.journal.release(first.treeId, claim.epoch)
}
