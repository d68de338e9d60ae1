import { describe, expect, it } from 'vitest'
import type { BlobId, InputPart, ModelFailure, ModelRequest, StreamEvent, TreeId } from '../../src/contracts/index.ts'
import { snapshotOf } from '../../src/runtime/journal/session-snapshot.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, gate, type ScriptedStep, type ScriptedStepSource } from '../../src/testing/index.ts'
import { fold } from '../fixtures/fold-journal.ts'
import { restore } from '../restore-snapshot.ts'
import { settle } from '../settle.ts'
import { runtimeWith, tool } from './helpers.ts'
import { storeOf, toldFirst } from './journals.ts'
import { asksForSummary, handlesIn, textOf, tokensOf, windowed } from './windows.ts'

const window = 4_000
const goal = 'Find out what is in the archive.'
const big = (more = '') => `${more} ${'x'.repeat(2_600)}`
const look = tool('look', { effect: 'read', execute: ({ q }) => big(`saw ${String(q)}`) })
const write = tool('write', { execute: ({ q }) => `wrote ${String(q)}` })
const plan = tool('plan', {
  effect: 'idempotent',
  execute: (_, { updatePlan }) => {
    updatePlan({
      steps: [
        { step: 'Open the archive', status: 'completed' },
        { step: 'Read it', status: 'in_progress' },
      ],
    })
    return 'planned'
  },
})
const call = (name: string, q: string): ScriptedStep => ({ calls: [{ tool: name, input: { q } }] })
const summary: ScriptedStep = { text: 'The lid is green.' }
/** Looks until the window is four fifths full. */
const looks = (count = 5): readonly ScriptedStep[] => Array.from({ length: count }, (_, i) => call('look', `${i}`))

type Model = ReturnType<typeof windowed>

/** Does its work step by step, and sums up whenever it is asked to. */
function working(work: readonly ScriptedStep[], options: Parameters<typeof windowed>[2] = {}): Model {
  let done = 0
  const next: ScriptedStepSource = (request) =>
    asksForSummary(request) ? summary : (work[done++] ?? { fault: { class: 'config', message: 'There is no more work.' } })
  return windowed(
    window,
    Array.from({ length: 100 }, () => next),
    options,
  )
}

async function run(
  model: Model,
  {
    input = goal as string | readonly InputPart[],
    ...setup
  }: Parameters<typeof runtimeWith>[1] & { input?: string | readonly InputPart[] } = {},
) {
  const store = setup.store ?? memoryStore()
  const clock = (setup.clock as FakeClock | undefined) ?? new FakeClock()
  const runtime = runtimeWith(model, { tools: [look, write, plan], ...setup, limits: { maxToolTurns: 60, ...setup.limits }, store, clock })
  const seen: StreamEvent[] = []
  const handle = runtime.stream(input as never)
  const reading = (async () => {
    for await (const event of handle) seen.push(event)
  })()
  const outcome = await settle(handle.outcome, clock)
  await reading
  const events = await store.journal.read(outcome.sessionId, 0)
  return { outcome, events, seen, store, runtime }
}

const compactions = (events: readonly StreamEvent[]) =>
  events.flatMap((event) => (event.type === 'interaction.context.compacted' ? [event] : []))
const codes = ({ diagnostics }: { diagnostics: readonly { code: string }[] }) => diagnostics.map(({ code }) => code)
const words = ({ messages }: ModelRequest): string => messages.map(textOf).join('\n')

/** In everything that a model was asked: each result behind its call, nothing beyond the window. */
function expectSound(requests: readonly ModelRequest[], most = window): void {
  for (const { messages } of requests)
    for (const [index, message] of messages.entries()) {
      const before = messages[index - 1]
      if (message.role !== 'tool') continue
      const called = before?.role === 'assistant' ? before.parts.flatMap((part) => (part.type === 'call' ? [part.id] : [])) : []
      expect(message.results.map(({ id }) => id)).toEqual(called)
    }
  for (const request of requests) expect(tokensOf(request)).toBeLessThanOrEqual(most)
}

