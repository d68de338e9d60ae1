import { describe, expect, it } from 'vitest'
import type { Model, ModelPart } from '../../src/contracts/index.ts'
import type { AgentLoopConfig } from '../../src/runtime/index.ts'
import { runtimeWith, tool } from './helpers.ts'

const piece: ModelPart = { type: 'text', text: 'on and on '.repeat(4) }
const pieceTokens = 10

/** A model that heeds no bound. */
function endless(opening: readonly ModelPart[], more: ModelPart) {
  const seen = { asked: 0, closed: 0, pieces: 0, bounds: [] as (number | undefined)[] }
  const model: Model = {
    id: 'endless/model',
    abilities: ['tools'],
    costOf: ({ output }) => output * 1e-4,
    async *stream({ parameters }) {
      seen.asked++
      seen.bounds.push(parameters.maxOutputTokens)
      try {
        yield* opening
        // More than any bound of these tests, and no more than a test can bear.
        for (; seen.pieces < 100_000; seen.pieces++) yield more
      } finally {
        seen.closed++
      }
    },
  }
  return { model, seen }
}

const clerk = (more: object): Partial<AgentLoopConfig> => ({
  agents: [{ name: 'clerk', description: 'Looks things up', prompt: 'You are a clerk.', model: 'any', ...more }],
})
const withSlack = (tokens: number): number => tokens * 1.25 + 200

const toldOf = (tokens: number | undefined) => ({
  code: 'answer_truncated',
  severity: 'warning',
  message: `The model exceeded its output limit of ${tokens} tokens and was stopped.`,
  remedy: 'Use another model, or raise maxOutputTokens or the budget.',
})

describe('a model that continues beyond what it was given', () => {
  const reached = (message: string) => ({ code: 'limit_reached', message: expect.stringContaining(message) })
  it.each<[string, Partial<AgentLoopConfig>, { reason: string; limits: readonly object[] }]>([
    ['maxOutputTokens', clerk({ parameters: { maxOutputTokens: 50 } }), { reason: 'tokens', limits: [] }],
    [
      'a budget of tokens',
      clerk({ limits: { maxTokens: 6_000 } }),
      { reason: 'tokens', limits: [reached('limits.maxTokens of clerk is 6000')] },
    ],
    [
      'a budget of money',
      clerk({ limits: { maxCostUsd: 0.2 } }),
      { reason: 'cost', limits: [reached('limits.maxCostUsd of clerk is 0.2')] },
    ],
  ])('by %s is stopped, and its text is kept as one that was cut', async (_, config, { reason, limits }) => {
    const { model, seen } = endless([], piece)
    const outcome = await runtimeWith(model, { config }).run('Go')
    const [bound = 0] = seen.bounds
    expect(outcome).toMatchObject({ status: 'partial', reason, diagnostics: [toldOf(bound), ...limits] })
    expect(seen).toMatchObject({ asked: 1, closed: 1 })
    const output = Math.ceil((outcome.report?.text.length ?? 0) / 4)
    expect(outcome.usage).toMatchObject({ output, estimated: true })
    expect(outcome.cost).toBeCloseTo(output * 1e-4)
    expect(output).toBeGreaterThan(withSlack(bound))
    expect(output).toBeLessThanOrEqual(withSlack(bound) + pieceTokens)
  })

  it('in its thoughts has said nothing', async () => {
    const { model, seen } = endless([], { type: 'reasoning', text: 'Hm. '.repeat(10) })
    const config = clerk({ parameters: { maxOutputTokens: 50 }, limits: { maxRetries: 0 } })
    const outcome = await runtimeWith(model, { config }).run('Go')
    const { message, remedy } = toldOf(50)
    expect(outcome).toMatchObject({ status: 'failed', failure: { class: 'invalid_response', message, remedy } })
    expect(seen.closed).toBe(1)
  })

  it('has none of its calls run', async () => {
    const ran: unknown[] = []
    const call: ModelPart = { type: 'call', id: '1', name: 'look', input: JSON.stringify({ q: 'x'.repeat(2_000) }) }
    const { model, seen } = endless([call], { type: 'working' })
    const config = clerk({ parameters: { maxOutputTokens: 50 }, limits: { maxRetries: 0 } })
    const tools = [tool('look', { execute: (input) => String(ran.push(input)) })]
    const outcome = await runtimeWith(model, { config: { ...config, tools } }).run('Go')
    expect(outcome).toMatchObject({ status: 'failed', failure: { class: 'invalid_response', message: toldOf(50).message } })
    expect([ran, seen.closed]).toEqual([[], 1])
  })

  it.each<[string, readonly ModelPart[]]>([
    ['nothing', []],
    ['a text', [{ type: 'text', text: 'Let me look.' }]],
    ['a whole call', [{ type: 'call', id: '1', name: 'look', input: '{}' }]],
  ])('in the arguments of a call, after %s, is stopped; no call runs, and the received tokens are counted', async (_, opening) => {
    const ran: unknown[] = []
    const { model, seen } = endless(opening, { type: 'working', characters: 40 })
    const config = clerk({ parameters: { maxOutputTokens: 50 }, limits: { maxRetries: 0 } })
    const tools = [tool('look', { execute: (input) => String(ran.push(input)) })]
    const outcome = await runtimeWith(model, { config: { ...config, tools } }).run('Go')
    const { message, remedy } = toldOf(50)
    expect(outcome).toMatchObject({ status: 'failed', failure: { class: 'invalid_response', message, remedy } })
    expect([ran, seen.closed]).toEqual([[], 1])
    expect(outcome.usage).toMatchObject({ estimated: true })
    expect(outcome.usage.output).toBeGreaterThan(withSlack(50))
    expect(outcome.usage.output).toBeLessThanOrEqual(withSlack(50) + pieceTokens)
  })

  it('in the arguments of a call where it had to answer keeps what it said', async () => {
    let isAsked = false
    const { model } = endless([{ type: 'text', text: 'So far: two.' }], { type: 'working', characters: 40 })
    const first: Model = {
      ...model,
      async *stream(request, context) {
        if (isAsked) return yield* model.stream(request, context)
        isAsked = true
        yield { type: 'call', id: '1', name: 'look', input: '{}' }
        yield { type: 'finish', reason: 'tool-calls' }
      },
    }
    const config = clerk({ parameters: { maxOutputTokens: 50 }, limits: { maxToolTurns: 1 } })
    const outcome = await runtimeWith(first, { config: { ...config, tools: [tool('look', {})] } }).run('Go')
    expect(outcome).toMatchObject({ status: 'partial', report: { text: 'So far: two.' } })
  })

  it('is informed and asked again if JSON is required', async () => {
    const { model, seen } = endless([], piece)
    const output = { format: 'json', schema: { type: 'object' } } as const
    const outcome = await runtimeWith(model, { config: clerk({ output, parameters: { maxOutputTokens: 50 } }) }).run('Go')
    expect(outcome.status).toBe('failed')
    expect(outcome.diagnostics).toContainEqual(toldOf(50))
    expect(seen.asked).toBeGreaterThan(1)
  })
})

