import { setImmediate as macrotask } from 'node:timers/promises'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  BudgetExhaustedError,
  type ModelRequest,
  type OwnerBudget,
  type SessionId,
  type StreamEvent,
  TroupeError,
} from '../../src/contracts/index.ts'
import { loadSteps } from '../../src/steps/index.ts'
import { gate } from '../../src/testing/index.ts'
import { ask, type Member, type Script, textOf } from '../subagents/team.ts'
import { changedStore } from './changed-store.ts'
import { allEvents, day, dayMs, gated, nanos, noLimits, says, startLate, stores, usageOf, world } from './owner-world.ts'

// What all sessions of an owner may use together in a day. Two teams on one store are two processes.

/** Gives what must not happen a chance to happen. */
async function quiet(): Promise<void> {
  for (let i = 0; i < 50; i++) await macrotask()
}

async function seen(events: AsyncIterable<StreamEvent>, type: StreamEvent['type']): Promise<void> {
  for await (const event of events) if (event.type === type) return
}

// The first session that waits would otherwise load code when it is woken.
beforeAll(async () => {
  await loadSteps()
})

describe.each(Object.entries(stores))('the budget of an owner with the %s store', (_, prepare) => {
  it('is charged with every request of its sessions, and refuses a new session when nothing is left', async () => {
    const store = (await prepare())()
    const at = world({ lead: says('Done.') }, { store, budget: { tokensPerDay: 450 } })
    expect((await at.ask()).status).toBe('completed')
    expect(await store.usages.get('token:ci', day)).toEqual({ tokens: 150, costUsd: 0 })
    expect([(await at.ask()).status, (await at.ask()).status]).toEqual(['completed', 'completed'])
    const refused = await at.start().catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(BudgetExhaustedError)
    expect(refused).toMatchObject({
      code: 'budget_exhausted',
      retry: false,
      message: 'The budget of today is exhausted: the budget of token:ci is 450 tokens a day, renewed at 2026-01-02T00:00:00.000Z.',
      remedy: 'Wait until then, or raise tokensPerDay of token:ci.',
      renewal: { renewsAt: Date.parse('2026-01-02'), retryAfterMs: dayMs },
    })
    // Nothing of it is stored, and others are not bound.
    expect(await store.trees.list()).toHaveLength(3)
    expect((await at.runtime.run('Go')).status).toBe('completed')
    expect(new Set(at.owners)).toEqual(new Set(['token:ci']))
    expect(await store.usages.get('token:ci', day)).toEqual({ tokens: 450, costUsd: 0 })
  })

  it('is renewed at midnight UTC', async () => {
    const store = (await prepare())()
    const at = world({ lead: says('Done.') }, { store, budget: { tokensPerDay: 150 } })
    const sessionId = await at.start()
    expect((await at.sessions.outcome(sessionId)).status).toBe('completed')
    at.clock.advance(dayMs - 1)
    const again = () => at.sessions.send(sessionId, 'Again', { clientId: 'again' })
    await expect(again()).rejects.toMatchObject({ code: 'budget_exhausted', renewal: { retryAfterMs: 1 } })
    await expect(at.start()).rejects.toMatchObject({ renewal: { retryAfterMs: 1 } })
    expect((await at.sessions.outcome(sessionId)).status).toBe('completed')
    at.clock.advance(1)
    await again()
    expect((await at.sessions.outcome(sessionId)).status).toBe('completed')
    // A message that was accepted is not refused when it comes again.
    expect(await again()).toMatchObject({ clientId: 'again' })
    expect(await store.usages.get('token:ci', day)).toEqual({ tokens: 150, costUsd: 0 })
    expect(await store.usages.get('token:ci', '2026-01-02')).toEqual({ tokens: 150, costUsd: 0 })
  })

  it('counts a request that runs over midnight for the new day', async () => {
    const store = (await prepare())()
    const { lead, asked, answer } = gated({ input: 100, output: 50 })
    const at = world({ lead }, { store, budget: { tokensPerDay: 5_000 } })
    at.clock.jump(dayMs - 1_000)
    const sessionId = await at.start()
    await asked.promise
    at.clock.advance(1_000)
    answer.open()
    await at.sessions.outcome(sessionId)
    expect(await store.usages.get('token:ci', day)).toEqual({ tokens: 0, costUsd: 0 })
    expect(await store.usages.get('token:ci', '2026-01-02')).toEqual({ tokens: 150, costUsd: 0 })
  })

  it('ends a running turn with its last answer, and names the budget', async () => {
    const store = (await prepare())()
    const idle = { name: 'idle', description: 'Waits.', inputSchema: { type: 'object' }, effect: 'read', execute: () => 'ok' } as const
    const script: Script = ({ toolChoice }) =>
      toolChoice === 'none'
        ? { text: 'As far as I came.', usage: { input: 100, output: 50 } }
        : { calls: [{ tool: 'idle', input: { n: Math.random() } }], usage: { input: 600, output: 400 } }
    const at = world({ lead: { script, tools: ['idle'], limits: noLimits } }, { store, budget: { tokensPerDay: 6_000 }, tools: [idle] })
    const sessionId = await at.start()
    const outcome = await at.sessions.outcome(sessionId)
    expect(outcome).toMatchObject({ status: 'partial', reason: 'tokens', limit: 'owner', report: { text: 'As far as I came.' } })
    expect(outcome.diagnostics).toContainEqual({
      code: 'limit_reached',
      severity: 'warning',
      message: 'The turn stopped at a limit: the budget of token:ci is 6000 tokens a day.',
      remedy: 'Wait until it is renewed (2026-01-02T00:00:00.000Z), or raise tokensPerDay of token:ci.',
    })
    expect((await store.usages.get('token:ci', day)).tokens).toBeLessThanOrEqual(6_000)
  })

  it('leaves the parent of a child that uses all it gets enough for an answer', async () => {
    const store = (await prepare())()
    const greedy: Script = ({ parameters: { maxOutputTokens = 50_000 } }) => ({
      text: 'word'.repeat(maxOutputTokens),
      usage: { input: 20, output: maxOutputTokens },
    })
    const lead: Script = (_, step) =>
      step === 1
        ? { calls: [ask('scout', 'Look')], usage: { input: 100, output: 20 } }
        : { text: 'Done.', usage: { input: 900, output: 10 } }
    const limits = { ...noLimits, maxOutputBytes: 1_000 }
    const members = { lead: { script: lead, agents: ['scout'], limits }, scout: { script: greedy, limits } }
    const at = world(members, { store, budget: { tokensPerDay: 9_000 } })
    const outcome = await at.ask()
    expect(['completed', 'partial']).toContain(outcome.status)
    expect(outcome.report?.text).toBe('Done.')
    const { tokens } = await store.usages.get('token:ci', day)
    expect([tokens > 5_000, tokens <= 9_000]).toEqual([true, true])
  })

  it('charges the selection of the agent, children, failed attempts and estimates once each', async () => {
    const store = (await prepare())()
    const price: NonNullable<Member['price']> = ({ input, output }) => (input + 2 * output) / 1e6
    const lead: Script = (request, step) => {
      if (request.system.startsWith('Choose')) return { text: '{"agent":"lead"}', usage: { input: 30, output: 5 } }
      return step === 1 ? { calls: [ask('scout', 'Look')] } : { text: 'Done.', usage: { input: 200, output: 10 } }
    }
    const scout: Script = () => ({ fails: 'network' })
    const shared = { price, free: false }
    const members = {
      lead: { ...shared, script: lead, agents: ['scout'], limits: noLimits, infer: true },
      other: { ...shared, script: lead, infer: true },
      scout: { ...shared, script: scout, limits: noLimits },
    }
    const budget = { tokensPerDay: 500_000, costUsdPerDay: 5 }
    const at = world(members, { store, budget, config: { agentSelection: { infer: 'model' } } })
    const outcome = await at.ask()
    expect([outcome.status, outcome.accounting.length]).toEqual(['completed', 5])
    const used = await store.usages.get('token:ci', day)
    const { tokens, costUsd } = usageOf(await allEvents(store))
    expect(used.tokens).toBe(tokens)
    expect(used.tokens).toBe(outcome.usage.input + outcome.usage.output)
    expect([nanos(used.costUsd), nanos(outcome.cost)]).toEqual([nanos(costUsd), nanos(costUsd)])
    expect(used.costUsd).toBeGreaterThan(0)
  })

  it('is asked for again at each turn: a change and its removal apply to the next one', async () => {
    const store = (await prepare())()
    let budget: OwnerBudget | undefined = { tokensPerDay: 150 }
    const at = world({ lead: says('Done.') }, { store, budget: () => budget })
    const sessionId = await at.start()
    const next = async (changed: OwnerBudget | undefined) => {
      budget = changed
      const sent = await at.sessions.send(sessionId, 'Again').catch(({ code }: TroupeError) => code)
      return typeof sent === 'string' ? sent : (await at.sessions.outcome(sessionId)).status
    }
    expect((await at.sessions.outcome(sessionId)).status).toBe('completed')
    expect(await next({ tokensPerDay: 150 })).toBe('budget_exhausted')
    expect(await next({ tokensPerDay: 300 })).toBe('completed')
    expect(await next({ tokensPerDay: 300 })).toBe('budget_exhausted')
    expect(await next(undefined)).toBe('completed')
    budget = { tokensPerDay: -1 }
    await expect(at.start()).rejects.toThrow('budgetOf("token:ci").tokensPerDay: expected a number of at least 0, found -1')
  })

  it('with a cost refuses models without a price, unless they are allowed by name', async () => {
    const store = (await prepare())()
    const scout: Script = () => ({ text: 'Found.' })
    const lead: Script = (request, step) => (step === 1 ? { calls: [ask('scout', textOf(request))] } : { text: 'Done.' })
    const priced = { script: lead, agents: ['scout'], limits: noLimits, price: () => 0.001, free: false }
    const members = { lead: priced, scout: { script: scout, limits: noLimits, free: false } }
    const budget = { costUsdPerDay: 1 }
    const at = world(members, { store, budget })
    await expect(at.start('Go', { agent: 'scout' })).rejects.toMatchObject({
      code: 'config_invalid',
      message: 'A cost budget is set, but scout has no price.',
    })
    const outcome = await at.ask()
    const child = outcome.accounting.find(({ kind }) => kind === 'call')
    expect([outcome.status, child?.status]).toEqual(['completed', 'failed'])
    // Also if the budget is set between two turns.
    let later: OwnerBudget | undefined
    const grown = world(members, { store, budget: () => later })
    const sessionId = await grown.start('Go', { agent: 'scout' })
    expect((await grown.sessions.outcome(sessionId)).status).toBe('completed')
    later = budget
    await grown.sessions.send(sessionId, 'Again')
    expect(await grown.sessions.outcome(sessionId)).toMatchObject({ status: 'failed', reason: 'config' })
    const allowed = world(members, { store, budget, config: { unpriced: ['scout'] } })
    expect((await allowed.sessions.outcome(await allowed.start('Go', { agent: 'scout' }))).status).toBe('completed')
  })

  it('lets requests wait for those of other sessions in flight, and wakes them in order of arrival', async () => {
    const store = (await prepare())()
    const gates = new Map(['one', 'two', 'three', 'four'].map((name) => [name, gate()]))
    const asked: string[] = []
    const script: Script = async (request) => {
      const name = textOf(request)
      asked.push(name)
      await gates.get(name)?.promise
      return { text: name, usage: { input: 20, output: 10 } }
    }
    const lead: Member = { script, parameters: { maxOutputTokens: 8_000 }, limits: noLimits }
    const at = world({ lead }, { store, budget: { tokensPerDay: 10_000 } })
    const ids: SessionId[] = []
    const waits: string[] = []
    const read: Promise<void>[] = []
    for (const name of gates.keys()) {
      const id = await startLate(at, name)
      ids.push(id)
      // Stored when its first request has started or waits.
      await seen(at.sessions.events(id), 'interaction.turn.started')
      read.push(
        (async () => {
          for await (const event of at.sessions.events(id, { until: 'turn', live: true }))
            if ('queue' in event) waits.push(`${name} ${event.type.split('.').at(-1)} ${event.queue}`)
        })(),
      )
    }
    const begun: string[] = []
    for (const [name, { open }] of gates) {
      begun.push(name)
      while (asked.length < begun.length) await macrotask()
      await quiet()
      expect(asked).toEqual(begun)
      open()
    }
    await Promise.all(read)
    const outcomes = await Promise.all(ids.map((id) => at.sessions.outcome(id)))
    expect(outcomes.map(({ status }) => status)).toEqual(Array(4).fill('completed'))
    // Woken together with the second one, the last two were too late and kept their places.
    expect(waits.filter((each) => each === 'four joined budget').length).toBeGreaterThanOrEqual(2)
    expect(waits.at(-1)).toBe('four left budget')
  })

  it('gives back what a request did not use while its turn continues', async () => {
    const store = (await prepare())()
    const [asked, answer, call] = [gate(), gate(), gate()]
    const slow = {
      name: 'slow',
      description: 'Waits.',
      inputSchema: { type: 'object' },
      effect: 'read',
      execute: () => call.promise.then(() => 'ok'),
    } as const
    const script: Script = async (request, step) => {
      if (textOf(request) !== 'slow' || step > 1) return { text: 'Done.', usage: { input: 20, output: 10 } }
      asked.open()
      await answer.promise
      return { calls: [{ tool: 'slow' }], usage: { input: 20, output: 10 } }
    }
    const lead: Member = { script, tools: ['slow'], parameters: { maxOutputTokens: 8_000 }, limits: noLimits }
    const at = world({ lead }, { store, budget: { tokensPerDay: 20_000 }, tools: [slow] })
    const first = await at.start('slow')
    await asked.promise
    const second = await startLate(at, 'quick')
    await seen(at.sessions.events(second), 'interaction.turn.started')
    answer.open()
    expect((await at.sessions.outcome(second)).status).toBe('completed')
    call.open()
    expect((await at.sessions.outcome(first)).status).toBe('completed')
  })

  it('frees what a session held that is interrupted or released', async () => {
    const store = (await prepare())()
    const never = gate()
    const script: Script = async (request) => {
      if (textOf(request) === 'hang') await never.promise
      return { text: 'Done.', usage: { input: 20, output: 10 } }
    }
    const lead: Member = { script, parameters: { maxOutputTokens: 8_000 }, limits: noLimits }
    const at = world({ lead }, { store, budget: { tokensPerDay: 14_000 } })
    const hanging = await at.start('hang')
    await seen(at.sessions.events(hanging), 'interaction.step.started')
    const waiting = await startLate(at, 'wait')
    await seen(at.sessions.events(waiting), 'interaction.turn.started')
    await at.sessions.cancel(hanging, 'interrupt')
    expect((await at.sessions.outcome(waiting)).status).toBe('completed')
    expect((await store.usages.get('token:ci', day)).tokens).toBeLessThan(6_000)
  })

  it('loses a request in flight with its process, until the session is resumed: then it is charged as lost', async () => {
    const open = await prepare()
    const store = open()
    const asked = gate()
    let isDown = false
    const broken = changedStore(store, {
      append: (batch) => (isDown ? Promise.reject(new TroupeError('store_failed', 'down')) : store.journal.append(batch)),
    })
    const script: Script = async () => {
      asked.open()
      isDown = true
      return { text: 'Lost.', usage: { input: 20, output: 10 } }
    }
    const lead: Member = { script, parameters: { maxOutputTokens: 500 }, limits: noLimits }
    const crashed = world({ lead }, { store: broken, budget: { tokensPerDay: 5_000 } })
    const sessionId = await crashed.start()
    await asked.promise
    expect((await crashed.sessions.outcome(sessionId).catch(() => ({ status: 'none' }))).status).not.toBe('completed')
    await crashed.runtime.close()
    expect(await store.usages.get('token:ci', day)).toEqual({ tokens: 0, costUsd: 0 })
    const after = world({ lead: says('Done.') }, { store, budget: { tokensPerDay: 5_000 } })
    const handle = await after.runtime.open(sessionId)
    expect((await handle.outcome).status).toBe('completed')
    const { tokens } = await store.usages.get('token:ci', day)
    expect(tokens).toBe(usageOf(await allEvents(store)).tokens)
    // The lost request with the reply that it reserved, and the next one.
    expect(tokens).toBeGreaterThan(150 + 500)
  })

  it('is shared by processes: each knows at its next turn what the others have charged', async () => {
    const open = await prepare()
    const budget = { tokensPerDay: 300 }
    const [one, two] = [world({ lead: says('One.') }, { store: open(), budget }), world({ lead: says('Two.') }, { store: open(), budget })]
    const sessionId = await one.start()
    expect((await one.sessions.outcome(sessionId)).status).toBe('completed')
    expect((await two.ask()).status).toBe('completed')
    await expect(two.start()).rejects.toBeInstanceOf(BudgetExhaustedError)
    await expect(one.sessions.send(sessionId, 'Again')).rejects.toBeInstanceOf(BudgetExhaustedError)
  })

  it('refuses a new session, a message and a copy if the rest pays no answer, and what a whole budget does not pay', async () => {
    const store = (await prepare())()
    const at = world({ lead: says('Done.') }, { store, budget: { tokensPerDay: 200 } })
    const sessionId = await at.start()
    expect((await at.sessions.outcome(sessionId)).status).toBe('completed')
    const before = await allEvents(store)
    const principal = { id: 'token:ci', kind: 'token' } as const
    const again = () => at.sessions.send(sessionId, 'Again', { clientId: 'again' })
    for (const refused of [() => at.start('Again', { clientId: 'again' }), again, () => at.sessions.fork(sessionId, { principal })])
      await expect(refused()).rejects.toMatchObject({
        message:
          'The rest of the budget of today is too little for an answer: the budget of token:ci is 200 tokens a day, renewed at 2026-01-02T00:00:00.000Z.',
        renewal: { retryAfterMs: dayMs },
      })
    // Waiting would not help.
    const long = 'x'.repeat(2_000)
    for (const refused of [() => at.start(long), () => at.sessions.send(sessionId, long)])
      await expect(refused()).rejects.toMatchObject({
        code: 'budget_exhausted',
        message: 'An answer to this request needs more than the whole budget of a day: the budget of token:ci is 200 tokens a day.',
        remedy: 'Send less, or raise tokensPerDay of token:ci.',
        renewal: undefined,
      })
    expect(await allEvents(store)).toEqual(before)
    at.clock.advance(dayMs)
    await again()
    expect((await at.sessions.outcome(sessionId)).status).toBe('completed')
  })

  it('creates a session only when what requests in flight leave pays its answer, also if models ignore their limit', async () => {
    const store = (await prepare())()
    const { lead, asked, answer } = gated({ input: 300, output: 500 })
    const at = world({ lead }, { store, budget: { tokensPerDay: 1_800 } })
    const starts = Array.from({ length: 6 }, (_, i) => at.start(`Go ${i}`).catch((error: unknown) => error))
    await asked.promise
    await quiet()
    expect(await at.sessions.list()).toHaveLength(1)
    answer.open()
    const started = await Promise.all(starts)
    const ids = started.filter((each) => typeof each === 'string')
    expect(ids).toHaveLength(3)
    for (const each of started)
      if (typeof each !== 'string') expect(each).toMatchObject({ renewal: { renewsAt: Date.parse('2026-01-02') } })
    for (const id of ids) expect((await at.sessions.outcome(id)).report?.text).toBe('Done.')
    expect(await at.sessions.list()).toHaveLength(3)
  })

  it('refuses a session that has waited 30 seconds for requests in flight', async () => {
    const store = (await prepare())()
    const { lead, asked, answer } = gated({ input: 300, output: 500 })
    const at = world({ lead }, { store, budget: { tokensPerDay: 1_800 } })
    const first = await at.start()
    await asked.promise
    await expect(startLate(at, 'Late')).rejects.toMatchObject({
      message: expect.stringMatching(/^Requests in flight hold the rest of the budget of today/),
      remedy: 'Try again in 30 seconds, or raise tokensPerDay of token:ci.',
      renewal: { renewsAt: Date.parse('2026-01-02'), retryAfterMs: 30_000 },
    })
    answer.open()
    expect((await at.sessions.outcome(first)).status).toBe('completed')
    expect(await at.sessions.list()).toHaveLength(1)
  })

  it('leaves no rest of inexact arithmetic', async () => {
    const store = (await prepare())()
    const price: NonNullable<Member['price']> = ({ input, output }) => (input + output) / 1_500
    const at = world({ lead: { ...says('Done.'), price, free: false } }, { store, budget: { costUsdPerDay: 0.8 } })
    // In floating point the sum of eight is less than 0.8.
    for (let i = 0; i < 8; i++) expect((await at.ask()).cost).toBe(0.1)
    expect(await store.usages.get('token:ci', day)).toEqual({ tokens: 1_200, costUsd: 0.8 })
    await expect(at.start()).rejects.toMatchObject({ message: expect.stringMatching(/^The budget of today is exhausted/) })
  })

  it('is never exceeded by many sessions with children at the same time, and every one ends', { timeout: 300_000 }, async () => {
    const isMemory = _ === 'memory'
    const runs = (isMemory ? 40 : 10) * (process.env.TROUPE_FULL ? 10 : 1)
    const seen = { refused: 0, limited: 0, waited: 0 }
    await fc.assert(
      fc.asyncProperty(fc.array(plan, { minLength: 2, maxLength: 20, size: 'max' }), budgets, async (plans, budget) => {
        const store = (await prepare())()
        const at = world(greedyTeam(plans), { store, budget })
        const started = await Promise.all(plans.map((_each, i) => at.start('Go', { agent: `a${i}` }).catch((error: unknown) => error)))
        const ids = started.filter((each): each is SessionId => typeof each === 'string')
        for (const each of started) if (typeof each !== 'string') expect(each).toBeInstanceOf(BudgetExhaustedError)
        const outcomes = await Promise.all(ids.map((id) => at.sessions.outcome(id)))
        const cost = outcomes.reduce((sum, each) => sum + nanos(each.cost), 0)
        for (const { status, reason, usage } of outcomes) {
          expect(['completed', 'partial', 'failed']).toContain(status)
          // Who cannot pay a first request is refused.
          expect(usage.output).toBeGreaterThan(0)
          expect(['config', 'internal', 'model', 'store']).not.toContain(reason)
          seen.limited += reason === 'tokens' || reason === 'cost' ? 1 : 0
        }
        const used = await store.usages.get('token:ci', day)
        const recorded = usageOf(await allEvents(store))
        expect(used.tokens).toBe(recorded.tokens)
        expect([nanos(used.costUsd), cost]).toEqual([nanos(recorded.costUsd), nanos(recorded.costUsd)])
        expect(used.tokens).toBeLessThanOrEqual(budget.tokensPerDay ?? Number.POSITIVE_INFINITY)
        expect(used.costUsd).toBeLessThanOrEqual(budget.costUsdPerDay ?? Number.POSITIVE_INFINITY)
        seen.refused += plans.length - ids.length
        await at.runtime.close()
      }),
      { numRuns: runs },
    )
    expect(seen.limited, 'some reach the budget').toBeGreaterThan(runs)
  })
})

