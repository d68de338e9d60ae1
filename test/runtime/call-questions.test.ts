import { describe, expect, it } from 'vitest'
import type { ApprovalDecision, JsonObject, Question, QuestionAnswer, Tool, ToolOutput } from '../../src/index.ts'
import { agent, bounded, elapsing, finish, journalOf, ofType, resultsIn, storeWith, tool, until } from '../acceptance/support.ts'
import { no, play, recordsOf, stage } from './approval-stage.ts'

// Questions of calls that have started: while the call runs, and between two attempts.

const form = {
  type: 'object',
  properties: { city: { type: 'string', title: 'City' }, nights: { type: 'integer', minimum: 1 } },
  required: ['city'],
}
const filled = (content: JsonObject) => ({ kind: 'answer', text: '', content }) satisfies ApprovalDecision
const said = (text: string) => ({ kind: 'answer', text }) satisfies ApprovalDecision
const cancel = { kind: 'deny', cancel: true } satisfies ApprovalDecision

const asking = (question: Question = { text: 'Where to?', form, from: 'travel' }, more: Partial<Tool> = {}): Tool => ({
  ...tool('book'),
  execute: async (_, context) => JSON.stringify(await context.ask(question)),
  ...more,
})
const book = { tool: 'book' }

describe('a question while a call runs', () => {
  it('shows its form and who asks, and the checked content reaches the tool', async () => {
    const made = await play([book], { tools: [asking()], decide: () => filled({ city: 'Oslo' }) })
    expect(made.asked).toMatchObject([
      { scope: 'question', isLive: true, tool: 'book', question: { text: 'Where to?', form, from: 'travel' } },
    ])
    expect(made.told).toMatchObject([{ ok: true, content: '{"kind":"accept","text":"","content":{"city":"Oslo"}}' }])
  })

  const answers: readonly (readonly [string, Parameters<typeof stage>[0] & object, QuestionAnswer])[] = [
    ['declined', { decide: () => no('later') }, { kind: 'decline' }],
    ['dismissed', { decide: () => cancel }, { kind: 'cancel' }],
    ['deferred: nobody is there', { decide: () => 'suspend' }, { kind: 'cancel' }],
    ['without an approver', {}, { kind: 'cancel' }],
  ]
  for (const [how, setup, answer] of answers)
    it(`${how}: the tool gets ${answer.kind} and goes on`, async () => {
      const made = await play([book], { tools: [asking()], ...setup })
      expect(made.told).toMatchObject([{ ok: true, content: JSON.stringify(answer) }])
      expect(recordsOf(made.events)).toMatchObject([{ status: 'completed' }])
    })

  it('is not asked without an end: after 50, a call gets cancel', async () => {
    const storm: Tool = {
      ...tool('book'),
      execute: async (_, { ask }) =>
        (await Promise.all(Array.from({ length: 60 }, () => ask({ text: 'Sure?' })))).map((each) => each.kind).join(' '),
    }
    const made = await play([book], { tools: [storm], decide: () => said('yes') })
    expect(made.asked).toHaveLength(50)
    expect(made.told[0]?.content).toMatch(/^(?:accept ){50}(?:cancel ?){10}$/)
  })

  it('pauses the timeout of the call and the time budget, holds no queue slot, and is answered through the inbox', async () => {
    const made = stage({
      tools: [asking({ text: 'Which?' }, { timeoutMs: 1_000, queue: 'one' }), tool('other', { queue: 'one' })],
      decide: () => 'wait',
      limits: { timeBudget: 10_000 },
      config: { queues: { one: { concurrent: 1 } } },
      steps: [{ calls: [book] }, { text: 'Done.' }],
    })
    const handle = made.runtime.stream('go')
    await until('it is asked', () => made.asked.length === 1)
    await made.clock.elapse(3_600_000)
    await handle.approve(made.asked[0]!.id, said('red'))
    const outcome = await elapsing(made.clock, handle.outcome, [10, 100])
    expect(outcome.status).toBe('completed')
    expect(resultsIn(made.model.requests[1])[0]?.content).toBe('{"kind":"accept","text":"red"}')
  })

  it('the timeout continues afterwards', async () => {
    const slow = asking(
      { text: 'Which?' },
      {
        timeoutMs: 1_000,
        execute: async (_, context) => {
          await context.ask({ text: 'Which?' })
          return new Promise<string>(() => {})
        },
      },
    )
    const made = stage({ tools: [slow], decide: () => said('red'), steps: [{ calls: [book] }, { text: 'Done.' }] })
    const outcome = await elapsing(made.clock, made.runtime.run('go'), [100, 50])
    expect(outcome.status).toBe('completed')
    expect(resultsIn(made.model.requests[1])[0]?.content).toContain('time limit')
  })

  it('content that does not fit the form is refused, and the question stays open', async () => {
    const made = stage({ tools: [asking()], decide: () => 'wait', steps: [{ calls: [book] }, { text: 'Done.' }] })
    const handle = made.runtime.stream('go')
    await until('it is asked', () => made.asked.length === 1)
    const wrong: readonly [ApprovalDecision, string][] = [
      [said('Oslo'), 'its content is not an object'],
      [filled({}), '"city": a value is required'],
      [filled({ city: 'Oslo', nights: 0 }), '"nights": expected at least 1'],
      [filled({ city: 'Oslo', nights: 1.5 }), '"nights": expected an integer'],
      [filled({ city: 'Oslo', more: 1 }), 'the form has no field "more"'],
    ]
    for (const [decision, why] of wrong)
      await expect(handle.approve(made.asked[0]!.id, decision)).rejects.toMatchObject({
        code: 'usage',
        message: expect.stringContaining(why),
      })
    await handle.approve(made.asked[0]!.id, filled({ city: 'Bergen', nights: 2 }))
    expect((await finish(handle)).status).toBe('completed')
    expect(resultsIn(made.model.requests[1])[0]?.content).toContain('"content":{"city":"Bergen","nights":2}')
  })

  it('several are asked one after the other, and one that is withdrawn is cancelled', async () => {
    const withdrawn = new AbortController()
    const both = asking(
      { text: '' },
      {
        execute: async (_, context) =>
          JSON.stringify(await Promise.all([context.ask({ text: 'one' }, withdrawn.signal), context.ask({ text: 'two' })])),
      },
    )
    const made = stage({
      tools: [both],
      decide: ({ summary }) => (summary === 'one' ? 'wait' : said('2')),
      steps: [{ calls: [book] }, { text: 'Done.' }],
    })
    const handle = made.runtime.stream('go')
    await until('the first is asked', () => made.asked.length === 1)
    withdrawn.abort()
    expect((await finish(handle)).status).toBe('completed')
    expect(made.asked.map(({ summary, id }) => [summary, id.split('/').at(-1)])).toEqual([
      ['one', 'question-1'],
      ['two', 'question-2'],
    ])
    expect(resultsIn(made.model.requests[1])[0]?.content).toBe('[{"kind":"cancel"},{"kind":"accept","text":"2"}]')
  })

  it('an interrupt ends the wait', async () => {
    const made = stage({ tools: [asking()], decide: () => 'wait', steps: [{ calls: [book] }] })
    const handle = made.runtime.stream('go')
    await until('it is asked', () => made.asked.length === 1)
    await handle.interrupt()
    expect((await finish(handle)).status).toBe('interrupted')
    const events = await journalOf(made.store, handle.sessionId)
    expect(ofType(events, 'interaction.approval.resolved')).toMatchObject([{ decision: cancel, by: 'runtime' }])
  })

  it('a tool that ends without its answer leaves no open request', async () => {
    const hasty = asking(undefined, {
      execute: (_, context) => {
        void context.ask({ text: 'Which?' })
        return 'done'
      },
    })
    const made = await play([book], { tools: [hasty], decide: () => 'wait' })
    expect(made.outcome.status).toBe('completed')
    expect(await made.runtime.sessions.requests(made.outcome.sessionId)).toEqual([])
  })

  it('one that cannot be asked fails the call with the reason', async () => {
    const nested = { text: 'x', form: { type: 'object', properties: { a: { type: 'object' } } } }
    expect((await play([book], { tools: [asking(nested)], decide: () => said('x') })).told[0]?.content).toContain(
      'form.properties.a: expected',
    )
    const local = { text: 'x', url: 'file:///etc/passwd' }
    expect((await play([book], { tools: [asking(local)], decide: () => said('x') })).told[0]?.content).toContain('url: expected an http')
  })

  it('is lost in a crash: a write is unknown, a read asks again, and no request stays open', async () => {
    for (const effect of ['write', 'read'] as const) {
      const tools = [asking(undefined, { effect })]
      const made = stage({ tools, decide: () => 'wait', steps: [{ calls: [book] }] })
      const handle = made.runtime.stream('go')
      await until('it is asked', () => made.asked.length === 1)
      const store = await storeWith(await journalOf(made.store, handle.sessionId))
      const next = stage({ tools, decide: () => filled({ city: 'Oslo' }), store, steps: [{ text: 'Done.' }] })
      const outcome = await bounded((await next.runtime.open(handle.sessionId)).outcome)
      expect(outcome.status).toBe('completed')
      expect(next.asked.map(({ id }) => id.split('/').at(-1))).toEqual(effect === 'read' ? ['question-2'] : [])
      expect(recordsOf(await journalOf(store, handle.sessionId)).map(({ status }) => status)).toEqual([
        effect === 'read' ? 'completed' : 'unknown',
      ])
      expect(await next.runtime.sessions.requests(handle.sessionId)).toEqual([])
      expect((await store.trees.get(handle.sessionId))?.openRequests).toBe(0)
    }
  })
})

