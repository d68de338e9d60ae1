import { describe, expect, it } from 'vitest'
import { type DriverId, type Journal, type Store, type TreeId, TroupeError } from '../../src/contracts/index.ts'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { sequentialIds } from '../../src/testing/index.ts'
import { scripted } from '../subagents/team.ts'
import { changedStore } from './changed-store.ts'

const model = scripted('m', () => ({ text: 'Done.' }))
const agents = [{ name: 'boss', description: 'd', prompt: 'p', model: 'm', tools: [] }]
const other = 'somebody else' as DriverId

function countingClaims(): { readonly store: Store; readonly claimed: readonly TreeId[] } {
  const { journal, ...rest } = memoryStore()
  const claimed: TreeId[] = []
  const counting: Journal = {
    claim(treeId, driver) {
      claimed.push(treeId)
      return journal.claim(treeId, driver)
    },
    release: (treeId, epoch) => journal.release(treeId, epoch),
    append: (batch) => journal.append(batch),
    read: (treeId, after, limit) => journal.read(treeId, after, limit),
    watch: (treeId, wake) => journal.watch(treeId, wake),
  }
  return { store: { ...rest, journal: counting }, claimed }
}

describe('a start that is refused', () => {
  it('leaves nothing behind in the store: what it needs is looked for before the tree is claimed', async () => {
    const { store, claimed } = countingClaims()
    const runtime = createAgentRuntime({ config: { agents, limits: { maxCostUsd: 1 } }, adapter: model, store, ids: sequentialIds() })
    const outcome = await runtime.run('Go')
    expect(outcome).toMatchObject({ status: 'failed', reason: 'config', message: expect.stringMatching(/has no price/) })
    expect(claimed).toEqual([])
  })

  it('names the model that an adapter could not give, and does not speak of a tree', async () => {
    const told = async (resolve: () => unknown) => {
      const { store, claimed } = countingClaims()
      const runtime = createAgentRuntime({ config: { agents }, adapter: { resolve } as never, store })
      const { status, reason, message, remedy } = await runtime.run('Go')
      expect(claimed).toEqual([])
      return { status, reason, message, remedy }
    }
    const again = 'Nothing was stored. Fix the error and run it again.'
    const failed = { status: 'failed', reason: 'config' }
    const down = new Error('the registry is down')
    const message = 'The model m is unavailable: the registry is down'
    expect(await told(() => Promise.reject(down))).toEqual({ ...failed, message, remedy: again })
    expect(
      await told(() => {
        throw down
      }),
    ).toEqual({ ...failed, message, remedy: again })
    expect(await told(() => Promise.reject(new TroupeError('model_unknown', 'No m.', { remedy: 'Say n.' })))).toEqual({
      ...failed,
      message: 'No m.',
      remedy: 'Say n.',
    })
    for (const answer of [undefined, 42, { id: 'a/b', abilities: [] }])
      expect(await told(() => answer)).toMatchObject({
        ...failed,
        message: expect.stringMatching(/^The model m is unavailable: expected the adapter to return a model, found .*\.$/),
      })
  })

  it('reports for other program errors that nothing was stored', async () => {
    const store = changedStore(memoryStore(), { claim: () => Promise.reject(new Error('the server is gone')) })
    const outcome = await createAgentRuntime({ config: { agents }, adapter: model, store }).run('Go')
    expect(outcome).toMatchObject({ status: 'failed', message: 'the server is gone', remedy: expect.stringMatching(/^Nothing was stored/) })
  })

  it('gives a tree back that it has claimed and cannot begin', async () => {
    const store = memoryStore()
    let ids = 0
    const runtime = createAgentRuntime({
      config: { agents },
      adapter: model,
      store,
      // The first id is that of the driver; then every tree has the same.
      ids: { next: () => (ids++ === 0 ? 'driver' : 'the-same') },
    })
    expect((await runtime.run('Go')).status).toBe('completed')
    expect(await runtime.run('Go')).toMatchObject({ status: 'failed', message: expect.stringMatching(/exists already/) })
    expect(await store.journal.claim('the-same' as TreeId, other)).toMatchObject({ ok: true })
  })
})
