import { describe, expect, it } from 'vitest'
import { bounded, expectLegal, journalOf, objectSchema, storeWith, tool } from '../acceptance/support.ts'
import { no, play, recordsOf, run, shell, stage, yes } from './approval-stage.ts'

// What stops a model that makes the same call over and over, besides `repeats.test.ts`.

const look = (q: string, reason?: string) => ({ tool: 'look', input: { q, ...(reason && { reason }) } })
const times = <T>(n: number, each: T): T[] => Array.from({ length: n }, () => each)
const looking = () => {
  const ran: unknown[] = []
  return {
    ran,
    tools: [tool('look', { schema: objectSchema({ q: { type: 'string' }, k: {} }), execute: (input) => `${ran.push(input)}` })],
  }
}

describe('the same call in a row', () => {
  it('is refused the third time; after three refusals the model is made to answer, and the outcome says why', async () => {
    const { ran, tools } = looking()
    const made = await play(times(5, look('x')), { tools, limits: { maxToolTurns: 20 } })
    expect(ran).toHaveLength(2)
    expect(recordsOf(made.events).map(({ status, error }) => error?.class ?? status)).toEqual([
      'completed',
      'completed',
      ...times(3, 'repeated'),
    ])
    expect(made.told.at(-1)?.content).toContain('"look" was called 5 times in a row with the same arguments')
    expect([made.outcome.status, made.outcome.reason, made.outcome.report?.text]).toEqual(['partial', 'repeats', 'Done.'])
    expect(made.model.requests).toHaveLength(6)
    expect(made.model.requests[5]).toMatchObject({ toolChoice: 'none' })
    expect(JSON.stringify(made.model.requests[5]?.messages)).toContain('You repeated the same call too often')
  })

  it('is the same whatever reason is given, and however it is written', async () => {
    const { ran, tools } = looking()
    const calls = [
      look('x', 'One'),
      { tool: 'look', input: '{ "reason": "Two", "q": "x" }' },
      { tool: 'look', input: '{"q":"\\u0078","reason":"Three"}' },
    ]
    const made = await play(calls, { tools })
    expect(ran).toHaveLength(2)
    expect(made.told.map(({ ok }) => ok)).toEqual([true, true, false])
    const nested = (a: string) => ({ tool: 'look', input: a })
    const order = await play([nested('{"k":{"a":1,"b":2}}'), nested('{"k":{"b":2,"a":1}}'), nested('{"k":{"a":1,"b":2}}')], {
      tools: looking().tools,
    })
    expect(order.told.map(({ ok }) => ok)).toEqual([true, true, false])
  })

  it('a tool with its own argument `reason` is identified by it', async () => {
    const ran: unknown[] = []
    const own = tool('own', { schema: objectSchema({ reason: { type: 'string' } }), execute: (input) => `${ran.push(input)}` })
    const call = (reason: string, why: string) => ({ tool: 'own', input: { reason, call_reason: why } })
    const made = await play([call('a', '1'), call('a', '2'), call('b', '3'), call('b', '4'), call('b', '5')], { tools: [own] })
    expect(made.told.map(({ ok }) => ok)).toEqual([true, true, true, true, false])
  })

  it('another call between begins it anew, and one that works ends the count of refusals', async () => {
    const { ran, tools } = looking()
    const calls = [...times(4, look('x')), look('y'), ...times(4, look('x'))]
    const made = await play(calls, { tools, limits: { maxToolTurns: 20 } })
    expect(ran).toHaveLength(5)
    expect([made.outcome.status, made.outcome.reason]).toEqual(['completed', undefined])
  })

  it('is counted within one reply, too: of five calls two run, of further ones none', async () => {
    const { ran, tools } = looking()
    const made = await play([times(5, look('x')), times(3, look('x'))], { tools })
    expect(ran).toHaveLength(2)
    expect(made.told.map(({ ok }) => ok)).toEqual([true, true, ...times(6, false)])
    expect([made.outcome.status, made.outcome.reason]).toEqual(['partial', 'repeats'])
  })

  it('is counted after a resume, wherever the driver was lost', async () => {
    const first = looking()
    const whole = await play(times(2, look('x')), { tools: first.tools })
    const ends = whole.events.flatMap(({ type }, index) => (type === 'interaction.item.completed' ? [index + 1] : []))
    const { ran, tools } = looking()
    const steps = [...times(3, { calls: [look('x')] }), { text: 'Done.' }]
    const made = stage({ tools, store: await storeWith(whole.events.slice(0, ends[1])), steps, limits: { maxToolTurns: 20 } })
    const outcome = await bounded((await made.runtime.open(whole.outcome.sessionId)).outcome)
    expect(ran).toEqual([])
    expect([outcome.status, outcome.reason]).toEqual(['partial', 'repeats'])
    expectLegal(await journalOf(made.store, outcome.sessionId))
  })

  it('of an earlier turn is not counted', async () => {
    const { ran, tools } = looking()
    const made = stage({ tools, steps: [...times(2, { calls: [look('x')] }), { text: '1' }, { calls: [look('x')] }, { text: '2' }] })
    const handle = made.runtime.stream('go')
    await handle.send('again')
    await bounded(handle.outcome)
    expect(ran).toHaveLength(3)
  })

  it('of a tool that may be asked again and again is not counted', async () => {
    const made = await play(times(6, { tool: 'poll' }), { tools: [tool('poll', { repeatable: true })], limits: { maxToolTurns: 20 } })
    expect(made.told.every(({ ok }) => ok)).toBe(true)
  })
})

