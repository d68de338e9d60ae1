import { describe, expect, test } from 'vitest'
import { Story } from '../../../../test/fixtures/run-story.ts'
import {
  type AgentSpec,
  type CallIntent,
  type CallRecord,
  defaultLimits,
  type EventBody,
  type InteractionEvent,
  type ItemDelta,
  noUsage,
  type SessionId,
  type StreamEvent,
  type TreeId,
  type Usage,
} from '../../../contracts/index.ts'
import { duration, elapsed, price } from '../../../view/index.ts'
import { colourPaint, plainPaint } from '../../terminal/paint.ts'
import { widthOf } from '../../terminal/text-width.ts'
import { PlainProgress } from '../plain-progress.ts'
import { renderTree } from './render-tree.ts'

// A turn with a retry, two calls side by side, a failing call and a forced last answer, as a journal would tell it.

const usage = (input: number, output: number): Usage => ({ ...noUsage, input, output })
const agent: AgentSpec = {
  name: 'trip',
  description: 'Plans trips',
  prompt: 'Plan.',
  models: ['script/trip'],
  tools: ['*'],
  limits: defaultLimits,
  parameters: {},
  output: { format: 'text' },
  toolName: 'trip',
  input: { format: 'text' },
  agents: [],
}

type Draft = EventBody & { readonly at: number; readonly stepId?: string }

const intent = (id: string, tool: string, title: string): CallIntent => ({
  kind: 'call',
  id: id as CallIntent['id'],
  type: 'tool_call',
  tool,
  namespace: '',
  title,
  providerCallId: id,
  input: {},
  effect: 'read',
  lane: { kind: 'shared' },
})
const record = (id: string, latencyMs: number, error?: CallRecord['error']): CallRecord => ({
  kind: 'call',
  id: id as CallRecord['id'],
  type: 'tool_call',
  status: error ? 'failed' : 'completed',
  content: '',
  latencyMs,
  bytesIn: 0,
  bytesOut: 0,
  ...(error && { error }),
})
const started = (attempt: number): EventBody<'interaction.step.started'> => ({
  type: 'interaction.step.started',
  model: 'script/trip',
  modelId: 'script/trip',
  attempt,
  reservation: { input: 1, output: 1 },
  absorbs: [],
})
const completed = (latencyMs: number, spent: Usage): EventBody<'interaction.step.completed'> => ({
  type: 'interaction.step.completed',
  reply: [],
  finish: 'stop',
  usage: spent,
  cost: 0,
  latencyMs,
})

const drafts: readonly Draft[] = [
  {
    at: 0,
    type: 'interaction.session.created',
    agent,
    trace: { originId: 'tree', callPath: 'trip', turnPath: '' },
    tools: [],
    promptChars: 5,
    policy: '',
  },
  { at: 0, type: 'interaction.turn.started', inputs: [] },
  { at: 0, stepId: 't1.s1', ...started(1) },
  {
    at: 20,
    stepId: 't1.s1',
    type: 'interaction.step.failed',
    failure: { class: 'rate_limit', message: 'too many requests' },
    usage: noUsage,
    cost: 0,
    latencyMs: 20,
    delayMs: 180,
  },
  { at: 200, stepId: 't1.s1', ...started(2) },
  { at: 300, stepId: 't1.s1', ...completed(100, usage(120, 30)) },
  { at: 300, stepId: 't1.s1', type: 'interaction.item.started', item: intent('a', 'look_up_weather', 'Will it rain?') },
  { at: 300, stepId: 't1.s1', type: 'interaction.item.started', item: intent('b', 'look_up_trains', 'look_up_trains') },
  { at: 500, stepId: 't1.s1', type: 'interaction.item.completed', item: record('b', 200) },
  { at: 600, stepId: 't1.s1', type: 'interaction.item.completed', item: record('a', 300) },
  { at: 600, stepId: 't1.s2', ...started(1) },
  { at: 700, stepId: 't1.s2', ...completed(100, usage(12_000, 40)) },
  { at: 700, stepId: 't1.s2', type: 'interaction.item.started', item: intent('c', 'book_room', 'Two nights') },
  {
    at: 800,
    stepId: 't1.s2',
    type: 'interaction.item.completed',
    item: record('c', 100, { class: 'network', message: 'The hotel does not answer.', remedy: 'Try again later.' }),
  },
  { at: 800, stepId: 't1.s3', ...started(1), last: { reason: 'steps', notice: 'Answer now.' } },
  { at: 1000, stepId: 't1.s3', ...completed(200, usage(300, 50)) },
  {
    at: 1000,
    type: 'interaction.turn.completed',
    ending: { status: 'partial', reason: 'steps' },
    report: { format: 'text', text: 'Go.' },
    totals: { usage: usage(12_420, 120), cost: 0, steps: 3, calls: 3, durationMs: 1000 },
  },
  { at: 1000, type: 'interaction.session.idle' },
]

