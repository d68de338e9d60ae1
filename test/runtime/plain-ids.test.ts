import { expect, it } from 'vitest'
import { bounded, world } from '../acceptance/support.ts'
import { run, stage, yes } from './approval-stage.ts'

// A server gets ids as texts: nothing has to be cast, and one tree can be looked up.

it('ids that come in may be plain texts', async () => {
  const { runtime, store } = stage({ decide: () => 'suspend', steps: [{ calls: [run('make')] }, { text: 'Done.' }, { text: 'Two.' }] })
  const outcome = await runtime.run('go')
  const treeId: string = outcome.sessionId
  const [request] = await runtime.sessions.requests(treeId)
  const approvalId: string = request?.id ?? ''
  await runtime.sessions.approve(treeId, { approvalId, decision: yes() })
  expect(await bounded(runtime.sessions.outcome(treeId))).toMatchObject({ report: { text: 'Done.' } })
  const handle = await runtime.open(treeId)
  const header: string = 'once'
  await handle.send('two', { clientId: header })
  expect(await bounded(handle.outcome)).toMatchObject({ report: { text: 'Two.' } })
  expect(await store.inbox.read(outcome.sessionId, 1)).toMatchObject([{ clientId: 'once' }])
})

it('one tree is looked up without listing all, and without waiting', async () => {
  const { runtime } = world({ steps: [{ text: 'Done.' }] })
  const { sessionId: treeId } = await runtime.run('go')
  const [listed] = await runtime.sessions.list()
  expect(await runtime.sessions.get(treeId)).toEqual(listed)
  expect(await runtime.sessions.get('nowhere')).toBeUndefined()
})

it('people name a session by its sessionId, and nothing that they get back calls it a tree', async () => {
  const { runtime } = world({ steps: [{ text: 'One.' }, { text: 'Two.' }] })
  const handle = runtime.stream('go')
  const outcome = await bounded(handle.outcome)
  const started = await runtime.sessions.start('go on')
  await bounded(runtime.sessions.outcome(started))
  const entries = await runtime.sessions.list()
  expect([handle.sessionId, outcome.snapshot.sessionId]).toEqual([outcome.sessionId, outcome.sessionId])
  expect(entries.map(({ sessionId }) => sessionId)).toEqual([started, outcome.sessionId])
  for (const told of [handle, outcome, outcome.snapshot, ...entries]) expect(told).not.toHaveProperty('treeId')
})
