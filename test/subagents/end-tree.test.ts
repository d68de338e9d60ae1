import { expect, it } from 'vitest'
import type { TreeId } from '../../src/contracts/index.ts'
import { endTree } from '../../src/runtime/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { gate } from '../../src/testing/index.ts'
import { ask, resultsOf, type Script, send, team } from './team.ts'

const calling =
  (child: string): Script =>
  (request, step) =>
    step === 1 ? { calls: [ask(child, 'Go')] } : { text: resultsOf(request).join() }
const kid: Script = (_, step) => (step === 1 ? { calls: [{ tool: 'send' }] } : { text: 'Kid.' })

it('a tree that waits is ended with all that is below, without its agents, models or tools; its next turn is a new one', async () => {
  const store = memoryStore()
  const members = {
    boss: { script: calling('lead'), agents: ['lead'] },
    lead: { script: calling('kid'), agents: ['kid'] },
    kid: { script: kid, tools: ['send'] },
  }
  const first = team(members, { tools: [send], approver: { decide: () => 'suspend' }, store })
  const { sessionId: treeId, status } = (await first.run()).outcome
  expect(status).toBe('suspended')
  await first.runtime.close()

  expect(await endTree(store, treeId, 'ann')).toBe(true)
  expect(await store.trees.get(treeId)).toMatchObject({ status: 'interrupted' })
  const events = await store.journal.read(treeId, 0)
  const ended = events.flatMap((event) => (event.type === 'interaction.turn.interrupted' ? [event.agentPath] : []))
  expect(ended).toEqual(['root/lead#1/kid#1', 'root/lead#1', 'root'])
  expect(events).toContainEqual(expect.objectContaining({ type: 'interaction.cancel.requested', agentPath: 'root', by: 'ann' }))
  expect(events.at(-1)?.type).toBe('interaction.session.idle')
  expect(await endTree(store, treeId, 'ann')).toBe(false)

  const again = team({ ...members, boss: { ...members.boss, script: () => ({ text: 'Again.' }) } }, { tools: [send], store })
  const handle = await again.runtime.open(treeId)
  await handle.send('And now?')
  expect(await handle.outcome).toMatchObject({ status: 'completed', report: { text: 'Again.' } })
  await again.runtime.close()
})

it('a driven tree and an unknown one are left alone', async () => {
  const store = memoryStore()
  const asked = gate()
  const silent: Script = () => {
    asked.open()
    return new Promise(() => {})
  }
  const { runtime } = team({ boss: { script: silent } }, { store })
  const { sessionId: treeId } = runtime.stream('Go')
  await asked.promise
  await expect(endTree(store, treeId, 'ann')).rejects.toMatchObject({ code: 'session_driven' })
  await expect(endTree(store, 'nothing' as TreeId, 'ann')).rejects.toMatchObject({ code: 'session_unknown' })
  expect(await store.trees.get('nothing' as TreeId)).toBeUndefined()
  await runtime.close()
})