const tripEvents: readonly InteractionEvent[] = drafts.map(
  (draft, i) => ({ seq: i + 1, treeId: 'tree' as TreeId, sessionId: 'tree' as SessionId, agentPath: 'root', ...draft }) as InteractionEvent,
)

describe('the tree', () => {
  const escapes = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g')

  test('a turn is drawn with its steps, retries, parallel and failed calls, and forced end', () => {
    expect(renderTree(tripEvents, { paint: plainPaint, width: 100 }).join('\n')).toMatchInlineSnapshot(`
      "trip  partial: step limit · 3 steps · 3 calls          12.4k → 120     1.00 s  ▏──────────────────▕
      ├─ step 1  script/trip                                    120 → 30     100 ms  ▏   ▒▒             ▕
      │  ├─ ↻ rate_limit  too many requests                                   20 ms  ▏█                 ▕
      │  ├─ ✓ look_up_weather  “Will it rain?”                           ∥   300 ms  ▏     ██████       ▕
      │  └─ ✓ look_up_trains                                             ∥   200 ms  ▏     ████         ▕
      ├─ step 2                                               12.0k → 40     100 ms  ▏          ▒▒▒     ▕
      │  └─ ✗ book_room        “Two nights”                                  100 ms  ▏            ██    ▕
      │       network: The hotel does not answer.
      │       → Try again later.
      └─ step 3 · forced last answer                            300 → 50     200 ms  ▏              ▒▒▒▒▕"
    `)
  })

  test('a narrow terminal gets no bars, and no line wraps', () => {
    const lines = renderTree(tripEvents, { paint: plainPaint, width: 72 })
    expect(lines.join('\n')).not.toMatch(/[▏█▒]/)
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(72)
    for (const line of renderTree(tripEvents, { paint: plainPaint, width: 100 })) expect(widthOf(line)).toBeLessThanOrEqual(100)
  })

  test('colours change nothing but the colours', () => {
    const coloured = renderTree(tripEvents, { paint: colourPaint, width: 100 })
    expect(coloured.map((line) => line.replace(escapes, '').trimEnd())).toEqual(renderTree(tripEvents, { paint: plainPaint, width: 100 }))
    expect(coloured.find((line) => line.includes('book_room'))).toContain('\u001b[31m✗ \u001b[39m\u001b[31mbook_room')
  })

  test('a turn that is not over is drawn as far as it came', () => {
    const lines = renderTree(tripEvents.slice(0, 8), { paint: plainPaint, width: 72 })
    expect(lines[0]).toMatch(/^trip {2}not ended/)
    expect(lines.at(-1)).toMatch(/… look_up_trains {3}not ended/)
  })

  test('a run of thousands of lines keeps its last ones', () => {
    const story = new Story().begins(0, { maxToolTurns: 5000 })
    for (let step = 1; step <= 3000; step++) story.asks(step, step).answers(step, step)
    const lines = renderTree(story.over(3000).events as InteractionEvent[], { paint: plainPaint, width: 80 })
    expect(lines.length).toBeLessThanOrEqual(1000)
    expect([lines[1], lines.at(-1)]).toEqual([expect.stringContaining('⋯ 2002 steps'), expect.stringContaining('step 3000')])
  })

  test('no events, no tree', () => {
    expect(renderTree([], { paint: plainPaint, width: 80 })).toEqual([])
  })
})

