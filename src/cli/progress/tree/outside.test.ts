import { expect, test } from 'vitest'
import { Story } from '../../../../test/fixtures/run-story.ts'
import type { InteractionEvent } from '../../../contracts/index.ts'
import { runTree } from '../../../view/index.ts'
import { plainPaint } from '../../terminal/paint.ts'
import { logLine } from '../json-log.ts'
import { liveFrame } from '../live-frame.ts'
import { PlainProgress } from '../plain-progress.ts'
import { renderTree } from './render-tree.ts'

// A call that left the sandbox looks like no other, wherever a run is shown.

const begun = (): Story => new Story().begins().asks(0, 1).answers(1, 1).calls(2, 1, { id: '1', tool: 'shell', title: 'keep it at home' })
const approved = (): Story =>
  begun()
    .wants(3, 1, { call: '1', scope: 'unsandboxed', summary: 'Run shell again outside the sandbox' })
    .decides(4, 1, { call: '1' })
    .leaves(5, 1, { call: '1' })
const ruled = (): Story => begun().leaves(5, 1, { call: '1', by: 'allow unsandboxed(shell:*) (the command line)' })
const tree = (story: Story, width = 80): readonly string[] =>
  renderTree(story.events as InteractionEvent[], { paint: plainPaint, width }).map((line) => line.trimEnd())

test.each([
  ['by a person', approved, 'approved at the terminal'],
  ['by a rule', ruled, 'allowed: unsandboxed(shell:*) (the command line)'],
])('approved to run outside: %s', (_, story, by) => {
  const running = liveFrame(runTree(story().events as InteractionEvent[]), { width: 90, height: 20, now: 100, paint: plainPaint })
  expect(running[0]).toContain('root  1 outside the sandbox · step 1')
  expect(running.at(-1)?.trim()).toBe(`↗ runs outside the sandbox, ${by}`)
  const over = tree(story().ends(9, 1, { id: '1' }).over(10), 89)
  expect(over[0]).toContain('root  completed · 1 outside the sandbox · 1 step')
  expect(over.at(-1)?.trim()).toBe(`↗ ran outside the sandbox, ${by}`)
  const plain = new PlainProgress(plainPaint)
  expect(story().events.flatMap((event) => plain.lines(event))).toContain(`  ↗ shell runs outside the sandbox, ${by}`)
  const logRecord = story().events.map((event) => logLine(event, { now: 0 }) ?? '')
  expect(logRecord.find((line) => line.includes('outside the sandbox"'))).toContain('"level":"warn"')
})

test('a call that asks to leave the sandbox waits and does not run', () => {
  const asking = begun().wants(3, 1, { call: '1', scope: 'unsandboxed' })
  expect(tree(asking).find((line) => line.includes('shell'))).toMatch(/◌ shell .*waiting/)
  const refused = asking.decides(4, 1, { call: '1', decision: { kind: 'deny' } })
  expect(tree(refused).find((line) => line.includes('shell'))).not.toContain('waiting')
})

test('a call that was denied has not run outside', () => {
  const refused = begun()
    .wants(3, 1, { call: '1', scope: 'unsandboxed' })
    .decides(4, 1, { call: '1', decision: { kind: 'deny' } })
    .ends(9, 1, { id: '1' })
    .over(10)
  expect(tree(refused).join('\n')).not.toContain('outside')
})

test('one that failed shows both; a window that is too low still includes it', () => {
  const failed = approved()
    .ends(9, 1, { id: '1', error: { class: 'failed', message: 'No.' } })
    .over(10)
  expect(
    tree(failed)
      .slice(-2)
      .map((line) => line.trim()),
  ).toEqual(['↗ ran outside the sandbox, approved at the terminal', 'failed: No.'])
  const long = approved().ends(9, 1, { id: '1' }).asks(10, 2).answers(11, 2).asks(12, 3)
  const low = liveFrame(runTree(long.events as InteractionEvent[]), { width: 80, height: 4, now: 100, paint: plainPaint })
  expect(low.join('\n')).toMatch(/⋯ 2 steps · 1 call · 1 outside the sandbox/)
})

test('below an agent it is included for all ancestors', () => {
  const events: Story['events'] = []
  const root = new Story('root', events)
    .begins()
    .asks(0, 1)
    .answers(0, 1)
    .calls(0, 1, { id: '1', tool: 'agent__scout', type: 'subagent_call' })
  new Story('root/scout#1', events)
    .begins(5, {}, { of: 'root', call: 't1.s1.1' })
    .asks(5, 1)
    .answers(6, 1)
    .calls(7, 1, { id: '1', tool: 'shell' })
    .leaves(8, 1, { call: '1', by: 'granted for this session' })
    .ends(9, 1, { id: '1' })
    .over(10)
  const lines = tree(root.ends(11, 1, { id: '1' }).over(12))
  expect(lines[0]).toContain('1 outside the sandbox')
  expect(lines[2]).toContain('scout  Oslo · 1 outside the sandbox')
  expect(lines.at(-1)?.trim()).toBe('↗ ran outside the sandbox, granted for this session')
})

test.each([40, 80, 140])('at %d columns a command that ended badly has a mark of its own, and is no failed call', (width) => {
  const story = new Story()
    .begins()
    .asks(0, 1)
    .answers(1, 1)
    .is(
      2,
      ended('item.started', {
        tool: 'shell',
        namespace: '',
        title: 'shell',
        providerCallId: '1',
        input: {},
        effect: 'write',
        lane: { kind: 'shared' },
        details: { command: 'git push' },
      }),
      1,
    )
    .is(
      3,
      ended('item.completed', {
        status: 'completed',
        content: 'Exit code 128',
        latencyMs: 5,
        bytesIn: 1,
        bytesOut: 1,
        value: { exitCode: 128 },
      }),
      1,
    )
  expect(tree(story.over(9), width).at(-1)).toMatch(
    width < 80 ? /^ {3}└─ ≠ shell {2}git push / : /^ {3}└─ ≠ shell {2}git push · exit code 128 /,
  )
  const plain = new PlainProgress(plainPaint)
  expect(story.events.flatMap((event) => plain.lines(event))).toContain('  ≠ shell exit code 128 5 ms')
  const logRecord = story.events.map((event) => logLine(event, { now: 0 }) ?? '')
  expect(logRecord.find((line) => line.includes('"exitCode":128'))).toContain('"level":"info","msg":"call completed: exit code 128"')
})

function ended(what: 'item.started' | 'item.completed', more: object) {
  return { type: `interaction.${what}`, item: { kind: 'call', id: 't1.s1.1', type: 'command_execution', ...more } } as never
}
