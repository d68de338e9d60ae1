import { expect, it } from 'vitest'
import { type EventBody, noUsage, type StreamEvent } from '../../contracts/index.ts'
import { type TurnPart, TurnParts } from './turn-parts.ts'

type Body = EventBody | { readonly type: 'interaction.item.delta'; readonly [field: string]: unknown }

const event = (body: Body | { readonly type: string; readonly [field: string]: unknown }, agentPath = 'root'): StreamEvent =>
  ({ seq: 1, treeId: 's', sessionId: agentPath === 'root' ? 's' : 'c', agentPath, at: 0, ...body }) as unknown as StreamEvent

const delta = (itemId: string, [offset, text]: readonly [number, string], { kind = 'text', path = 'root' } = {}) =>
  event({ type: 'interaction.item.delta', itemId, offset, text, kind, attempt: 1 }, path)
const done = (id: string, text: string, { status = 'completed', type = 'agent_message', path = 'root' } = {}) =>
  event({ type: 'interaction.item.completed', item: { kind: 'text', id, type, status, text } }, path)
const stepDone = (path = 'root') =>
  event({ type: 'interaction.step.completed', reply: [], finish: 'stop', usage: noUsage, cost: 0, latencyMs: 1 }, path)
const failure = { class: 'network', message: 'cut' } as const
const stepFailed = (path = 'root') =>
  event({ type: 'interaction.step.failed', failure, usage: noUsage, cost: 0, latencyMs: 1, delayMs: 0 }, path)
const callStarted = (id: string, tool: string, path = 'root') =>
  event(
    {
      type: 'interaction.item.started',
      item: { kind: 'call', id, type: 'tool_call', tool, namespace: 'n', title: tool, input: {}, lane: { kind: 'shared' } },
    },
    path,
  )
const callDone = (id: string, path = 'root') =>
  event(
    { type: 'interaction.item.completed', item: { kind: 'call', id, type: 'tool_call', status: 'completed', content: `${id} ok` } },
    path,
  )

function parts(events: readonly StreamEvent[], texts: 'live' | 'none' = 'live'): readonly TurnPart[] {
  const fold = new TurnParts({ texts })
  return events.flatMap((each) => fold.read(each))
}
const said = (all: readonly TurnPart[]) => all.map((part) => ('text' in part ? `${part.type} ${part.text}` : part.type))
const answer = (all: readonly TurnPart[]) => all.map((part) => (part.type === 'text' ? part.text : '')).join('')

it('passes pieces on, and marks the first', () => {
  expect(parts([delta('i1', [0, 'Hel']), delta('i1', [3, 'lo']), done('i1', 'Hello')])).toEqual([
    { type: 'text', itemId: 'i1', text: 'Hel', begins: true },
    { type: 'text', itemId: 'i1', text: 'lo', begins: false },
    { type: 'text.done', itemId: 'i1', text: 'Hello' },
  ])
})

const pieces = [delta('i1', [0, 'ab']), delta('i1', [2, 'cd']), delta('i1', [4, 'ef'])]
it.each([
  ['all', [0, 1, 2]],
  ['none', []],
  ['the first', [1, 2]],
  ['one in the middle', [0, 2]],
  ['the last', [0, 1]],
  ['none, and some come twice', [0, 1, 0, 1, 2, 2]],
])('the text is the recorded one if live events arrive: %s', (_, arriving) => {
  const all = parts([...arriving.map((index) => pieces[index]!), done('i1', 'abcdef')])
  expect(answer(all)).toBe('abcdef')
  expect(all.filter((part) => part.type === 'text' && part.begins)).toHaveLength(1)
})

it('joins a replay of the text so far', () => {
  expect(said(parts([delta('i1', [0, 'ab']), delta('i1', [0, 'abcd']), delta('i1', [4, 'ef']), done('i1', 'abcdef')]))).toEqual([
    'text ab',
    'text cd',
    'text ef',
    'text.done abcdef',
  ])
})

it('keeps texts of several steps and reasoning apart', () => {
  const all = parts([
    delta('r1', [0, 'hm'], { kind: 'reasoning' }),
    done('r1', 'hmm', { type: 'reasoning' }),
    delta('i1', [0, 'one']),
    done('i1', 'one'),
    stepDone(),
    done('i2', 'two'),
    stepDone(),
    event({ type: 'interaction.turn.completed' }),
  ])
  expect(said(all)).toEqual([
    'reasoning hm',
    'reasoning m',
    'reasoning.done hmm',
    'text one',
    'text.done one',
    'step.done',
    'text two',
    'text.done two',
    'step.done',
    'end',
  ])
})

