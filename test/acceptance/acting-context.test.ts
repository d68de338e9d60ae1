import { describe, expect, test, vi } from 'vitest'
import type { ApprovalId, BlobId, ModelRequest } from '../../src/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import type { ScriptedStepSource } from '../../src/testing/index.ts'
import { type ActorSetup, actor, callsIn, told, yes } from './acting-support.ts'
import { agent, bounded, expectLegal, expectWhole, finish, journalOf, ofType, requestText, temporaryFolder } from './support.ts'

vi.setConfig({ testTimeout: 60_000 })

const window = 6_000
const goal = 'Copy every page of the book, and lose none.'
const page = (n: number): string => `page ${n} ${'lorem ipsum '.repeat(330)}\n`
const plan = (...steps: readonly (readonly [string, string])[]) => ({
  tool: 'update_plan',
  input: { plan: steps.map(([step, status]) => ({ step, status })) },
})
const isSummary = ({ toolChoice, messages }: ModelRequest): boolean => toolChoice === 'none' && messages.length > 1
const wordsIn = (request: ModelRequest | undefined): string => requestText(request)

/** Works through its steps, and gives a summary whenever one is asked for. */
function worker(work: readonly object[], summary: string, setup: ActorSetup) {
  let done = 0
  const next: ScriptedStepSource = (request) =>
    isSummary(request) ? { text: summary } : ((work[done++] ?? { text: 'There is no more.' }) as object)
  const made = actor({
    decide: () => yes('session', 'tool:write_file'),
    limits: { maxToolTurns: 60 },
    ...setup,
    steps: Array.from({ length: 80 }, () => next),
  })
  Object.assign(made.model, { contextTokens: window })
  return made
}
const compactions = (events: Awaited<ReturnType<typeof journalOf>>) => ofType(events, 'interaction.context.compacted')

describe('a history that outgrows the window', () => {
  const files = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`book/${i}.txt`, page(i)]))
  const work = [
    { calls: [plan(['Read the book', 'in_progress'], ['Copy it', 'pending'])] },
    ...Array.from({ length: 9 }, (_, i) => [
      { calls: [{ tool: 'read_file', input: { path: `book/${i}.txt` } }] },
      { calls: [{ tool: 'write_file', input: { path: `copy/${i}.txt`, content: `copied ${i}` } }] },
    ]).flat(),
    { calls: [plan(['Read the book', 'completed'], ['Copy it', 'completed'])] },
    { text: 'All nine pages.' },
  ]

  test('goes on through compactions: goal and plan in each request, every effect in the last or in what it names, within the window, one plan item', async () => {
    const made = worker(work, 'Some pages were read.', { files })
    const outcome = await bounded(made.runtime.run(goal), 'the run', 50_000)
    expectWhole(outcome)
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'All nine pages.' } })
    for (let i = 0; i < 9; i += 1) expect(made.read(`copy/${i}.txt`)).toBe(`copied ${i}`)
    const events = await journalOf(made.store, outcome.sessionId)
    expectLegal(events)
    expect(compactions(events).length).toBeGreaterThan(1)
    for (const { tokensBefore, tokensAfter } of compactions(events)) expect(tokensAfter).toBeLessThan(tokensBefore)
    for (const request of made.model.requests) {
      expect(wordsIn(request)).toContain(goal)
      expect(wordsIn(request).length / 4).toBeLessThan(window * 1.1)
    }
    const last = wordsIn(made.model.requests.at(-1))
    const handles = [...last.matchAll(/earlier ones: read_output \{\\*"handle\\*":\\*"(\w+)/g)].map(([, handle]) => handle as BlobId)
    const named = await Promise.all(handles.map((handle) => made.store.blobs.get(outcome.sessionId, handle)))
    for (let i = 0; i < 9; i += 1) expect([last, ...named].join('\n')).toContain(`copied ${i}`)
    expect(last).toMatch(/\[completed\] Copy it|"step\\*":\\*"Copy it/)
    expect(events.filter(({ itemId, type }) => itemId === 't1.plan' && type === 'interaction.item.started')).toHaveLength(1)
    // Nothing was done twice.
    expect(callsIn(events).filter(({ tool }) => tool === 'write_file')).toHaveLength(9)
  })

  test('over a restart in the middle: taken up by another process with what was kept, and the plan is still one item', async () => {
    const path = temporaryFolder()
    const store = sqliteStore({ path })
    const question = { calls: [{ tool: 'ask_user', input: { question: 'Shall I go on?' } }] }
    const first = worker([...work.slice(0, 13), question], 'Some pages were read.', {
      files,
      store,
      decide: ({ scope }) => (scope === 'question' ? 'suspend' : yes('session', 'tool:write_file')),
    })
    const suspended = await bounded(first.runtime.run(goal), 'the run', 50_000)
    expect(suspended.status).toBe('suspended')
    const { sessionId: treeId } = suspended
    expect(compactions(await journalOf(store, treeId)).length).toBeGreaterThan(0)
    await first.runtime.close()
    await store.close()

    const again = sqliteStore({ path })
    const second = worker(work.slice(13), 'More pages were read.', { ground: first, store: again })
    const approvalId = first.asked.at(-1)?.id as ApprovalId
    await second.runtime.sessions.approve(treeId, { approvalId, decision: { kind: 'answer', text: 'Go on.' }, by: 'bob' })
    const outcome = await finish(await second.runtime.open(treeId))
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'All nine pages.' } })
    // The grant for the session holds on: nobody was asked about a file again.
    expect(second.asked).toEqual([])
    const taken = wordsIn(second.model.requests[0])
    expect(taken).toContain(goal)
    for (let i = 0; i < 6; i += 1) expect(taken).toContain(`copied ${i}`)
    expect(taken).toContain('Read the book')
    const events = await journalOf(again, treeId)
    expectLegal(events)
    const planned = events.filter(({ itemId }) => itemId === 't1.plan').map(({ type }) => type.slice(12))
    expect(planned).toEqual(['item.started', 'item.updated', 'item.completed'])
    await again.close()
  })

  test('that a summary does not make shorter ends with a last answer and a diagnostic, not in circles', async () => {
    const long = `${goal} ${'The book is long. '.repeat(1_050)}`
    const made = worker(work, 'blah '.repeat(20_000), { files })
    const outcome = await bounded(made.runtime.run(long), 'the run', 50_000)
    expectWhole(outcome)
    expect(['partial', 'failed']).toContain(outcome.status)
    expect(outcome.reason).toBe('context')
    expect(outcome.diagnostics.map(({ code }) => code)).toContain('compaction_poor')
    expect(made.model.requests.length).toBeLessThan(20)
    expectLegal(await journalOf(made.store, outcome.sessionId))
  })
})