describe('a reply that is long', () => {
  const long: ModelPart = { type: 'text', text: 'x'.repeat(100_000) }
  const whole = (parts: readonly ModelPart[]): Model => ({
    id: 'long/model',
    abilities: [],
    async *stream() {
      yield* parts
      yield { type: 'finish', reason: 'stop' }
    },
  })

  it('is whole where nothing bounds it', async () => {
    expect(await runtimeWith(whole([long, long])).run('Go')).toMatchObject({ status: 'completed', diagnostics: [] })
  })

  it('is complete if it came in one part: stopping it would save nothing', async () => {
    const config = clerk({ parameters: { maxOutputTokens: 50 } })
    expect(await runtimeWith(whole([long]), { config }).run('Go')).toMatchObject({ status: 'completed', diagnostics: [] })
  })
})

describe('a call whose arguments were announced', () => {
  const input = JSON.stringify({ q: 'x'.repeat(2_000) })
  const written: ModelPart = { type: 'working', characters: input.length }
  const call: ModelPart = { type: 'call', id: '1', name: 'look', input }
  const lookingOnce = (parts: readonly ModelPart[]): Model => ({
    id: 'long/model',
    abilities: ['tools'],
    async *stream({ messages }) {
      if (messages.length > 1) yield { type: 'text', text: 'Done.' }
      else yield* parts
      yield { type: 'finish', reason: messages.length > 1 ? 'stop' : 'tool-calls' }
    },
  })
  const lookFrom = async (parts: readonly ModelPart[], parameters = {}) => {
    const ran: unknown[] = []
    const tools = [tool('look', { execute: (given) => String(ran.push(given)) })]
    const config = { ...clerk({ parameters, limits: { maxRetries: 0 } }), tools }
    return { ran, outcome: await runtimeWith(lookingOnce(parts), { config }).run('Go') }
  }

  it('counts once', async () => {
    const announced = await lookFrom([written, call])
    const { outcome } = await lookFrom([call])
    expect(announced.outcome.usage).toEqual(outcome.usage)
  })

  it('runs if it came in one part, however long it is: stopping it would save nothing', async () => {
    const { ran, outcome } = await lookFrom([written, { type: 'working', characters: 0 }, call], { maxOutputTokens: 50 })
    expect([ran, outcome.status]).toEqual([[JSON.parse(input)], 'completed'])
  })

  it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, '40', null])('by %s characters is no reply', async (characters) => {
    const { ran, outcome } = await lookFrom([{ type: 'working', characters } as unknown as ModelPart, call])
    const message = 'The characters of a working part are not a count.'
    expect(outcome).toMatchObject({ status: 'failed', failure: { class: 'invalid_response', message } })
    expect(ran).toEqual([])
  })
})

describe('a model that is asked who is to speak', () => {
  it.each<[string, ModelPart]>([
    ['words', piece],
    ['a call', { type: 'working', characters: 40 }],
  ])('and continues with %s beyond what it was given is stopped, and words decide', async (_, more) => {
    const { model, seen } = endless([], more)
    let isAsked = false
    const adviser: Model = {
      ...model,
      async *stream(request, context) {
        if (isAsked) {
          yield { type: 'text', text: 'Done.' }
          yield { type: 'finish', reason: 'stop' }
          return
        }
        isAsked = true
        yield* model.stream(request, context)
      },
    }
    const agents = ['clerk', 'cook'].map((name) => ({ name, description: `Is a ${name}`, prompt: 'Go.', model: 'any' }))
    const config: Partial<AgentLoopConfig> = { agents, agentSelection: { infer: 'model' } }
    const runtime = runtimeWith(adviser, { config })
    const handle = runtime.stream('Something for the cook')
    const reasons: string[] = []
    for await (const event of handle) if (event.type === 'interaction.subagent.selected') reasons.push(event.reason)
    expect((await handle.outcome).status).toBe('completed')
    expect(reasons).toEqual(['match: the model exceeded its output limit of 1024 tokens'])
    expect([seen.closed, seen.pieces]).toEqual([1, Math.ceil(withSlack(1_024) / pieceTokens) + 1])
  })
})
