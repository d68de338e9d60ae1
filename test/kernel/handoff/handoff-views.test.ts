import { expect, it } from 'vitest'
import { LiveAnswer } from '../../../src/cli/progress/live-answer.ts'
import { liveFrame } from '../../../src/cli/progress/live-frame.ts'
import { PlainProgress } from '../../../src/cli/progress/plain-progress.ts'
import { renderTree } from '../../../src/cli/progress/tree/render-tree.ts'
import { plainPaint } from '../../../src/cli/terminal/paint.ts'
import type { InteractionEvent, StreamEvent } from '../../../src/contracts/index.ts'
import { applyEvent, emptyTree } from '../../../src/view/index.ts'
import { handoffTeam } from './handoff-team.ts'

// A person always sees who speaks.

async function conversation(): Promise<readonly StreamEvent[]> {
  const { runtime } = handoffTeam()
  const { sessionId } = await runtime.run('Hello')
  const events: StreamEvent[] = []
  for (const text of ['one', 'done']) {
    await runtime.sessions.send(sessionId, text)
    await runtime.sessions.outcome(sessionId)
  }
  for await (const event of runtime.sessions.events(sessionId, { until: 'turn' })) events.push(event)
  return events
}

const isDurable = (event: StreamEvent): event is InteractionEvent => 'seq' in event

it('the tree, the live tree and the plain lines name the child that speaks, while it does', async () => {
  const all = await conversation()
  const durable = all.filter(isDurable)
  const end = durable.findIndex(({ type }) => type === 'interaction.handoff.completed')
  const lines = (events: readonly InteractionEvent[]) => renderTree(events, { paint: plainPaint, width: 120 }).join('\n')
  expect(lines(durable.slice(0, end))).toMatch(/coach .*talks to you/)
  expect(lines(durable)).not.toContain('talks to you')
  const tree = emptyTree()
  for (const event of durable.slice(0, end)) applyEvent(tree, event)
  expect(liveFrame(tree, { width: 120, height: 30, now: durable[0]?.at ?? 0, paint: plainPaint }).join('\n')).toContain('talks to you')
  const progress = new PlainProgress(plainPaint)
  const told = all.flatMap((event) => progress.lines(event)).filter((line) => line.includes('⇄'))
  expect(told).toEqual(['  ⇄ coach talks to you', '  ⇄ coach no longer talks to you: done'])
})

it('the live answer is the text of the agent that speaks', async () => {
  const { runtime } = handoffTeam()
  const answer = new LiveAnswer()
  const seen = new Set<string>()
  const handle = runtime.stream('Hello')
  for await (const event of handle) {
    answer.take(event)
    seen.add(answer.lines({ width: 80, maxLines: 5, paint: plainPaint }).join())
  }
  expect([...seen].filter((text) => text !== '')).toEqual(['heard Train'])
})

it('the web chat knows why a handoff has ended, and shows no command as a message', async () => {
  const { runtime } = handoffTeam()
  const { sessionId } = await runtime.run('Hello')
  await runtime.sessions.send(sessionId, '/back', { endsHandoff: true })
  await runtime.sessions.outcome(sessionId)
  const tree = emptyTree({ keepsContent: true })
  for await (const event of runtime.sessions.events(sessionId, { until: 'turn' })) applyEvent(tree, event)
  const [root] = tree.roots
  expect(root?.turns[0]?.steps[0]?.calls).toMatchObject([{ speaks: false, handoffEnd: 'asked' }])
  expect(root?.messages.map(({ parts }) => parts)).toEqual([[{ type: 'text', text: 'Hello' }]])
})