describe('a history that fills the window', () => {
  it('is summed up and made shorter: goal, plan and effects stay word for word, the rest can be read', async () => {
    const model = windowed(window, [call('plan', ''), call('write', 'ink'), ...looks(), summary, { text: 'It is ink.' }])
    const { outcome, events, seen, store } = await run(model)
    model.assertDone()
    expectSound(model.requests)
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'It is ink.' }, diagnostics: [] })
    const [asked, after] = model.requests.slice(-2) as [ModelRequest, ModelRequest]
    expect(asksForSummary(asked)).toBe(true)
    expect(asked).toMatchObject({ system: after.system, tools: model.requests.at(-3)?.tools, toolChoice: 'none' })
    expect(after.messages[0]).toEqual({ role: 'user', parts: [{ type: 'text', text: goal }] })
    expect(words(after)).toContain('The plan:\n- [completed] Open the archive\n- [in_progress] Read it')
    expect(words(after)).toContain('- write {"q":"ink"}: ok, wrote ink')
    expect(words(after)).toContain('Summary:\nThe lid is green.')
    expect(words(after)).toContain('saw 4')
    expect(words(after)).not.toContain('saw 0')
    expect(after.tools.map(({ name }) => name)).toContain('read_output')
    const [compacted] = compactions(events)
    const whole = await store.blobs.get(outcome.sessionId, handlesIn(words(after))[0] as BlobId)
    expect(whole).toContain('saw 0')
    expect(compacted).toMatchObject({
      output: { bytes: Buffer.byteLength(whole ?? '') },
      carried: {
        bundles: [],
        lines: ['- plan {"q":""}: ok, planned', '- write {"q":"ink"}: ok, wrote ink'],
        summary: 'The lid is green.',
        length: 2,
      },
    })
    expect(compacted?.tokensAfter).toBeLessThan((compacted?.tokensBefore ?? 0) / 2)
    expect(JSON.stringify(seen.filter(({ type }) => type.startsWith('interaction.item')))).not.toContain('green')
    expect(JSON.stringify(seen.filter(({ type }) => type === 'interaction.turn.completed'))).not.toContain('green')
  })

  it('counts the summary as a step, with its usage', async () => {
    const model = windowed(window, [
      ...looks(),
      { ...summary, usage: { input: 3_000, output: 50 }, costUsd: 0.5 },
      { text: 'Ink.', usage: { input: 900, output: 5 } },
    ])
    const { outcome, events } = await run(model)
    const started = events.flatMap((event) => (event.type === 'interaction.step.started' ? [event] : []))
    expect(started.map(({ compacts }) => compacts === true)).toEqual([false, false, false, false, false, true, false])
    expect(new Set(started.map(({ stepId }) => stepId)).size).toBe(7)
    const entries = outcome.accounting.filter(({ kind }) => kind === 'model')
    expect(entries).toHaveLength(7)
    expect(entries[5]).toMatchObject({ status: 'completed', usage: { input: 3_000, output: 50 }, cost: 0.5 })
    expect(outcome.usage.output).toBeGreaterThanOrEqual(55)
  })

  it('under a limit of tokens ends in time, with the summary paid for', async () => {
    const usage = { input: 3_300, output: 100 }
    const model = windowed(window, [...looks(), { ...summary, usage }, { text: 'All I have.', usage }])
    const { outcome } = await run(model, { limits: { maxTokens: 22_000 } })
    expect(outcome.status).toMatch(/completed|partial/)
    expect(outcome.usage.input + outcome.usage.output).toBeLessThanOrEqual(22_000)
  })

  it('repeats: a summary is summarised again', async () => {
    const model = working([...[0, 1, 2, 3].flatMap((round) => [call('write', `file ${round}`), ...looks(5)]), { text: 'Done.' }])
    const { outcome, events } = await run(model)
    expectSound(model.requests)
    expect(outcome).toMatchObject({ status: 'completed', diagnostics: [] })
    expect(compactions(events).length).toBeGreaterThan(3)
    for (const round of [0, 1, 2, 3]) expect(words(model.requests.at(-1) as ModelRequest)).toContain(`wrote file ${round}`)
  })

  it('keeps what came of the newest calls, cut, where it alone would fill the window', async () => {
    const huge = tool('huge', { effect: 'read', execute: () => `first line\n${'y'.repeat(14_000)}\nlast line` })
    const model = windowed(window, [call('look', '1'), call('huge', ''), summary, { text: 'Seen.' }])
    const { outcome, store } = await run(model, { tools: [look, huge] })
    expectSound(model.requests)
    const last = model.requests.at(-1) as ModelRequest
    expect(last.messages.at(-1)).toMatchObject({
      role: 'tool',
      results: [{ content: expect.stringMatching(/^first line[\s\S]*left out[\s\S]*last line$/) }],
    })
    for (const handle of handlesIn(words(last)))
      expect(await store.blobs.get(outcome.sessionId, handle as BlobId)).toContain('y'.repeat(14_000))
    expect(outcome.status).toBe('completed')
  })

  it.each<[string, ScriptedStep]>([
    ['fails', { fault: { class: 'model', message: 'no' } }],
    ['is cut', { text: 'half of it', fault: 'cut' }],
    ['is empty', { text: ' ' }],
    ['calls a tool instead', { calls: [{ tool: 'write', input: { q: 'never' } }] }],
    ['throws', { fault: 'throw' }],
    ['is too long itself', { fault: { class: 'context', message: 'too long' } }],
  ])('is made shorter by rule where the summary %s, and the turn continues', async (_, wrong) => {
    const model = windowed(window, [{ text: 'I look.', ...call('write', 'ink') }, ...looks(), wrong, { text: 'Done.' }])
    const { outcome, events } = await run(model, { limits: { maxRetries: 0 } })
    model.assertDone()
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Done.' }, diagnostics: [{ code: 'compaction_failed' }] })
    expect(compactions(events)).toHaveLength(1)
    const after = words(model.requests.at(-1) as ModelRequest)
    for (const text of [goal, 'wrote ink', '- I look.']) expect(after).toContain(text)
    expect(outcome.accounting.filter((entry) => entry.kind === 'call')).toHaveLength(6)
  })

  it('has secrets taken out of its summary', async () => {
    const model = windowed(window, [...looks(), { text: 'The key is sk-very-secret-1.' }, { text: 'Done.' }])
    const { outcome, events } = await run(model, { config: { overlay: { API_KEY: 'sk-very-secret-1' } } })
    expect(compactions(events)).toHaveLength(1)
    expect(JSON.stringify([outcome, events, model.requests])).not.toContain('sk-very-secret-1')
  })

  it('cuts a summary that would fill the window again', async () => {
    const model = windowed(window, [...looks(), { text: `${'Endless. '.repeat(3_000)}Next: the lid.` }, { text: 'Done.' }])
    const { outcome } = await run(model)
    expect(outcome).toMatchObject({ status: 'completed', diagnostics: [] })
    expect(words(model.requests.at(-1) as ModelRequest)).toMatch(/Summary:\n….*Next: the lid\.\n/)
    expect(tokensOf(model.requests.at(-1) as ModelRequest)).toBeLessThan(window * 0.8)
  })

  it('keeps what an earlier summary said where the next one fails', async () => {
    let asked = 0
    const step =
      (work: ScriptedStep): ScriptedStepSource =>
      (request) =>
        asksForSummary(request) ? (asked++ === 0 ? summary : { fault: { class: 'model', message: 'no' } }) : work
    const model = windowed(window, [...looks(14).map(step), ...looks(8).map(() => step({ text: 'Done.' }))])
    await run(model)
    expect(asked).toBeGreaterThan(1)
    expect(words(model.requests.at(-1) as ModelRequest)).toContain('The lid is green.')
  })
})

