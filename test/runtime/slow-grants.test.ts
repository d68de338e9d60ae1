import { expect, it } from 'vitest'
import type { ApprovalKey, ProjectGrants } from '../../src/contracts/index.ts'
import { gate } from '../../src/testing/index.ts'
import { bounded, elapsing, journalOf, ofType, until } from '../acceptance/support.ts'
import { no, play, run, stage, yes } from './approval-stage.ts'

const grantsOf = (list: ProjectGrants['list']): ProjectGrants => ({ list, add: async () => undefined })

it('a list is read for each call, also if it takes its time', async () => {
  const keys: ApprovalKey[] = [{ key: 'command:ls', label: 'ls' }]
  const grants = grantsOf(async () => [...keys])
  const made = await play([run('ls'), run('date'), run('ls')], {
    grants,
    decide: () => {
      keys.length = 0
      return no()
    },
  })
  expect(made.asked.map(({ input }) => input.command)).toEqual(['date', 'ls'])
  expect(made.ran).toHaveLength(1)
})

it('a list grants nothing if it takes more than a minute, and an interrupt does not wait for it', async () => {
  const grants = grantsOf(() => new Promise(() => {}))
  const steps = [{ calls: [run('ls')] }, { text: 'Done.' }]
  const patient = stage({ grants, decide: () => yes(), steps })
  const outcome = await elapsing(patient.clock, patient.runtime.run('go'), [10_000, 100])
  expect([patient.asked.length, outcome.diagnostics]).toMatchObject([1, [{ code: 'grant_not_kept' }]])

  const cut = stage({ grants, decide: () => yes(), steps })
  const handle = cut.runtime.stream('go')
  await until('the request', () => cut.model.requests.length === 1)
  await handle.interrupt()
  expect(await bounded(handle.outcome, 'the interrupt')).toMatchObject({ status: 'interrupted' })
  expect(cut.ran).toEqual([])
})

it('no answer is lost that comes while the list is read', async () => {
  const steps = [{ calls: [run('ls')] }, { text: 'Done.' }]
  const first = stage({ decide: () => 'suspend', steps })
  const { sessionId: treeId } = await first.runtime.run('go')
  const [request] = await first.runtime.sessions.requests(treeId)
  await first.runtime.close()
  const [reading, slow] = [gate(), gate()]
  const list = async (): Promise<readonly ApprovalKey[]> => {
    reading.open()
    await slow.promise
    return []
  }
  const second = stage({ store: first.store, grants: grantsOf(list), decide: () => 'wait', steps: steps.slice(1) })
  const handle = await second.runtime.open(treeId)
  await reading.promise
  await second.runtime.sessions.approve(treeId, { approvalId: request!.id, decision: yes(), by: 'bob' })
  await until('the answer', async () => ofType(await journalOf(first.store, treeId), 'interaction.approval.resolved').length === 1)
  slow.open()
  expect(await bounded(handle.outcome)).toMatchObject({ status: 'completed' })
  expect([second.asked.length, second.ran.length]).toEqual([0, 1])
})

it('a list that fails grants nothing, and that is reported once', async () => {
  const grants = grantsOf(() => Promise.reject(new Error('the store is damaged')))
  const made = await play([run('ls'), run('date')], { grants, decide: () => yes() })
  expect([made.asked.length, made.outcome.status]).toEqual([2, 'completed'])
  expect(made.outcome.diagnostics).toMatchObject([{ code: 'grant_not_kept', message: expect.stringContaining('the store is damaged') }])
})
