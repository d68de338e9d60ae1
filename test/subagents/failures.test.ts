import { describe, expect, it } from 'vitest'
import type { InteractionEvent } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock } from '../../src/testing/index.ts'
import { settle } from '../settle.ts'
import { ask, resultsOf, type Script, send, type TeamOptions, team } from './team.ts'

// What a parent is told of a child that did not do what it was asked: class, what happened, what to do about it.

const boss: Script = (request, step) => (step === 1 ? { calls: [ask('scout', 'Look')] } : { text: resultsOf(request).join() })
const never = () => new Promise<never>(() => {})

interface Scout {
  readonly script: Script
  readonly limits?: object
  readonly tools?: readonly string[]
  readonly output?: { readonly format: 'json'; readonly schema: object }
}

async function told(scout: Scout, { limits: ofBoss = {}, ...options }: TeamOptions & { readonly limits?: object } = {}) {
  const clock = new FakeClock()
  const { script, limits = {}, tools = [], ...more } = scout
  const { run } = team(
    {
      boss: { script: boss, agents: ['scout'], limits: ofBoss },
      scout: { script, tools, limits: { maxRetries: 0, ...limits }, ...more } as never,
    },
    { tools: [send], clock, ...options },
  )
  const { outcome, events } = await settle(run(), clock, 100)
  const failed = events.find((event) => event.type === 'interaction.subagent.failed')
  const item = events.find(
    (event) => event.type === 'interaction.item.completed' && event.agentPath === 'root' && event.item.kind === 'call',
  )
  return { outcome, failed, item, result: outcome.report?.text }
}

const failures: {
  readonly [name: string]: { readonly scout: Scout; readonly kind: string; readonly said: string }
} = {
  'a model that does not answer in time': {
    scout: { script: never, limits: { llmTimeout: 5_000 } },
    kind: 'timeout',
    said: 'scout failed: The model sent no output within 5000 ms. Raise llmTimeout.',
  },
  'no time left before anything was said': {
    scout: { script: never, limits: { timeBudget: 4_000 } },
    kind: 'timeout',
    said: 'scout failed: The turn ended before there was an answer: it ran out of time (limits.timeBudget of scout is 4s). Raise limits.timeBudget of scout.',
  },
  'no tokens for a single answer': {
    scout: { script: () => ({ text: 'x' }), limits: { maxTokens: 20 } },
    kind: 'budget',
    said: 'scout failed: The turn ended before there was an answer: it ran out of tokens (limits.maxTokens of scout is 20). Raise limits.maxTokens of scout.',
  },
  'no tokens where its agent sets no limit': {
    scout: { script: () => ({ calls: [{ tool: 'nothing', input: {} }], usage: { input: 49_900, output: 50 } }) },
    kind: 'budget',
    said: 'scout failed: The turn ended before there was an answer: it ran out of tokens (limits.maxTokens of scout is 50000). Raise limits.maxTokens of scout.',
  },
  'a model that fails': {
    scout: { script: () => ({ fails: 'model' }) },
    kind: 'model',
    said: 'scout failed: scripted model Try again later, or add a fallback model.',
  },
  'a limit of the provider': {
    scout: { script: () => ({ fails: 'rate_limit' }) },
    kind: 'model',
    said: 'scout failed: scripted rate_limit Try again later, or add a fallback model.',
  },
  'a key that is missing': {
    scout: { script: () => ({ fails: 'auth' }) },
    kind: 'auth',
    said: 'scout failed: scripted auth Check the API key of the provider.',
  },
  'no network': {
    scout: { script: () => ({ fails: 'network' }) },
    kind: 'network',
    said: 'scout failed: scripted network Check the network connection and the address of the provider.',
  },
}

