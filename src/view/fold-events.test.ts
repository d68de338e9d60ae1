import { expect, it } from 'vitest'
import { Story } from '../../test/fixtures/run-story.ts'
import { applyEvent, emptyTree } from './fold-events.ts'

const red = '\u001b[31m'

it('keeps raw texts, and content only where it is wanted', () => {
  const run = new Story()
    .begins()
    .is(0, { type: 'interaction.input.accepted', clientId: 'm1' as never, parts: [{ type: 'text', text: 'Go.' }], mode: 'queue' })
    .asks(1, 1)
    .answersWith(2, 1, 'I look it up.')
    .calls(3, 1, { id: '1', title: `${red}why` })
    .ends(4, 1, { id: '1' })
    .over(5)
  for (const keepsContent of [true, false]) {
    const tree = emptyTree({ keepsContent })
    for (const event of run.events) applyEvent(tree, event)
    const [agent] = tree.roots
    const call = agent?.turns[0]?.steps[0]?.calls[0]
    expect(call?.reason).toBe(`${red}why`)
    const content = [
      call?.input,
      call?.content,
      agent?.messages.length,
      agent?.turns[0]?.steps[0]?.texts.length,
      agent?.turns[0]?.report?.text,
    ]
    expect(content).toEqual(keepsContent ? [{ city: 'Oslo' }, 'Oslo:\n dry', 1, 1, 'Done.'] : [undefined, undefined, 0, 0, undefined])
  }
})

it('answers each event with the ids of the nodes that it changed', () => {
  const events: Story['events'] = []
  const root = new Story('root', events).begins().asks(1, 1).answers(2, 1)
  root.calls(3, 1, { id: '1', lane: { kind: 'exclusive' } }).calls(3, 1, { id: '2', lane: { kind: 'exclusive' } })
  root.ends(4, 1, { id: '1' }).says(1, 'half', { kind: 'output', item: '2' }).waits('slow', 5, { call: '2' }).over(6)
  const tree = emptyTree()
  const changed = events.map((event) => [event.type.slice('interaction.'.length), [...applyEvent(tree, event).changed].toSorted()])
  const [turn, step, first, second] = ['root/t1', 'root/t1.s1', 'root/t1.s1.1', 'root/t1.s1.2']
  expect(changed).toEqual([
    ['session.created', ['root']],
    ['turn.started', ['root', turn]],
    ['step.started', [turn, step]],
    ['step.completed', [turn, step]],
    ['item.started', [turn, step, first]],
    ['item.started', [turn, step, second]],
    // The second call starts when the first one has ended.
    ['item.completed', [turn, first, second]],
    ['item.delta', [second]],
    ['queue.joined', [second]],
    ['turn.completed', [turn]],
  ])
})

it('streams texts in full where content is kept, and again from the beginning for a reader that reconnects', () => {
  const tree = emptyTree({ keepsContent: true })
  const texts = (): unknown => tree.roots[0]?.turns[0]?.steps[0]?.texts.map(({ type, text, isOpen }) => [type, text.length, isOpen])
  const long = 'word '.repeat(2_000)
  const story = new Story().begins().asks(1, 1).says(1, long, { item: '1' }).says(1, 'end', { item: '1' })
  for (const event of story.events) applyEvent(tree, event)
  expect(texts()).toEqual([['agent_message', 10_003, true]])
  // The same text once more, then its end.
  const again = new Story().says(1, `${long}end`, { item: '1' }).says(1, '.', { item: '1' })
  for (const event of again.events) applyEvent(tree, event)
  expect(texts()).toEqual([['agent_message', 10_004, true]])
  const rest = new Story('root', []).fails(2, 1).asks(3, 1, { attempt: 2 }).answersWith(4, 1, 'Short.')
  for (const event of rest.events) applyEvent(tree, event)
  expect(texts()).toEqual([['agent_message', 6, false]])
})

it('a copy from before the first message has no turn in which nothing happened', () => {
  for (const isCopy of [true, false]) {
    const tree = emptyTree()
    const [created, ...rest] = new Story().begins().over(1, { status: 'interrupted', reason: 'interrupted' }).events
    const forkedFrom = { sessionId: 'other', seq: 2, last: 2 }
    for (const event of [{ ...created, ...(isCopy && { forkedFrom }) } as NonNullable<typeof created>, ...rest]) applyEvent(tree, event)
    expect(tree.roots[0]?.turns.length).toBe(isCopy ? 0 : 1)
  }
})