describe('a history that cannot be made shorter', () => {
  it('ends the turn with a last answer, and reports it', async () => {
    const model = windowed(window, [call('look', '1'), summary, { text: 'What I have.' }])
    const { outcome, events } = await run(model, { input: `${goal} ${'z'.repeat(11_000)}` })
    model.assertDone()
    expect(outcome).toMatchObject({ status: 'partial', reason: 'context', report: { text: 'What I have.' } })
    expect(codes(outcome)).toEqual(['compaction_poor'])
    expect(model.requests.at(-1)).toMatchObject({ toolChoice: 'none' })
    expect(events.filter(({ type }) => type === 'interaction.step.started')).toHaveLength(3)
  })

  it('where the goal alone fills the window nothing is summed up', async () => {
    const model = windowed(window, [{ text: 'Too much.' }])
    const { outcome } = await run(model, { input: 'z'.repeat(14_000) })
    expect(outcome).toMatchObject({ status: 'partial', reason: 'context', report: { text: 'Too much.' } })
    expect(codes(outcome)).toEqual(['compaction_poor'])
  })

  it('fills up again immediately no more than a few times', async () => {
    const huge = tool('huge', { effect: 'read', execute: ({ q }) => `${String(q)} ${'y'.repeat(11_000)}` })
    const model = windowed(
      window,
      Array.from(
        { length: 40 },
        (_, i): ScriptedStepSource =>
          (request) =>
            asksForSummary(request) ? summary : request.toolChoice === 'none' ? { text: 'Enough.' } : call('huge', `${i}`),
      ),
    )
    const { outcome } = await run(model, { tools: [huge] })
    expectSound(model.requests)
    expect(outcome).toMatchObject({ status: 'partial', reason: 'context', report: { text: 'Enough.' } })
    expect(codes(outcome)).toEqual(['compaction_poor'])
    expect(model.requests.filter(asksForSummary).length).toBeLessThanOrEqual(6)
  })

  it('is no trouble for the next turn, which may be about less', async () => {
    const store = memoryStore()
    const clock = new FakeClock()
    const model = windowed(window, [call('look', '1'), summary, { text: 'What I have.' }, summary, { text: 'Small.' }])
    const runtime = runtimeWith(model, { tools: [look], store, clock })
    const handle = runtime.stream(`${goal} ${'z'.repeat(12_000)}`)
    expect((await settle(handle.outcome, clock)).status).toBe('partial')
    await runtime.sessions.send(handle.sessionId, 'And now something small.')
    const second = await settle(runtime.sessions.outcome(handle.sessionId), clock)
    expect(second).toMatchObject({ status: 'completed', report: { text: 'Small.' } })
    expect(words(model.requests.at(-1) as ModelRequest)).not.toContain('zzz')
  })
})

