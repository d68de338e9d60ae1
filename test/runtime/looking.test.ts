import { describe, expect, it } from 'vitest'
import type { Store } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { gate } from '../../src/testing/index.ts'
import { bounded, collect, troupeError, world } from '../acceptance/support.ts'
import { changedStore } from './changed-store.ts'

// Whoever looks at a tree of a shared store leaves no trace: its driver, and who would like to be it, never notice.

/** The same store, for somebody whose claims are told. */
function told(store: Store) {
  const claims: string[] = []
  const claim: Store['journal']['claim'] = (treeId, owner) => {
    claims.push(treeId)
    return store.journal.claim(treeId, owner)
  }
  return { store: changedStore(store, { claim }), claims }
}

describe('to look at a tree never claims it', () => {
  it('without a driver', async () => {
    const store = memoryStore()
    const { sessionId: treeId } = await world({ store, steps: [{ text: 'One.' }] }).runtime.run('one')
    const looking = told(store)
    const { sessions } = world({ store: looking.store }).runtime
    expect(await bounded(sessions.outcome(treeId))).toMatchObject({ status: 'completed', report: { text: 'One.' } })
    expect(await bounded(collect(sessions.events(treeId)))).toEqual(await store.journal.read(treeId, 0))
    expect(looking.claims).toEqual([])
  })

  it('that another runtime drives: its outcome is waited for', async () => {
    const [store, door] = [memoryStore(), gate()]
    const driving = world({ store, steps: [{ wait: door.promise, text: 'One.' }] })
    const treeId = await driving.runtime.sessions.start('one')
    const looking = told(store)
    const { sessions } = world({ store: looking.store }).runtime
    const outcome = sessions.outcome(treeId)
    const events = collect(sessions.events(treeId))
    door.open()
    expect(await bounded(outcome)).toMatchObject({ status: 'completed', report: { text: 'One.' } })
    expect(await bounded(events)).toEqual(await store.journal.read(treeId, 0))
    expect(looking.claims).toEqual([])
  })

  it('that does not exist', async () => {
    const looking = told(memoryStore())
    const { sessions } = world({ store: looking.store }).runtime
    expect(await troupeError(() => sessions.outcome('nowhere' as never))).toMatchObject({ code: 'session_unknown' })
    expect(looking.claims).toEqual([])
  })
})