describe('the same call over and over', () => {
  test('by an agent and by its child: refused the third time, and at last the model is made to answer', async () => {
    const look = { calls: [{ tool: 'read_file', input: { path: 'a.txt' } }] }
    const child = { calls: [{ tool: 'agent__kid', input: { prompt: 'Look' } }] }
    let asked = 0
    const made = actor({
      files: { 'a.txt': 'nothing new\n' },
      config: {
        agents: [
          { ...agent, name: 'boss', agents: ['kid'] },
          { ...agent, name: 'kid', tools: ['read_file'], usage: 'what to look at', output: { format: 'text' } },
        ],
        agentSelection: { agent: 'boss' },
      },
      limits: { maxToolTurns: 30 },
      steps: [
        child,
        ...Array.from({ length: 12 }, () => (request: ModelRequest) => {
          asked += 1
          return request.toolChoice === 'none'
            ? { text: 'I looked.' }
            : request.tools.some(({ name }) => name === 'agent__kid')
              ? { text: 'Done.' }
              : look
        }),
      ],
    })
    const outcome = await bounded(made.runtime.run('go'), 'the run', 50_000)
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Done.' } })
    expect(asked).toBeLessThan(8)
    const events = await journalOf(made.store, outcome.sessionId)
    const ran = callsIn(events).filter(({ tool }) => tool === 'read_file')
    expect(ran.length).toBeLessThanOrEqual(5)
    const ends = events.flatMap((event) => (event.type === 'interaction.item.completed' && event.item.kind === 'call' ? [event.item] : []))
    expect(ends.filter(({ error }) => error?.class === 'repeated').length).toBeGreaterThan(0)
    expect(ends.filter(({ type, status }) => type === 'tool_call' && status === 'completed')).toHaveLength(2)
    expect(ofType(events, 'interaction.subagent.completed')).toMatchObject([{ status: 'partial' }])
    // The parent knows that what it got is only a part.
    expect(told(made).at(-1)?.content).toContain('I looked.')
  })
})

describe('a plan', () => {
  test('with two steps in progress, none, too many or nonsense costs the call; the plan that people see stays the last good one', async () => {
    const good = plan(['One', 'in_progress'], ['Two', 'pending'])
    const bad = [
      plan(['One', 'in_progress'], ['Two', 'in_progress']),
      { tool: 'update_plan', input: { plan: [] } },
      plan(['One', 'started']),
      { tool: 'update_plan', input: { plan: Array.from({ length: 51 }, (_, i) => ({ step: `${i}`, status: 'pending' })) } },
      { tool: 'update_plan', input: { plan: 'One, then two' } },
    ]
    const made = actor({ steps: [{ calls: [good] }, ...bad.map((call) => ({ calls: [call] })), { text: 'Done.' }] })
    const outcome = await bounded(made.runtime.run('go'), 'the run', 50_000)
    expect(outcome.status).toBe('completed')
    expect(told(made).map(({ ok }) => ok)).toEqual([true, ...bad.map(() => false)])
    const events = await journalOf(made.store, outcome.sessionId)
    const ended = ofType(events, 'interaction.item.completed').find(({ itemId }) => itemId === 't1.plan')
    expect(ended?.item).toMatchObject({ type: 'todo_list', status: 'completed', plan: { steps: [{ step: 'One' }, { step: 'Two' }] } })
  })
})
