import { describe, expect, it } from 'vitest'
import { ScriptedModel } from '../../src/testing/index.ts'
import { runtimeWith, tool } from './helpers.ts'

const again = { calls: [{ tool: 'look', input: { q: 'x', reason: 'once more' } }] }

describe('a model that makes the same call over and over', () => {
  it('is refused the third time in a row, whatever reason it gives, and told why', async () => {
    const ran: unknown[] = []
    const look = tool('look', { execute: (input) => String(ran.push(input)) })
    const model = new ScriptedModel([again, again, again, { text: 'I see.' }])
    const outcome = await runtimeWith(model, { tools: [look] }).run('Go')
    expect(ran).toHaveLength(2)
    expect(outcome.status).toBe('completed')
    expect(model.requests[3]?.messages.at(-1)).toMatchObject({
      results: [{ ok: false, content: expect.stringContaining('was called 3 times in a row with the same input') }],
    })
  })

  it('also within one reply', async () => {
    const ran: unknown[] = []
    const look = tool('look', { execute: (input) => String(ran.push(input)) })
    await runtimeWith(new ScriptedModel([{ calls: [...again.calls, ...again.calls, ...again.calls] }, { text: 'Done.' }]), {
      tools: [look],
    }).run('Go')
    expect(ran).toHaveLength(2)
  })

  it('may do so with another call between, with other input, in another turn, or where the tool says so', async () => {
    const ran: string[] = []
    const look = tool('look', { execute: ({ q }) => String(ran.push(`look ${q}`)) })
    const poll = tool('poll', { repeatable: true, execute: () => String(ran.push('poll')) })
    const other = { calls: [{ tool: 'look', input: { q: 'y' } }] }
    const polls = { calls: [{ tool: 'poll' }] }
    const model = new ScriptedModel([again, again, other, again, again, polls, polls, polls, polls, { text: 'Done.' }])
    await runtimeWith(model, { tools: [look, poll], limits: { maxToolTurns: 20 } }).run('Go')
    expect(ran).toHaveLength(9)
  })
})
