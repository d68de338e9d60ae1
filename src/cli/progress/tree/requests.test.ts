import { expect, test } from 'vitest'
import { Story } from '../../../../test/fixtures/run-story.ts'
import type { InteractionEvent } from '../../../contracts/index.ts'
import { runTree } from '../../../view/index.ts'
import { plainPaint } from '../../terminal/paint.ts'
import { isAnimated, liveFrame } from '../live-frame.ts'
import { PlainProgress } from '../plain-progress.ts'
import { renderTree } from './render-tree.ts'

const tree = ({ events }: Story, past = 0): string =>
  renderTree(events as InteractionEvent[], { paint: plainPaint, width: 80, past }).join('\n')
const begun = (): Story => new Story().begins().asks(0, 1).answers(1, 1)
const question = { tool: 'ask_user', summary: 'Tea or coffee?', scope: 'question' } as const
const suspended = (...approvals: readonly string[]) => ({ type: 'interaction.turn.suspended', reason: 'approval', approvals }) as never

test('a question needs an answer, anything else an approval', () => {
  const story = begun()
    .wants(2, 1, { call: '1', ...question })
    .wants(2, 1, { call: '2' })
  expect(tree(story)).toMatch(/\? answer required {2}Tea or coffee\?\n.*\? approval required {2}Write a\.txt/)
  const plain = new PlainProgress(plainPaint)
  expect(story.events.flatMap((event) => plain.lines(event)).slice(1)).toEqual([
    '  ? answer required: Tea or coffee?',
    '  ? approval required: Write a.txt',
  ])
})

test('a question at the terminal is not printed again; its answer is, and so are other requests', () => {
  const story = begun()
    .wants(2, 1, { call: '1', ...question })
    .wants(2, 1, { call: '2' })
  const resolved = (approvalId: string, by: string) =>
    ({ type: 'interaction.approval.resolved', approvalId, decision: { kind: 'approve', breadth: 'once' }, by }) as never
  story.is(3, resolved('a1', 'person at the terminal')).is(3, resolved('a2', 'granted for the session'))
  const plain = new PlainProgress(plainPaint, 'plain', 'elsewhere')
  expect(story.events.flatMap((event) => plain.lines(event)).slice(1)).toEqual([
    '    approved at the terminal',
    '  ? approval required: Write a.txt',
    '    granted for the session',
  ])
})

test('a call behind an open request that it conflicts with is shown as waiting, and runs after it', () => {
  const story = begun()
    .wants(2, 1, { call: '1', lane: { kind: 'exclusive' } })
    .calls(2, 1, { id: '2', tool: 'edit_file' })
  expect(tree(story)).toMatch(/◌ edit_file .*waiting/)
  story.decides(3, 1, { call: '1' }).calls(4, 1, { id: '1', tool: 'write_file', lane: { kind: 'exclusive' }, by: 'ann' })
  expect(tree(story)).toMatch(/◌ edit_file .*waiting/)
  expect(tree(story.ends(5, 1, { id: '1' }))).not.toContain('waiting')
})

test('so does a turn that waits for nothing else', () => {
  const both = begun()
    .wants(2, 1, { call: '1', ...question })
    .wants(2, 1, { call: '2' })
  expect(tree(both.is(3, suspended('a1', 'a2')))).toContain('root  suspended: approval required')
  expect(
    tree(
      begun()
        .wants(2, 1, { call: '1', ...question })
        .is(3, suspended('a1')),
    ),
  ).toContain('root  suspended: answer required')
})

test('obsolete requests are not shown: the call was skipped, or the turn has ended', () => {
  const asked = (): Story => begun().wants(2, 1, { call: '1' })
  const cancelled = { class: 'cancelled', message: 'It was not run.' } as const
  const skipped = asked().calls(3, 1, { id: '1', tool: 'write_file' }).ends(3, 1, { id: '1', error: cancelled })
  expect(tree(skipped)).not.toContain('approval required')
  expect(tree(asked())).toContain('approval required')
  expect(tree(asked().over(4, { status: 'interrupted', reason: 'interrupted' }))).not.toContain('approval required')
})

/** A child waits, and with it everybody above. */
function team(): { readonly root: Story; readonly child: Story } {
  const events: Story['events'] = []
  const root = new Story('root', events)
    .begins()
    .asks(0, 1)
    .answers(0, 1)
    .calls(0, 1, { id: '1', tool: 'agent__scout', type: 'subagent_call' })
  const child = new Story('root/scout#1', events).begins(5, {}, { of: 'root', call: 't1.s1.1' }).asks(5, 1).answers(6, 1)
  child.wants(7, 1, { call: '1' }).is(8, suspended('a1'), 1)
  root.is(8, suspended('a1'), 1)
  return { root, child }
}

test('a resumed team that has ended shows its outcome, and no longer its requests', () => {
  const { root, child } = team()
  const past = root.events.length
  child.decides(20, 1, { call: '1' }).over(30)
  root.ends(31, 1, { id: '1' }).asks(31, 2).answers(32, 2).over(33)
  expect(tree(root, past)).toMatch(/^root {2}completed · 1 step/)
  expect(tree(root, past)).not.toContain('is needed')
})

test('while a descendant works the tree is animated; otherwise it still waits', () => {
  const { root, child } = team()
  const now = () => runTree(root.events as InteractionEvent[])
  expect(isAnimated(now())).toBe(false)
  child.decides(20, 1, { call: '1' })
  expect(isAnimated(now())).toBe(true)
  expect(liveFrame(now(), { width: 80, height: 20, now: 25, paint: plainPaint })[0]).toMatch(/^⠋ root {2}step 1/)
  // The root was told once that it waits, and it still does.
  child.wants(21, 1, { call: '2', ...question }).is(22, suspended('a2'), 1)
  expect(isAnimated(now())).toBe(false)
  expect(tree(root)).toMatch(/^root {2}suspended: approval required/)
})