describe('a parent gets', () => {
  it.each(Object.entries(failures))('%s, with its class and a remedy', async (_, { scout, kind, said }) => {
    const { outcome, failed, item, result } = await told(scout)
    expect(result).toBe(`Error (${kind}): ${said}`)
    expect(failed).toMatchObject({ failure: { class: kind, message: expect.any(String), remedy: expect.stringMatching(/\w/) } })
    expect(item).toMatchObject({ item: { status: 'failed', error: { class: kind } } })
    // The child failed, not its parent.
    expect(outcome).toMatchObject({ status: 'completed', operations: { steps: [{ calls: [{ status: 'failed', error: kind }] }, {}] } })
  })

  it.each([
    ['tokens', { maxTokens: 2_500 }, 'scout ran out of tokens (its maxTokens is 2500).'],
    ['calls', { maxCalls: 1 }, 'scout ran out of calls (its maxCalls is 1).'],
    ['steps', { maxToolTurns: 2 }, 'scout ran out of steps (its maxToolTurns is 2).'],
  ])('%s that ran out after something was said, with what there is', async (_, limits, said) => {
    const script: Script = (request, step) =>
      request.toolChoice === 'none'
        ? { text: 'so far' }
        : { text: `draft ${step}`, calls: [{ tool: 'nothing', input: { step } }], usage: { input: 300, output: 50 } }
    const { result, failed } = await told({ script, limits: { maxToolTurns: 20, ...limits } })
    expect(result).toBe(`so far\n\n(Partial: ${said})`)
    expect(failed).toBe(undefined)
  })

  it.each([
    ['tokens', { maxTokens: 5_000 }, 'scout ran out of tokens (a limit of an agent that called it).'],
    ['time', { timeBudget: 60_000 }, 'scout ran out of time (a limit of an agent that called it).'],
  ])('%s of its own that a child could not use up', async (_, limits, said) => {
    const script: Script = (request, step) =>
      request.toolChoice === 'none'
        ? { text: 'so far' }
        : step === 3 && 'timeBudget' in limits
          ? never()
          : { text: `draft ${step}`, calls: [{ tool: 'nothing', input: { step } }], usage: { input: 300, output: 50 } }
    const { outcome, result, failed } = await told({ script, tools: ['send'], limits: { maxToolTurns: 20 } }, { limits })
    expect(result).toBe(`so far\n\n(Partial: ${said})`)
    expect(failed).toBe(undefined)
    const { message } = outcome.diagnostics.find(({ code }) => code === 'limit_reached') ?? {}
    expect(message, 'the root shows whose turn was cut').toMatch(/^The turn of root\/scout#1 stopped at a limit: limits\.\w+ of boss is /)
  })

  it('time that a child without tools may use to the end: its step is the answer', async () => {
    const clock = new FakeClock()
    const slow: Script = () => new Promise((resolve) => void clock.after(4_900, () => resolve({ text: 'just in time' })))
    const { run } = team({ boss: { script: slow, limits: { timeBudget: 5_000 } } }, { clock })
    const { outcome } = await settle(run(), clock, 100)
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'just in time' } })
    expect(outcome.operations?.steps).toHaveLength(1)
  })

  it('a report that never fits its schema: an error with what was wrong and the last words, never a value', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
    let asked = 0
    const script: Script = () => {
      asked++
      return { text: `{"town":"Oslo ${asked}"}` }
    }
    const { outcome, failed, item, result } = await told({ script, limits: { maxRetries: 2 }, output: { format: 'json', schema } })
    expect(asked).toBe(3)
    expect(result).toMatch(/^Error \(model\): scout failed: The answer is not the requested JSON: .*"city"/)
    expect(result).toContain('Oslo 3')
    expect(failed).toMatchObject({ status: 'failed', failure: { class: 'model', remedy: expect.stringMatching(/\w/) } })
    expect(item).toMatchObject({ item: { status: 'failed', error: { class: 'model' } } })
    expect((item as InteractionEvent<'interaction.item.completed'>).item).not.toHaveProperty('value')
    expect(outcome).toMatchObject({ status: 'completed', operations: { steps: [{ calls: [{ child: { status: 'failed' } }] }, {}] } })
  })
})

