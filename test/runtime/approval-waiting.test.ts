import { expect, it } from 'vitest'
import { waitingSessions } from '../../src/cli/commands/sessions/waiting-requests.ts'
import type { DriverId, TreeId } from '../../src/contracts/index.ts'
import { run, stage } from './approval-stage.ts'

it('a run that waits is found behind however many newer ones', async () => {
  const { runtime, store } = stage({ decide: () => 'suspend', steps: [{ calls: [run('make')] }] })
  const { sessionId: treeId } = await runtime.run('go')
  await runtime.close()
  const [created] = await store.journal.read(treeId, 0, 1)
  for (let number = 0; number < 2_000; number++) {
    const newer = `newer-${number}` as TreeId
    const claim = await store.journal.claim(newer, 'somebody' as DriverId)
    if (!claim.ok || !created) throw new Error('not claimed')
    const summary = { agent: 'clerk', title: 'go', status: 'completed', openRequests: 0 } as const
    await store.journal.append({ treeId: newer, expectedSeq: 0, epoch: claim.epoch, events: [{ ...created, treeId: newer }], summary })
  }
  expect((await store.trees.list({ limit: 1_000 })).map((each) => each.treeId)).not.toContain(treeId)
  expect(await waitingSessions(store)).toMatchObject({
    waiting: [{ run: { treeId, agent: 'clerk' }, requests: [{ request: { input: { command: 'make' } } }] }],
    damaged: [],
  })
})