describe('the same refusal in a row', () => {
  const refused: { [why: string]: { readonly call: object; readonly setup?: Parameters<typeof play>[1]; readonly says: string } } = {
    'wrong arguments': { call: { tool: 'look', input: { q: 7, z: [] } }, setup: { tools: looking().tools }, says: 'Invalid arguments' },
    'a rule': { call: run('rm x'), setup: { config: { approvals: { rules: [{ deny: 'shell' }] } } }, says: 'A rule forbids' },
    'a hook': {
      call: run('rm x'),
      setup: { hooks: [{ name: 'guard', onFailure: 'closed', beforeCall: () => ({ kind: 'block', reason: 'Not today' }) }] },
      says: 'Not today',
    },
    'nobody there': { call: run('rm x'), says: 'there is no approver' },
    'a person': { call: run('rm x'), setup: { decide: () => no('Never') }, says: 'Never' },
  }
  for (const [why, { call, setup, says }] of Object.entries(refused))
    it(`by ${why} ends with the reason, not at the last step`, async () => {
      const strict = { schema: objectSchema({ q: { type: 'string' } }) }
      const tools = why === 'wrong arguments' ? [tool('look', { schema: { ...strict.schema, additionalProperties: false } })] : setup?.tools
      const made = await play(times(5, call), { ...setup, ...(tools && { tools }), limits: { maxToolTurns: 20 } })
      expect([made.outcome.status, made.outcome.reason]).toEqual(['partial', 'repeats'])
      const classes = recordsOf(made.events).map(({ error }) => error?.class)
      expect(classes.slice(0, 2)).not.toContain('repeated')
      expect(classes.slice(2)).toEqual(times(3, 'repeated'))
      for (const { content } of made.told) expect(content).toContain(says)
      expect(made.told[2]?.content).toContain('You made this call 3 times in a row with the same arguments.')
      if (why === 'a rule' || why === 'a person' || why === 'nobody there')
        expect(recordsOf(made.events).map(({ status }) => status)).toEqual(times(5, 'declined'))
    })

  it('what a person approves each time is made each time: they have seen it', async () => {
    const ran: { command?: unknown }[] = []
    const made = await play(times(4, run('make')), { tools: [shell(ran as never)], decide: () => yes() })
    expect(ran).toHaveLength(4)
    expect(made.outcome.status).toBe('completed')
  })

  it('what was granted before is refused like any other: nobody sees it any more', async () => {
    const ran: { command?: unknown }[] = []
    const made = await play(times(4, run('make')), { tools: [shell(ran as never)], decide: () => yes('session') })
    expect(ran).toHaveLength(2)
    expect(made.told.map(({ ok }) => ok)).toEqual([true, true, false, false])
  })
})
