import { expect, it } from 'vitest'
import { ofType, tool } from '../acceptance/support.ts'
import { ask, team } from './team.ts'

it('what an agent may not do, those whom it calls may not do for it, nor those whom they call', async () => {
  const calls: string[] = []
  const send = tool('send', {
    execute: () => {
      calls.push('sent')
      return 'sent'
    },
  })
  const { outcome, events } = await team(
    {
      boss: {
        agents: ['lead'],
        approvals: [{ deny: 'send', reason: 'nothing leaves the house' }],
        script: (_, step) => (step === 1 ? { calls: [ask('lead', 'Send it')] } : { text: 'Done.' }),
      },
      lead: { agents: ['clerk'], script: (_, step) => (step === 1 ? { calls: [ask('clerk', 'Send it')] } : { text: 'Asked.' }) },
      clerk: { tools: ['send'], script: (_, step) => (step === 1 ? { calls: [{ tool: 'send' }] } : { text: 'Tried.' }) },
    },
    { tools: [send] },
  ).run()
  expect(outcome.status).toBe('completed')
  expect(calls).toEqual([])
  const refused = ofType(events, 'interaction.item.completed').flatMap(({ item }) =>
    item.kind === 'call' && item.error ? [item.error] : [],
  )
  expect(refused).toEqual([expect.objectContaining({ class: 'denied', message: expect.stringContaining('deny send (agent boss)') })])
})
