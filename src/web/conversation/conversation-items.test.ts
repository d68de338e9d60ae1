import { expect, test } from 'vitest'
import { Story } from '../../../test/fixtures/run-story.ts'
import type { EventBody, InputMode, StreamEvent } from '../../contracts/index.ts'
import { type AgentNode, applyEvent, emptyTree, type TurnNode } from '../../view/index.ts'
import {
  answerOf,
  conversationItems,
  lastLine,
  openRequests,
  placesOf,
  planStep,
  rangeWith,
  shownSteps,
  stepParts,
} from './conversation-items.ts'
import { withoutCodes } from './terminal-text.ts'

const said = (clientId: string, mode: InputMode = 'queue'): EventBody => ({
  type: 'interaction.input.accepted',
  clientId: clientId as never,
  parts: [{ type: 'text', text: clientId }],
  mode,
})

const turn = (...inputs: readonly string[]): EventBody => ({ type: 'interaction.turn.started', inputs: inputs as never })
const step = (attempt: number, ...absorbs: readonly string[]): EventBody => ({
  type: 'interaction.step.started',
  ...{ model: 'fast', modelId: 'fast', attempt, absorbs: absorbs as never },
  reservation: { input: 1, output: 1 },
})

function rootOf(events: readonly StreamEvent[]): AgentNode {
  const tree = emptyTree({ keepsContent: true })
  for (const event of events) applyEvent(tree, event)
  return tree.roots[0] as AgentNode
}

const shown = (root: AgentNode): readonly string[] =>
  conversationItems(root).map((item) => {
    if (item.kind === 'message') return `${item.id} ${item.state}`
    return item.kind === 'turn' ? `turn ${item.turn.number}` : `${item.kind} ${item.id}`
  })

test('messages come before the turn that read them; those that nobody has read come last', () => {
  const run = new Story()
    .begins()
    .over(1)
    .is(2, said('a'))
    .is(2, said('b'))
    .is(3, turn('a', 'b'))
    .is(4, said('next'))
    .is(4, said('now', 'steer'))
  expect(shown(rootOf(run.events))).toEqual(['turn 1', 'a read', 'b read', 'turn 2', 'next queued', 'now steers'])
})

test('a message that steered a step belongs to it, also after another attempt', () => {
  const run = new Story().begins().is(1, said('now', 'steer')).is(2, step(1, 'now')).fails(3, 1).is(4, step(2))
  const root = rootOf(run.events)
  expect(shown(root)).toEqual(['turn 1'])
  expect(root.turns[0]?.steps[0]?.absorbed).toEqual(['now'])
})

test('a message that was accepted while nothing runs is not queued', () => {
  expect(shown(rootOf(new Story().begins().over(1).is(2, said('a')).events))).toEqual(['turn 1', 'a read'])
})