describe('a provider that finds a request too long', () => {
  const tooLong: ModelFailure = { class: 'context', message: 'prompt is too long' }

  it('is asked again with a shorter history, made by rule, even where nothing may be retried', async () => {
    const model = windowed(0, [call('write', 'ink'), ...looks(6), { fault: tooLong }, { text: 'Ink.' }])
    const { outcome, events } = await run(Object.assign(model, { contextTokens: undefined as never }), { limits: { maxRetries: 0 } })
    model.assertDone()
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Ink.' }, diagnostics: [{ code: 'compaction_failed' }] })
    expect(words(model.requests.at(-1) as ModelRequest)).toContain('wrote ink')
    expect(tokensOf(model.requests.at(-1) as ModelRequest)).toBeLessThan(tokensOf(model.requests.at(-2) as ModelRequest) * 0.7)
    const attempts = events.flatMap((event) => (event.type === 'interaction.step.started' ? [`${event.stepId} ${event.attempt}`] : []))
    expect(attempts.slice(-2)).toEqual(['t1.s8 1', 't1.s8 2'])
  })

  it('is asked with less and less until it fits, and from then on in time', async () => {
    let done = 0
    const step: ScriptedStepSource = (request) => {
      if (tokensOf(request) > 3_500) return { fault: tooLong }
      return asksForSummary(request) ? summary : (work[done++] ?? { text: 'All seen.' })
    }
    const work = looks(12)
    const model = Object.assign(windowed(0, [...looks(12), ...Array.from({ length: 60 }, () => step)]), { contextTokens: 1_000_000 })
    const { outcome, events } = await run(model)
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'All seen.' }, diagnostics: [{ code: 'compaction_failed' }] })
    const refusals = events.filter((event) => event.type === 'interaction.step.failed')
    expect(refusals.length).toBeGreaterThan(1)
    expect(refusals.length).toBeLessThan(6)
    expect(model.requests.filter(asksForSummary).length).toBeGreaterThan(1)
  })

  it('where nothing helps, the next model is asked, and then the turn fails and says why', async () => {
    const steps: ScriptedStep[] = Array.from({ length: 8 }, () => ({ fault: tooLong }))
    const model = windowed(100_000, steps)
    const { outcome } = await run(model)
    expect(outcome).toMatchObject({ status: 'failed', failure: { class: 'context', remedy: expect.stringContaining('larger window') } })
    expect(codes(outcome)).toContain('compaction_poor')
    expect(model.requests).toHaveLength(1)

    const small = windowed(100_000, [{ fault: tooLong }], { id: 'small/model' })
    const large = windowed(100_000, [{ text: 'I can.' }], { id: 'large/model' })
    const config = { agents: [{ name: 'clerk', description: 'Looks', prompt: 'You are a clerk.', models: ['small', 'large'] }] }
    const adapter = { resolve: (name: string) => (name === 'small' ? small : large) }
    const second = await run(adapter as never, { config, limits: { maxRetries: 0 } })
    expect(second.outcome).toMatchObject({ status: 'completed', report: { text: 'I can.' } })
  })
})

