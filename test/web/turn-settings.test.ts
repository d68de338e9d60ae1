import { afterAll, expect, it } from 'vitest'
import type { AgentSpec } from '../../src/contracts/index.ts'
import { turnSettings } from '../../src/web/state/turn-settings.ts'
import { serve } from '../server/support.ts'

const served = await serve({
  agents: [
    {
      name: 'echo',
      description: 'Repeats.',
      prompt: 'Repeat.',
      model: 'test/echo',
      tools: [],
      limits: { maxTokens: 50_000 },
      overrides: ['temperature'],
    },
  ],
})
afterAll(() => served.close())

/** What applies at the end of the turn with this number. */
async function settingsOf(sessionId: string, turn: number) {
  let ended = 0
  let agent: AgentSpec | undefined
  for await (const event of served.runtime.sessions.events(sessionId, { until: 'closed', live: false })) {
    if (event.type === 'interaction.session.created' || event.type === 'interaction.session.configured') agent = event.agent
    if (event.type === 'interaction.turn.completed' && ++ended === turn) break
  }
  return [agent?.limits.maxTokens, agent?.parameters.temperature]
}

it('settings of the page apply from the next turn on until others are sent, and no limit is above that of the agent', async () => {
  const started = await served.fetch('/v1/sessions', { json: { input: 'hello', agent: 'echo' } })
  const { sessionId } = (await started.json()) as { readonly sessionId: string }
  expect(await settingsOf(sessionId, 1)).toEqual([50_000, undefined])
  const turns: [Parameters<typeof turnSettings>[0], unknown[]][] = [
    [{ maxTokens: '5,000', temperature: '0.2' }, [5_000, 0.2]],
    [{}, [5_000, 0.2]],
    [{ maxTokens: '9000' }, [9_000, 0.2]],
    [{ maxTokens: '90000' }, [50_000, 0.2]],
  ]
  for (const [index, [typed, expected]] of turns.entries()) {
    const sent = await served.fetch(`/v1/sessions/${sessionId}/messages`, { json: { input: 'again', ...turnSettings(typed) } })
    expect(sent.status).toBe(202)
    expect(await settingsOf(sessionId, index + 2)).toEqual(expected)
  }
})
