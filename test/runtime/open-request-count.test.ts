import { describe, expect, it } from 'vitest'
import { ask, send, team } from '../subagents/team.ts'
import { run, shell, stage } from './approval-stage.ts'

// Lists never read journals: how many requests are open is in the index, however they are closed.

const openIn = async ({ runtime }: Pick<ReturnType<typeof stage>, 'runtime'>, id: string) => (await runtime.sessions.get(id))?.openRequests

describe('the number of open requests of a session', () => {
  it('grows with each request, and shrinks with each answer', async () => {
    const steps = [{ calls: [run('a'), run('b')] }, { text: 'Done.' }]
    const made = stage({ steps, tools: [shell([], { concurrency: 'shared' })], decide: () => 'suspend' })
    const { sessionId } = await made.runtime.run('go')
    expect(await openIn(made, sessionId)).toBe(2)
    const [first, second] = await made.runtime.sessions.requests(sessionId)
    const answer = async (id: string): Promise<void> => {
      await made.runtime.open(sessionId)
      await made.runtime.sessions.approve(sessionId, { approvalId: id, decision: { kind: 'approve', breadth: 'once' } })
      await made.runtime.sessions.outcome(sessionId)
    }
    await answer(first?.id ?? '')
    expect(await openIn(made, sessionId)).toBe(1)
    await answer(second?.id ?? '')
    expect(await openIn(made, sessionId)).toBe(0)
  })

  it('contains those of children, and is 0 once the turn was interrupted', async () => {
    const { runtime } = team(
      {
        boss: { agents: ['kid'], script: (_, step) => (step === 1 ? { calls: [ask('kid', 'go')] } : { text: 'Done.' }) },
        kid: { tools: ['send'], script: () => ({ calls: [{ tool: 'send' }] }) },
      },
      { tools: [send], approver: { decide: () => 'suspend' } },
    )
    const { sessionId, status } = await runtime.run('go')
    expect([status, await openIn({ runtime }, sessionId)]).toEqual(['suspended', 1])
    await runtime.open(sessionId)
    await runtime.sessions.cancel(sessionId, 'interrupt')
    expect((await runtime.sessions.outcome(sessionId)).status).toBe('interrupted')
    expect(await openIn({ runtime }, sessionId)).toBe(0)
  })
})