const error = { class: 'failed', message: 'It needs an answer.' } as const
/** Returns questions until it has been answered `rounds` times. */
const returning = (rounds: number, log: string[] = [], more: Partial<Tool> = {}): Tool => ({
  ...tool('book'),
  execute: (_, { answers, askState, attempt }): ToolOutput => {
    const round = Number(askState ?? 0)
    log.push(`${attempt} ${round} ${JSON.stringify(answers ?? {})}`)
    if (round >= rounds) return { ok: true, content: `booked: ${JSON.stringify(answers)}` }
    return { ok: false, error, ask: { questions: { where: { text: 'Where to?', form }, sure: { text: 'Sure?' } }, state: round + 1 } }
  },
  ...more,
})
const answerAll = ({ question }: { question?: Question }) => (question?.form ? filled({ city: 'Oslo' }) : said('yes'))

describe('questions that an attempt returns', () => {
  it('are asked one after the other, and the next attempt gets answers and state', async () => {
    const log: string[] = []
    const made = await play([book], { tools: [returning(2, log)], decide: answerAll })
    const answers = '{"where":{"kind":"accept","text":"","content":{"city":"Oslo"}},"sure":{"kind":"accept","text":"yes"}}'
    expect(log).toEqual(['1 0 {}', `2 1 ${answers}`, `3 2 ${answers}`])
    expect(made.told).toMatchObject([{ ok: true, content: `booked: ${answers}` }])
    expect(made.asked).toHaveLength(4)
    expect(made.asked[0]).not.toHaveProperty('isLive')
    const updates = ofType(made.events, 'interaction.item.updated').map(({ update }) => update)
    expect(updates).toMatchObject([
      { kind: 'asked' },
      { kind: 'attempt', attempt: 2, reason: 'answered' },
      { kind: 'asked' },
      { attempt: 3 },
    ])
  })

  it('suspend the turn when nobody is there, and are answered in later processes', async () => {
    const log: string[] = []
    const tools = [returning(1, log)]
    const first = await play([book], { tools, decide: () => 'suspend' })
    expect([first.outcome.status, log]).toEqual(['suspended', ['1 0 {}']])
    const { sessionId } = first.outcome
    for (const [decision, status] of [
      [filled({ city: 'Oslo' }), 'suspended'],
      [no(), 'completed'],
    ] as const) {
      const next = stage({ tools, store: first.store, decide: () => 'suspend', steps: [{ text: 'Done.' }] })
      const [open] = await next.runtime.sessions.requests(sessionId)
      await next.runtime.sessions.approve(sessionId, { approvalId: open!.id, decision })
      expect((await bounded((await next.runtime.open(sessionId)).outcome)).status).toBe(status)
    }
    expect(log.slice(1)).toEqual(['2 1 {"where":{"kind":"accept","text":"","content":{"city":"Oslo"}},"sure":{"kind":"decline"}}'])
    expect(recordsOf(await journalOf(first.store, sessionId))).toMatchObject([{ status: 'completed' }])
  })

  it('survive a crash at every event; an attempt with answers is never run twice', async () => {
    const whole = await play([book], { tools: [returning(1)], decide: answerAll })
    const from = whole.events.findIndex(({ type }) => type === 'interaction.item.updated')
    const until = whole.events.findIndex(({ type }) => type === 'interaction.turn.completed')
    for (let length = from + 1; length <= until; length++) {
      const log: string[] = []
      const made = stage({
        tools: [returning(1, log)],
        decide: answerAll,
        store: await storeWith(whole.events.slice(0, length)),
        steps: [{ text: 'Done.' }],
      })
      const outcome = await bounded((await made.runtime.open(whole.outcome.sessionId)).outcome)
      expect(outcome.status, `${length}`).toBe('completed')
      const events = await journalOf(made.store, whole.outcome.sessionId)
      const isRunning = whole.events.slice(0, length).filter(({ type }) => type === 'interaction.item.updated').length === 2
      expect(log).toHaveLength(isRunning ? 0 : 1)
      expect(recordsOf(events)).toMatchObject([
        { status: isRunning && recordsOf(whole.events.slice(0, length)).length === 0 ? 'unknown' : 'completed' },
      ])
    }
  })

  it('end the call after ten rounds', async () => {
    const log: string[] = []
    const made = await play([book], { tools: [returning(99, log)], decide: answerAll })
    expect(log).toHaveLength(11)
    expect(made.told).toMatchObject([{ ok: false, content: expect.stringContaining('more than 10 times') }])
  })

  it('an interrupt, or questions that cannot be asked, end the call', async () => {
    const made = stage({ tools: [returning(1)], decide: () => 'wait', steps: [{ calls: [book] }] })
    const handle = made.runtime.stream('go')
    await until('it is asked', () => made.asked.length === 1)
    await handle.interrupt()
    expect((await finish(handle)).status).toBe('interrupted')
    expect(recordsOf(await journalOf(made.store, handle.sessionId))).toMatchObject([{ status: 'interrupted' }])
    const invalid = returning(0, [], { execute: () => ({ ok: false, error, ask: { questions: {} } }) })
    expect((await play([book], { tools: [invalid], decide: answerAll })).told[0]?.content).toContain('ask.questions: expected')
  })

  it('are not asked again if the next attempt finds no time in its queue', async () => {
    let isRunning = false
    const queued = { queue: 'one', effect: 'read', concurrency: 'shared', timeoutMs: 3_600_000 } as const
    const slow: Tool = {
      ...tool('other', queued),
      execute: () => {
        isRunning = true
        return new Promise<string>(() => {})
      },
    }
    const made = stage({
      tools: [returning(1, [], queued), slow],
      decide: () => 'wait',
      limits: { timeBudget: 10_000 },
      config: { queues: { one: { concurrent: 1 } } },
      steps: [{ calls: [book, { tool: 'other' }] }, { text: 'Done.' }],
    })
    const handle = made.runtime.stream('go')
    await until('the other call has the queue', () => isRunning && made.asked.length === 1)
    await handle.approve(made.asked[0]!.id, filled({ city: 'Oslo' }))
    await until('the second question is asked', () => made.asked.length === 2)
    await handle.approve(made.asked[1]!.id, said('yes'))
    await elapsing(made.clock, handle.outcome, [200, 100])
    expect(made.asked).toHaveLength(2)
    const records = recordsOf(await journalOf(made.store, handle.sessionId))
    expect(records.find(({ id }) => id.endsWith('.1'))).toMatchObject({ status: 'failed', error: { class: 'timeout' } })
  })

  it('are asked on the root stream for a call of a child', async () => {
    const order: string[] = []
    const made = stage({
      tools: [returning(1, order)],
      decide: () => 'wait',
      config: {
        agents: [
          { ...agent, name: 'boss', tools: [], agents: ['clerk'] },
          { ...agent, tools: ['*'] },
        ],
        agentSelection: { agent: 'boss' },
      },
      steps: [{ calls: [{ tool: 'agent__clerk', input: { prompt: 'Go' } }] }, { calls: [book] }, { text: 'booked' }, { text: 'Done.' }],
    })
    const handle = made.runtime.stream('go')
    for await (const event of handle) {
      if (event.type !== 'interaction.approval.requested') continue
      expect([event.agentPath, event.request.scope]).toEqual(['root/clerk#1', 'question'])
      await handle.approve(event.request.id, answerAll(event.request))
    }
    expect((await finish(handle)).status).toBe('completed')
    expect(order).toHaveLength(2)
  })
})
