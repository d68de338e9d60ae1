import { expect, it } from 'vitest'
import type { Model, ModelAdapter, Store, TreeId } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { gate, ScriptedModel } from '../../src/testing/index.ts'
import { bounded, journalOf, ofType, troupeError, until, world } from '../acceptance/support.ts'
import { changedStore } from './changed-store.ts'

// What is sent to a session is stored, whatever keeps it from being driven now; opening it says what that is.

const said = async (store: Store, treeId: TreeId) =>
  ofType(await journalOf(store, treeId), 'interaction.input.accepted').flatMap(({ parts }) =>
    parts.map((part) => 'text' in part && part.text),
  )

async function resting(store: Store) {
  const { runtime } = world({ store, steps: [{ text: 'One.' }] })
  const { sessionId: treeId } = await runtime.run('one')
  await runtime.close()
  return treeId
}

function adapterThat(model: Model) {
  const state = { isDown: true }
  const resolve: ModelAdapter['resolve'] = () => {
    if (state.isDown) throw new Error('the key service is down')
    return model
  }
  return { state, adapter: { resolve } }
}

it('a message that cannot be driven now is stored, and open says why', async () => {
  const store = memoryStore()
  const treeId = await resting(store)
  const { state, adapter } = adapterThat(new ScriptedModel([{ text: 'Paid.' }]))
  const { runtime } = world({ store, adapter })
  expect(await runtime.sessions.send(treeId, 'pay')).toMatchObject({ driven: false })
  expect(await troupeError(() => runtime.open(treeId))).toMatchObject({ code: 'model_unavailable', retry: true })
  state.isDown = false
  expect(await bounded((await runtime.open(treeId)).outcome)).toMatchObject({ report: { text: 'Paid.' } })
  expect(await said(store, treeId)).toEqual(['one', 'pay'])
})

it('a message to a tree that another process drives is taken, whatever this one lacks', async () => {
  const [store, door] = [memoryStore(), gate()]
  const driving = world({ store, steps: [{ wait: door.promise, text: 'One.' }, { text: 'Two.' }] })
  const treeId = await driving.runtime.sessions.start('one')
  const { adapter } = adapterThat(new ScriptedModel([]))
  await world({ store, adapter }).runtime.sessions.send(treeId, 'two')
  door.open()
  await until('both are said', async () => (await said(store, treeId)).length === 2)
})

it('a message that is stored is not refused, though it cannot be driven now', async () => {
  const store = memoryStore()
  const treeId = await resting(store)
  const { state, adapter } = adapterThat(new ScriptedModel([{ text: 'Paid.' }]))
  state.isDown = false
  let isRefusing = false
  const claim: Store['journal']['claim'] = (tree, owner) => {
    if (isRefusing) throw new Error('the disk is full')
    return store.journal.claim(tree, owner)
  }
  const { runtime } = world({ store: changedStore(store, { claim }), adapter })
  isRefusing = true
  await runtime.sessions.send(treeId, 'pay')
  expect(await store.inbox.read(treeId, 0)).toHaveLength(1)
  isRefusing = false
  const handle = await runtime.open(treeId)
  expect(await bounded(handle.outcome)).toMatchObject({ report: { text: 'Paid.' } })
  expect(await said(store, treeId)).toEqual(['one', 'pay'])
})
