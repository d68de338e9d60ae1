import { expect, it } from 'vitest'
import type { Approver, InteractionEvent } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { gate } from '../../src/testing/index.ts'
import { ask, resultsOf, type Script, send, team } from './team.ts'

// "No, and end the run" is meant for the run, whoever of it has asked.

const calling =
  (...children: readonly string[]): Script =>
  (request, step) =>
    step === 1 ? { calls: children.map((child) => ask(child, 'Go')) } : { text: `went on: ${resultsOf(request).join()}` }
const kid = { script: ((_, step) => (step === 1 ? { calls: [{ tool: 'send' }] } : { text: 'Kid.' })) as Script, tools: ['send'] }
const abort = { kind: 'abort' } as const

const endings = (events: readonly InteractionEvent[]) =>
  Object.fromEntries(
    events.flatMap((event) => (event.type === 'interaction.turn.interrupted' ? [[event.agentPath, event.ending.reason]] : [])),
  )

it('ends the run if a grandchild has asked, with all other sessions', async () => {
  const working = gate()
  const busy: Script = async () => {
    working.open()
    return new Promise(() => {})
  }
  const approver: Approver = {
    async decide() {
      await working.promise
      return { decision: abort, by: 'ann' }
    },
  }
  const { run } = team(
    {
      boss: { script: calling('lead', 'busy'), agents: ['lead', 'busy'] },
      lead: { script: calling('kid'), agents: ['kid'] },
      kid,
      busy: { script: busy },
    },
    { tools: [send], approver },
  )
  const { outcome, events } = await run()
  expect(outcome).toMatchObject({ status: 'interrupted', reason: 'denied' })
  expect(endings(events)).toEqual({
    'root/lead#1/kid#1': 'denied',
    'root/lead#1': 'interrupted',
    'root/busy#1': 'interrupted',
    root: 'denied',
  })
  const failed = events.find((event) => event.type === 'interaction.subagent.failed' && event.agent === 'kid')
  expect(failed).toMatchObject({ failure: { class: 'denied', message: expect.stringContaining('was aborted by a person') } })
  expect(events.at(-1)).toMatchObject({ type: 'interaction.session.idle', agentPath: 'root' })
})

it('ends a tree that waits, by an answer from anywhere', async () => {
  const store = memoryStore()
  const members = { boss: { script: calling('kid'), agents: ['kid'] }, kid }
  const first = team(members, { tools: [send], approver: { decide: () => 'suspend' }, store })
  const { outcome: waits, events } = await first.run()
  expect(waits.status).toBe('suspended')
  await first.runtime.close()
  const asked = events.find((event) => event.type === 'interaction.approval.requested')
  if (!asked) throw new Error('nothing was asked')
  const { runtime } = team(members, { tools: [send], approver: { decide: () => 'suspend' }, store })
  await runtime.sessions.approve(waits.sessionId, { approvalId: asked.request.id, decision: abort, by: 'bob' })
  expect(await (await runtime.open(waits.sessionId)).outcome).toMatchObject({ status: 'interrupted', reason: 'denied' })
  await runtime.close()
})