test('a copy shows where it comes from and no turn in which nothing happened; imported messages come first', () => {
  const root = rootOf(new Story().begins().events)
  const [first] = root.turns
  const copy: AgentNode = {
    ...root,
    forkedFrom: 'other' as never,
    history: [
      { role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
      { role: 'tool', results: [] },
      { role: 'assistant', parts: [{ type: 'text', text: 'Hello' }] },
    ],
    turns: [{ ...(first as TurnNode), status: 'interrupted' }],
  }
  expect(shown(copy)).toEqual(['forked root/forked', 'imported root/history/0', 'imported root/history/2'])
})

test('a step shows texts and calls in order, agents side by side, and no updates of the plan', () => {
  const run = new Story()
    .begins()
    .asks(1, 1)
    .answersWith(2, 1, 'Let me ask.')
    .calls(3, 1, { id: '1', tool: 'update_plan' })
    .calls(3, 1, { id: '2', tool: 'agent__a', type: 'subagent_call' })
    .calls(3, 1, { id: '3', tool: 'agent__b', type: 'subagent_call' })
    .calls(3, 1, { id: '4' })
  const root = rootOf(run.events)
  const only = root.turns[0]!.steps[0]!
  expect(stepParts(only).map(({ kind, ...part }) => ('calls' in part ? part.calls.map(({ name }) => name) : kind))).toEqual([
    'text',
    ['a', 'b'],
    'call',
  ])
  expect(stepParts(only, {}, { steps: [] }).map(({ kind }) => kind)).toEqual(['text', 'plan', 'children', 'call'])
  expect(stepParts(only, { from: 3 }, { steps: [] }).map(({ kind }) => kind)).toEqual(['plan', 'children', 'call'])
  expect(stepParts(only, { from: 3 }).map(({ kind }) => kind)).toEqual(['children', 'call'])
  expect(planStep({ ...root.turns[0]!, plan: { steps: [] } })).toBe(only)
  only.calls[1]!.speaks = false
  only.calls[1]!.child = root
  expect(stepParts(only).map(({ kind }) => kind)).toEqual(['text', 'handoff', 'children', 'call'])
})

test('a long turn shows its last operations', () => {
  const run = new Story().begins()
  for (let number = 1; number <= 10; number++)
    run.asks(number, number).calls(number, number, { id: '1' }).calls(number, number, { id: '2' })
  const [long] = rootOf(run.events).turns
  const shownIn = (range: Parameters<typeof shownSteps>[1]): unknown => {
    const { shown: steps, earlier, later } = shownSteps(long!, range)
    return [steps.map(({ step: { number }, from, to }) => `${number}: ${from}-${to}`), earlier, later]
  }
  expect((shownIn({ limit: 40 }) as readonly unknown[])[1]).toBe(0)
  // What a step gets later is shown, too.
  expect(shownIn({ limit: 5 })).toEqual([['8: 1-Infinity', '9: 0-Infinity', '10: 0-Infinity'], 15, 0])
  expect(shownIn({ limit: 4 })).toEqual([['9: 0-Infinity', '10: 0-Infinity'], 16, 0])
  expect(shownIn({ limit: 3, to: 6 })).toEqual([['2: 1-2', '3: 0-2'], 3, 14])
  const place = { step: long!.steps[8]!, call: long!.steps[8]!.calls[1]! }
  expect(rangeWith(long!, place, { limit: 2 })).toEqual({ limit: 3 })
  expect(rangeWith(long!, place, { limit: 10 })).toEqual({ limit: 10 })
  expect(rangeWith(long!, place, { limit: 4, to: 18 })).toEqual({ limit: 4, to: 18 })
  expect(
    rangeWith(
      { ...long!, steps: [long!.steps[0]!, ...Array.from({ length: 300 }, () => long!.steps[1]!)] },
      { step: long!.steps[0]! },
      { limit: 40 },
    ),
  ).toEqual({ limit: 120, to: 60 })
})

test('a node is found below the calls that contain it, with the requests that wait there', () => {
  const events: StreamEvent[] = []
  new Story('root', events).begins().asks(1, 1).calls(2, 1, { id: '1', tool: 'agent__a', type: 'subagent_call' })
  new Story('root/a', events)
    .begins(3, {}, { of: 'root', call: 't1.s1.1' })
    .asks(4, 1)
    .says(1, 'Working **on** it', { item: '1' })
    .wants(5, 1, { call: '2' })
  const root = rootOf(events)
  expect(placesOf(root, 'root/a/t1.s1')?.map(({ call, step: place }) => [place?.id, call?.id])).toEqual([
    ['root/t1.s1', 'root/t1.s1.1'],
    ['root/a/t1.s1', undefined],
  ])
  expect(placesOf(root, 'root/t1')).toEqual([{ turn: root.turns[0] }])
  expect(placesOf(root, 'nobody')).toBeUndefined()
  expect(openRequests(root).map(({ summary }) => summary)).toEqual(['Write a.txt'])
  expect(lastLine(root.turns[0]!.steps[0]!.calls[0]!.child!)).toBe('Working on it')
})

test('the answer of a turn is its report, or what was written so far', () => {
  expect(answerOf(rootOf(new Story().begins().asks(1, 1).says(1, 'Half', { item: '1' }).events).turns[0]!)).toBe('Half')
  expect(answerOf(rootOf(new Story().begins().over(1).events).turns[0]!)).toBe('Done.')
})

test('output of a terminal has no codes; a line that was overwritten shows its end', () => {
  expect(withoutCodes('\u001b[1;31mred\u001b[0m \u001b]0;title\u0007ok\r\n10%\r100%\ndone\r')).toBe('red ok\n100%\ndone')
})
