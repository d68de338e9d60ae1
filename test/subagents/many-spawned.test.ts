import { expect, it } from 'vitest'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock } from '../../src/testing/index.ts'
import { settle } from '../settle.ts'
import { resultsOf, team, textOf } from './team.ts'

// Thousands of children that are spawned and closed: nothing is left but the journal.

const count = process.env.TROUPE_FULL ? 5_000 : 500
const perStep = 50

it(`${count} children are spawned and closed, and nothing is left`, async () => {
  const clock = new FakeClock()
  let working = 0
  const { runtime } = team(
    {
      boss: {
        agents: ['scout'],
        childControl: true,
        limits: { maxToolTurns: count, maxChildren: count, parallelToolCalls: perStep, parallelChildren: 8 },
        script: (request, step) => {
          const first = Math.floor((step - 1) / 2) * perStep
          if (first >= count)
            return {
              text: resultsOf(request)
                .filter((text) => text.startsWith('Closed'))
                .length.toString(),
            }
          const batch = Array.from({ length: perStep }, (_, index) => first + index + 1)
          if (step % 2 === 1) return { calls: batch.map((n) => ({ tool: 'spawn_agent', input: { agent: 'scout', prompt: `task ${n}` } })) }
          // Some are closed while they work or wait for a lane, others when they are done.
          return { calls: batch.map((n) => ({ tool: 'close_agent', input: { id: `scout#${n}` } })) }
        },
      },
      scout: {
        script: async (request) => {
          working++
          await Promise.resolve()
          working--
          return { text: `did ${textOf(request)}` }
        },
      },
    },
    { clock, store: memoryStore() },
  )
  const outcome = await settle(runtime.run('Go'), clock)
  expect(outcome).toMatchObject({ status: 'completed', report: { text: `${count}` } })
  expect(working).toBe(0)
  // Timers of children, waits and calls.
  expect(clock.pending).toBe(0)
  const events: string[] = []
  for await (const event of runtime.sessions.events(outcome.sessionId)) events.push(event.type)
  const times = (type: string) => events.filter((each) => each === `interaction.subagent.${type}`).length
  expect([times('started'), times('closed')]).toEqual([count, count])
  expect(times('completed') + times('failed')).toBeLessThanOrEqual(count)
  await runtime.close()
}, 240_000)