describe('the same task for the same agent', () => {
  const stubborn = (prompt: (step: number) => string) =>
    team({
      boss: {
        agents: ['scout'],
        limits: { maxToolTurns: 20 },
        script: (request, step) =>
          request.toolChoice === 'none' ? { text: resultsOf(request).join(' | ') } : { calls: [ask('scout', prompt(step))] },
      },
      scout: { script: () => ({ text: 'found' }) },
    }).run()

  it('is not given the third time in a row: no further child is started, and the parent is made to answer', async () => {
    const { outcome, events } = await stubborn(() => 'Look')
    expect(events.filter(({ type }) => type === 'interaction.subagent.started')).toHaveLength(2)
    expect(outcome).toMatchObject({ status: 'partial', reason: 'repeats' })
    expect(outcome.report?.text).toMatch(/^found \| found \| Error \(repeated\): "agent__scout" was called 3 times in a row/)
  })

  it('is another task where its words differ', async () => {
    const { events } = await stubborn((step) => `Look ${Math.min(step, 6)}`)
    expect(events.filter(({ type }) => type === 'interaction.subagent.started')).toHaveLength(7)
  })
})

describe('an agent that is at work above a call', () => {
  it('cannot be called there, though no configuration by itself says so', async () => {
    const store = memoryStore()
    const lead: Script = (request, step) =>
      step === 1 ? { calls: [ask('boss', 'You do it')] } : { text: `lead: ${resultsOf(request).join()}` }
    const chief: Script = (request, step) => {
      if (step === 1) return { calls: [{ tool: 'send' }] }
      return step === 2 ? { calls: [ask('lead', 'Go')] } : { text: resultsOf(request).join(' | ') }
    }
    const before = await team(
      { boss: { script: chief, tools: ['send'], agents: ['lead'] }, lead: { script: lead } },
      { store, tools: [send], approver: { decide: () => 'suspend' } },
    ).run()
    expect(before.outcome.status).toBe('suspended')
    // The session of the boss keeps its definition, by which it calls the lead; by now the lead calls the boss.
    const { runtime } = team(
      {
        other: { script: chief, agents: ['lead'] },
        lead: { script: lead, agents: ['boss'] },
        boss: { script: chief, tools: ['send'] },
      },
      { store, tools: [send], approver: { decide: () => ({ decision: { kind: 'approve', breadth: 'once' }, by: 'test' }) } },
    )
    const outcome = await (await runtime.open(before.outcome.sessionId)).outcome
    expect(outcome).toMatchObject({
      status: 'completed',
      report: {
        text: 'sent | lead: Error (config): boss is already running as an ancestor of this call. An agent cannot be its own child. Do the task yourself.',
      },
    })
    const created = (await store.journal.read(outcome.sessionId, 0)).filter(({ type }) => type === 'interaction.session.created')
    expect(created.map(({ agentPath }) => agentPath)).toEqual(['root', 'root/lead#1'])
  })
})

describe('children that had not begun when the time of their parent ran out', () => {
  it.each<[where: string, limits: object, config: object]>([
    ['in line behind their siblings', { parallelChildren: 1 }, {}],
    ['in line for the model', {}, { queues: { team: { concurrent: 1 } } }],
  ])('are not said to have taken effect: %s', async (_, limits, config) => {
    const clock = new FakeClock()
    const twice: Script = (request, step) =>
      step === 1 ? { calls: [ask('kid', 'one'), ask('kid', 'two')] } : { text: resultsOf(request).join('\n') }
    const members = { boss: { script: twice, agents: ['kid'], limits: { timeBudget: 20_000, ...limits } }, kid: { script: never } }
    const { outcome } = await settle(team(members, { clock, config }).run(), clock)
    const [first, second] = outcome.report?.text.split('\n') ?? []
    expect(first).toMatch(
      /"agent__kid" ran for [\d.]+ s and was ended because the time budget ran out\. It may have taken effect\. It said: /,
    )
    expect(second).toMatch(/"agent__kid" waited for [\d.]+ s and was ended because the time budget ran out\. It had not started\./)
    expect(second).not.toMatch(/taken effect|It said/)
  })
})
