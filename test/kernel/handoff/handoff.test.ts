import { describe, expect, it } from 'vitest'
import type { Outcome, SessionId } from '../../../src/contracts/index.ts'
import type { AgentRuntime } from '../../../src/runtime/index.ts'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import { handoffTeam } from './handoff-team.ts'

/** Sends a message and waits until the session rests again. */
async function say(runtime: AgentRuntime, id: SessionId, text: string): Promise<Outcome> {
  await runtime.sessions.send(id, text)
  return runtime.sessions.outcome(id)
}

describe('a handoff', () => {
  it('lets the person talk to the child over several turns, until it returns control', async () => {
    const store = memoryStore()
    const { runtime } = handoffTeam(undefined, { store })
    const first = await runtime.run('Hello')
    expect(first).toMatchObject({
      status: 'suspended',
      reason: 'input',
      report: { text: 'heard Train' },
      speaker: { agent: 'coach', agentPath: 'root/coach#1' },
    })
    const id = first.sessionId
    expect(await say(runtime, id, 'one')).toMatchObject({ status: 'suspended', report: { text: 'heard one' } })
    expect(await say(runtime, id, 'two')).toMatchObject({ status: 'suspended', report: { text: 'heard two' } })
    const last = await say(runtime, id, 'done')
    expect(last).toMatchObject({ status: 'completed', report: { text: 'boss: all set | Hello' } })
    expect(last.speaker).toBeUndefined()
    const events = await store.journal.read(id as never, 0)
    const ended = events.find((event) => event.type === 'interaction.handoff.completed')
    expect(ended).toMatchObject({ reason: 'done', agent: 'coach' })
    expect(events.filter((event) => event.type === 'interaction.handoff.started')).toHaveLength(1)
  })
})
