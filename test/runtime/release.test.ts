import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { gate } from '../../src/testing/index.ts'
import { bounded, collect, troupeError, world } from '../acceptance/support.ts'

describe('an opened tree is released', () => {
  it('when it is idle, so that another runtime can open it', async () => {
    const store = memoryStore()
    const [one, other] = [world({ store, steps: [{ text: 'One.' }] }), world({ store, steps: [{ text: 'Two.' }] })]
    const { sessionId: treeId } = await one.runtime.run('one')
    const handle = await one.runtime.open(treeId)
    expect(await troupeError(() => other.runtime.open(treeId))).toMatchObject({ code: 'session_driven' })
    await bounded(handle.release())
    expect(await bounded(handle.outcome)).toMatchObject({ status: 'completed', report: { text: 'One.' } })
    expect(await bounded(collect(handle))).toEqual([])
    const taken = await other.runtime.open(treeId)
    await taken.send('two')
    expect(await bounded(taken.outcome)).toMatchObject({ status: 'completed', report: { text: 'Two.' } })
  })

  it('for all of its handles', async () => {
    const { runtime } = world({ steps: [{ text: 'One.' }] })
    const { sessionId: treeId } = await runtime.run('one')
    const [one, other] = [await runtime.open(treeId), await runtime.open(treeId)]
    await bounded(one.release())
    expect(await bounded(other.outcome)).toMatchObject({ status: 'completed', report: { text: 'One.' } })
    expect(await bounded(collect(other))).toEqual([])
  })

  it('immediately, however early it is requested', async () => {
    const { runtime } = world({ steps: [{ text: 'One.' }, { text: 'Two.' }] })
    const { sessionId: treeId } = await runtime.run('one')
    await bounded(runtime.open(treeId).then((handle) => handle.release()))
    const again = await runtime.open(treeId)
    await again.send('two')
    expect(await bounded(again.outcome)).toMatchObject({ report: { text: 'Two.' } })
    await bounded(again.release())
  })

  it('not before it has ended what it is at', async () => {
    const door = gate()
    const { runtime } = world({ steps: [{ text: 'One.' }, { wait: door.promise, text: 'Two.' }] })
    const { sessionId: treeId } = await runtime.run('one')
    const handle = await runtime.open(treeId)
    await handle.send('two')
    await bounded(handle.release())
    door.open()
    expect(await bounded(handle.outcome)).toMatchObject({ status: 'completed', report: { text: 'Two.' } })
  })
})