describe('the lines of progress', () => {
  test('a run is printed in lines: step, call with title, result, retry', () => {
    const progress = new PlainProgress(plainPaint)
    expect(tripEvents.flatMap((event) => progress.lines(event))).toEqual([
      'step 1 script/trip',
      '  ↻ rate_limit: too many requests; next in 180 ms',
      '  → look_up_weather · “Will it rain?”',
      '  → look_up_trains',
      '  ✓ look_up_trains 200 ms',
      '  ✓ look_up_weather 300 ms',
      'step 2',
      '  → book_room · “Two nights”',
      '  ✗ book_room network: The hotel does not answer. 100 ms',
      'step 3 · last answer forced: step limit',
    ])
  })

  test('waiting for a queue is printed, with the call if there is one', () => {
    const story = new Story().begins().waits('lab', 0).waits('lab', 0, { how: 'left' }).asks(1, 1).answers(2, 1)
    story.calls(3, 1, { id: '1', tool: 'look' }).waits('ra\u001b[2Jil', 3, { call: '1' })
    const progress = new PlainProgress(plainPaint)
    const lines = story.events.flatMap((event) => progress.lines(event))
    expect(lines.filter((line) => line.includes('queue'))).toEqual(['  ◷ waiting for queue lab', '  ◷ look waiting for queue rail'])
  })

  test('progress of a tool is printed, text of the model is not', () => {
    const progress = new PlainProgress(plainPaint)
    const live = (kind: ItemDelta['kind']): ItemDelta => ({
      ...(tripEvents[5] as unknown as ItemDelta),
      type: 'interaction.item.delta',
      attempt: 1,
      kind,
      text: 'half\u001b[2J way',
    })
    expect([...progress.lines(live('progress')), ...progress.lines(live('text'))]).toEqual(['    half way'])
  })
  test('verbose prints more: arguments, results, tokens and cost, each attempt', () => {
    const progress = new PlainProgress(plainPaint, 'verbose')
    const lines = tripEvents.flatMap((event) => progress.lines(event))
    expect(lines.slice(0, 9)).toEqual([
      'step 1 script/trip',
      '  ↻ rate_limit: too many requests; next in 180 ms',
      'step 1 · attempt 2',
      '  = 120 → 30 tokens · 100 ms · stop',
      '  → look_up_weather · “Will it rain?”',
      '    {}',
      '  → look_up_trains',
      '    {}',
      '  ✓ look_up_trains 200 ms',
    ])
    const story = new Story('other').begins().calls(0, 1, { id: '1' }).ends(0, 1, { id: '1' })
    expect(story.events.flatMap((event) => progress.lines(event))).toEqual([
      '  → look_up · Oslo',
      '    {"city":"Oslo"}',
      '  ✓ look_up 100 ms',
      '    Oslo: dry',
    ])
  })

  test('a child is named as the tool that it is, and does not mix with its parent', () => {
    const progress = new PlainProgress(plainPaint)
    const events: StreamEvent[] = []
    new Story('root', events).begins().asks(0, 1)
    new Story('root/writer#2', events).begins(0, {}, { of: 'root', call: 't1.s1.1' }).asks(0, 1)
    new Story('root/writer#2/scout#1', events).begins(0, {}, { of: 'root/writer#2', call: 't1.s1.1' }).asks(0, 1)
    expect(events.flatMap((event) => progress.lines(event))).toEqual([
      'step 1 fast',
      'child:writer#2 │ step 1 fast',
      'child:writer#2/scout │ step 1 fast',
    ])
  })
})

test.each([
  [0, '0 ms', '0.0 s'],
  [999.6, '1.00 s', '0.9 s'],
  [9_990, '9.99 s', '9.9 s'],
  [59_996, '1 m 00 s', '59 s'],
  [125_400, '2 m 05 s', '2 m 05 s'],
  [12_000_000, '3 h 20 m', '3 h 20 m'],
])('%d ms took %s, or is at %s', (ms, whole, running) => {
  expect([duration(ms), elapsed(ms)]).toEqual([whole, running])
})

test.each([
  ['unknown', 'cost unknown'],
  [0, ''],
  [0.000_01, '< $0.0001'],
  [0.0042, '$0.0042'],
  [1.2, '$1.20'],
] as const)('a cost of %s is %j', (cost, text) => {
  expect(price(cost)).toBe(text)
})