interface Plan {
  readonly children: number
  readonly steps: number
  /** How long the model thinks, in macrotasks. */
  readonly delay: number
  /** The share that it uses of what it may say. */
  readonly share: number
}

const plan: fc.Arbitrary<Plan> = fc.record({
  children: fc.integer({ min: 0, max: 3 }),
  steps: fc.integer({ min: 1, max: 3 }),
  delay: fc.integer({ min: 0, max: 5 }),
  share: fc.constantFrom(0.01, 0.5, 1),
})

const budgets: fc.Arbitrary<OwnerBudget> = fc.record(
  { tokensPerDay: fc.integer({ min: 500, max: 150_000 }), costUsdPerDay: fc.integer({ min: 1, max: 200 }).map((cents) => cents / 1_000) },
  { requiredKeys: ['tokensPerDay'] },
)

const priceOf: NonNullable<Member['price']> = ({ input, output }) => input * 1.0001e-6 + output * 5.3e-6

/** Says as much as the runtime allows: if reservations exceeded the budget together, the sum of all usage would, too. */
function greedy({ children, steps, delay, share }: Plan, child: string): Script {
  return async (request, step) => {
    for (let i = 0; i < delay; i++) await macrotask()
    const most = Math.max(1, Math.floor((request.parameters.maxOutputTokens ?? 100) * share))
    const isOver = request.toolChoice === 'none' || step >= steps
    const usage = { input: Math.ceil(charsOf(request) / 8), output: isOver ? most : Math.min(most, 200) }
    if (isOver) return { text: 'word'.repeat(Math.min(most, 2_000)), usage }
    const calls = Array.from({ length: Math.max(1, children) }, (_, i) => ask(child, `Part ${i} of ${step}`))
    return { text: 'On it.', calls, usage }
  }
}

const charsOf = ({ system, tools, messages }: ModelRequest): number =>
  JSON.stringify([system, tools, messages.map((message) => ('parts' in message ? message.parts : message.results))]).length

function greedyTeam(plans: readonly Plan[]): { readonly [name: string]: Member } {
  const limits = { ...noLimits, maxOutputBytes: 1_000, parallelChildren: 4, parallelToolCalls: 4, maxChildren: 20 }
  const shared = { limits, price: priceOf, free: false }
  return Object.fromEntries(
    plans.flatMap((each, i): [string, Member][] => [
      [`a${i}`, { ...shared, script: greedy(each, `b${i}`), agents: [`b${i}`] }],
      [`b${i}`, { ...shared, script: greedy({ ...each, steps: 1 }, '') }],
    ]),
  )
}