it('ends broken if an attempt fails after a piece of its text, which was recorded as failed before', () => {
  const all = parts([delta('i1', [0, 'Hel']), done('i1', 'Hello', { status: 'failed' }), stepFailed()])
  expect(all.at(-1)).toEqual({ type: 'broken', failure })
  expect(answer(all)).toBe('Hel')
})

it('is not broken by an attempt that fails before its text, or after reasoning only, or in another step', () => {
  expect(parts([stepFailed()])).toEqual([])
  expect(
    said(parts([delta('r1', [0, 'hm'], { kind: 'reasoning' }), done('r1', 'hm', { type: 'reasoning', status: 'failed' }), stepFailed()])),
  ).toEqual(['reasoning hm'])
  expect(said(parts([delta('i1', [0, 'one']), done('i1', 'one'), stepDone(), stepFailed()]))).toEqual([
    'text one',
    'text.done one',
    'step.done',
  ])
})

it('leaves out texts that were not completed, errors and empty texts', () => {
  expect(parts([done('i1', 'half', { status: 'interrupted' }), done('i2', 'oh', { type: 'error' }), done('i3', '')])).toEqual([])
})

it('leaves out the texts, steps and ends of children', () => {
  const path = 'root/helper#1'
  expect(
    parts([
      delta('i1', [0, 'Hel'], { path }),
      done('i1', 'Hello', { path }),
      stepDone(path),
      stepFailed(path),
      event({ type: 'interaction.turn.completed' }, path),
      event({ type: 'interaction.turn.suspended' }, path),
    ]),
  ).toEqual([])
})

it('shows calls of children beside those of the root, though their ids are the same', () => {
  const path = 'root/helper#1'
  const all = parts([
    callStarted('t1.s1.1', 'helper'),
    callStarted('t1.s1.1', 'search', path),
    callDone('t1.s1.1', path),
    callDone('t1.s1.1'),
  ])
  expect(all.map((part) => ('call' in part && 'tool' in part.call ? [part.type, part.call.tool, part.call.agentPath] : []))).toEqual([
    ['call', 'helper', 'root'],
    ['call', 'search', path],
    ['call.done', 'search', path],
    ['call.done', 'helper', 'root'],
  ])
})

it('shows progress of tools and children, and no output', () => {
  const path = 'root/helper#1'
  expect(parts([delta('c1', [0, '3 of 5'], { kind: 'progress', path }), delta('c1', [0, 'line'], { kind: 'output' })])).toEqual([
    { type: 'progress', agentPath: path, text: '3 of 5' },
  ])
})

it('sends no texts of an answer that is checked first', () => {
  const all = parts(
    [delta('i1', [0, '{']), done('i1', '{'), stepFailed(), done('i2', '{}'), stepDone(), event({ type: 'interaction.turn.failed' })],
    'none',
  )
  expect(said(all)).toEqual(['step.done', 'end'])
})

it.each(['completed', 'failed', 'interrupted', 'suspended'])('ends with a turn that is %s', (ending) => {
  expect(parts([event({ type: `interaction.turn.${ending}` })])).toEqual([{ type: 'end' }])
})

it('in a handoff, texts of the child are parts of the answer, and those of the root are again when it is over', () => {
  const coach = 'root/coach#1'
  const handed = event({ type: 'interaction.handoff.started', childId: 'c', agent: 'coach', childPath: coach })
  const back = event({ type: 'interaction.handoff.completed', childId: 'c', agent: 'coach', reason: 'done' })
  const said = [
    done('1', 'One'),
    handed,
    done('1', 'Two', { path: coach }),
    done('1', 'no', { path: 'root/other#1' }),
    back,
    done('2', 'Three'),
  ]
  expect(parts(said).flatMap((part) => (part.type === 'text.done' ? [[part.itemId, part.text]] : []))).toEqual([
    ['1', 'One'],
    ['coach-1.1', 'Two'],
    ['2', 'Three'],
  ])
  // A reader that comes later knows who speaks.
  expect(new TurnParts({ speaker: coach }).read(done('3', 'Four', { path: coach }))).toMatchObject([
    { type: 'text' },
    { type: 'text.done' },
  ])
})
