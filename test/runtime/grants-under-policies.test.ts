import { expect, it } from 'vitest'
import type { TreeId } from '../../src/index.ts'
import { journalOf, until } from '../acceptance/support.ts'
import { no, run, stage, yes } from './approval-stage.ts'

type Stage = ReturnType<typeof stage>

async function again({ runtime, store }: Stage, treeId: TreeId): Promise<void> {
  const turns = async (): Promise<number> =>
    (await journalOf(store, treeId)).filter(({ type }) => /turn\.(completed|failed|interrupted)$/.test(type)).length
  const before = await turns()
  await (await runtime.open(treeId)).send('again')
  await until('a further turn', async () => (await turns()) > before)
}

const listing = { calls: [run('ls')] }
const other = { config: { approvals: { rules: [{ ask: 'web_fetch' }] } } }

/** A session that began under one policy, and was granted something under another one. */
async function granted(): Promise<{ readonly store: Stage['store']; readonly treeId: TreeId }> {
  const first = stage({ steps: [{ text: 'hi' }] })
  const { sessionId: treeId } = await first.runtime.run('go')
  await first.runtime.close()
  const second = stage({ ...other, store: first.store, decide: () => yes('session'), steps: [listing, { text: 'Done.' }] })
  await again(second, treeId)
  await second.runtime.close()
  return { store: first.store, treeId }
}

it('a grant is void under the policy that the session began with', async () => {
  const { store, treeId } = await granted()
  const third = stage({ store, decide: () => no(), steps: [listing, { text: 'Done.' }] })
  await again(third, treeId)
  expect(third.asked).toHaveLength(1)
})

it('a grant holds under the policy that it was given under', async () => {
  const { store, treeId } = await granted()
  const third = stage({ ...other, store, decide: () => no(), steps: [listing, { text: 'Done.' }] })
  await again(third, treeId)
  expect(third.asked).toHaveLength(0)
})