describe('while a summary is made', () => {
  it('an interrupt ends the turn; nothing is made shorter', async () => {
    const never = gate()
    const model = windowed(window, [...looks(), { ...summary, wait: never.promise }])
    const clock = new FakeClock()
    const store = memoryStore()
    const handle = runtimeWith(model, { tools: [look], clock, store }).stream(goal)
    for await (const event of handle) if (event.type === 'interaction.step.started' && event.compacts) break
    await handle.interrupt()
    const outcome = await settle(handle.outcome, clock)
    expect(outcome.status).toBe('interrupted')
    expect(compactions(await store.journal.read(outcome.sessionId, 0))).toEqual([])
  })

  it('a stop is heard: the model answers next', async () => {
    const held = gate()
    const model = windowed(window, [...looks(), { ...summary, wait: held.promise }, { text: 'So far, so good.' }])
    const clock = new FakeClock()
    const handle = runtimeWith(model, { tools: [look], clock }).stream(goal)
    for await (const event of handle) if (event.type === 'interaction.step.started' && event.compacts) break
    await handle.stop()
    held.open()
    expect(await settle(handle.outcome, clock)).toMatchObject({
      status: 'partial',
      reason: 'stopped',
      report: { text: 'So far, so good.' },
    })
  })

  it('steering is not lost: the next request has it, and so does every later one', async () => {
    const held = gate()
    let asked = 0
    const step =
      (work: ScriptedStep): ScriptedStepSource =>
      (request) =>
        asksForSummary(request) ? (asked++ === 0 ? { ...summary, wait: held.promise } : summary) : work
    const model = windowed(window, [...looks(14).map(step), ...looks(4).map(() => step({ text: 'Done.' }))])
    const clock = new FakeClock()
    const handle = runtimeWith(model, { tools: [look], clock, limits: { maxToolTurns: 60 } }).stream(goal)
    for await (const event of handle) if (event.type === 'interaction.step.started' && event.compacts) break
    await handle.steer('Mind the ink, too.')
    held.open()
    await settle(handle.outcome, clock)
    const after = model.requests.slice(6)
    expect(after.filter(asksForSummary).length).toBeGreaterThan(0)
    for (const request of after) {
      expect(request.messages.map(textOf).filter((text) => text === 'Mind the ink, too.')).toHaveLength(1)
      expect(request.messages.map(textOf).filter((text) => text === goal)).toHaveLength(1)
    }
  })
})

describe('a session with a long history', () => {
  it('a child makes its own shorter', async () => {
    const child = { name: 'digger', description: 'Digs', prompt: 'You dig.', model: 'any', tools: ['look'] }
    const parent = { name: 'clerk', description: 'Asks', prompt: 'You ask.', model: 'any', tools: [], agents: ['digger'] }
    const task = { calls: [{ tool: 'agent__digger', input: { prompt: 'Dig.' } }] }
    const model = working([task, ...looks(7), { text: 'Dug.' }, { text: 'It was dug.' }])
    const { outcome, events } = await run(model, { config: { agents: [parent, child], agentSelection: { agent: 'clerk' } } })
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'It was dug.' } })
    expect(compactions(events)).toMatchObject([{ agentPath: expect.stringContaining('digger') }])
  })

  it('an agent that answers in JSON is asked for its summary in plain words', async () => {
    const schema = { type: 'object', properties: { ink: { type: 'boolean' } }, required: ['ink'] }
    const agents = [{ name: 'clerk', description: 'Looks', prompt: 'You look.', model: 'any', output: { format: 'json', schema } as const }]
    const model = windowed(window, [...looks(), summary, { text: '{"ink":true}' }])
    const { outcome } = await run(model, { config: { agents } })
    expect(model.requests.find(asksForSummary)).not.toHaveProperty('output')
    expect(outcome).toMatchObject({ status: 'completed', report: { format: 'json', value: { ink: true } } })
  })

  it('a talk without tools continues, and names no tool to read with', async () => {
    const clock = new FakeClock()
    let asked = 0
    const step: ScriptedStepSource = (request) => (asksForSummary(request) ? summary : { text: `${++asked} ${'w'.repeat(3_000)}` })
    const model = windowed(
      window,
      Array.from({ length: 40 }, () => step),
      { abilities: [] },
    )
    const runtime = runtimeWith(model, { clock })
    const { sessionId: treeId } = await settle(runtime.run('Question 0?'), clock)
    for (let turn = 1; turn < 12; turn += 1) {
      await runtime.sessions.send(treeId, `Question ${turn}?`)
      expect((await settle(runtime.sessions.outcome(treeId), clock)).status).toBe('completed')
      expect(words(model.requests.at(-1) as ModelRequest)).toContain(`Question ${turn}?`)
    }
    expectSound(model.requests)
    expect(model.requests.filter(asksForSummary).length).toBeGreaterThan(1)
    expect(words(model.requests.at(-1) as ModelRequest)).not.toContain('read_output')
  })

  it('images of the goal stay', async () => {
    const input: readonly InputPart[] = [
      { type: 'text', text: goal },
      { type: 'image', mediaType: 'image/png', data: 'aGVsbG8=' },
    ]
    const model = windowed(window, [...looks(4), summary, { text: 'A hello.' }], { abilities: ['tools', 'images'] })
    await run(model, { input })
    expect(model.requests.at(-1)?.messages[0]).toEqual({ role: 'user', parts: input })
  })

  it('the first instructions of the session stay, too, once', async () => {
    const { events } = await run(working([{ text: 'Nothing yet.' }]))
    const store = await storeOf(toldFirst(events, 'AGENTS.md', 'Be kind.'))
    const model = working([...looks(12), { text: 'Done.' }])
    const clock = new FakeClock()
    const runtime = runtimeWith(model, { tools: [look], store, clock, limits: { maxToolTurns: 60 } })
    const handle = await runtime.open(events[0]?.treeId as TreeId)
    expect((await settle(handle.outcome, clock)).status).toBe('completed')
    expect(model.requests.filter(asksForSummary).length).toBeGreaterThan(1)
    for (const { messages } of model.requests) expect(messages.slice(0, 2).map(textOf)).toEqual(['Be kind.', goal])
    for (const { messages } of model.requests) expect(messages.map(textOf).filter((text) => text === 'Be kind.')).toHaveLength(1)
  })

  it('has a snapshot that gives the same state, at every event', async () => {
    const model = working([call('plan', ''), call('write', 'ink'), ...looks(12), { text: 'Done.' }])
    const { events, outcome } = await run(model)
    expect(compactions(events).length).toBeGreaterThan(1)
    let state = fold(events.slice(0, 1))
    for (const event of events.slice(1)) {
      state = fold([event], state)
      const bytes = JSON.stringify(snapshotOf(state))
      expect(JSON.stringify(snapshotOf(restore(JSON.parse(bytes))))).toBe(bytes)
    }
    expect(JSON.stringify(snapshotOf(state))).toBe(JSON.stringify(outcome.snapshot))
  })
})

describe('a driver that dies', () => {
  it.each<[string, ScriptedStep]>([
    ['whose summary comes', summary],
    ['whose summary fails', { fault: { class: 'model', message: 'no' } }],
  ])(
    'at any event around a compaction %s leaves a session that continues, with nothing lost and no write made twice',
    async (_, summed) => {
      const answer = (request: ModelRequest): ScriptedStep => {
        if (asksForSummary(request)) return summed
        const seen = [...words(request).matchAll(/saw (\d)/g)].map(([, n]) => Number(n))
        if (!words(request).includes('wrote ink')) return call('write', 'ink')
        const next = Math.max(-1, ...seen) + 1
        return next < 7 ? call('look', `${next}`) : { text: 'Done.' }
      }
      const script = () =>
        windowed(
          window,
          Array.from({ length: 30 }, (): ScriptedStepSource => answer),
        )
      const limits = { maxToolTurns: 60, maxRetries: 0 }
      const first = await run(script(), { limits })
      expect(first.outcome.status).toBe('completed')
      const from = first.events.findIndex((event) => event.type === 'interaction.step.started' && event.compacts)
      const treeId = first.outcome.sessionId as TreeId
      for (let length = from - 1; length < from + 8; length += 1) {
        const store = await storeOf(first.events.slice(0, length))
        for (const event of compactions(first.events))
          if (event.output) await store.blobs.put(treeId, (await first.store.blobs.get(treeId, event.output.handle)) ?? '')
        const model = script()
        const clock = new FakeClock()
        const runtime = runtimeWith(model, { tools: [look, write, plan], store, clock, limits })
        const handle = await runtime.open(treeId)
        const outcome = await settle(handle.outcome, clock)
        expect([length, outcome.status, outcome.report?.text]).toEqual([length, 'completed', 'Done.'])
        expectSound(model.requests)
        for (const request of model.requests) expect(words(request)).toContain(goal)
        for (const request of model.requests) expect(words(request)).toContain('wrote ink')
        const all = await store.journal.read(treeId, 0)
        expect(
          all.filter((event) => event.type === 'interaction.item.started' && event.item.kind === 'call' && event.item.tool === 'write'),
        ).toHaveLength(1)
        await runtime.close()
      }
    },
  )
})
