import { expect, it } from 'vitest'
import { Story } from '../../test/fixtures/run-story.ts'
import { applyEvent, emptyTree } from './fold-events.ts'
import { forgetEnded, forgetTurns } from './forget-ended.ts'
import type { AgentNode } from './nodes.ts'

/** 20 steps of the root, each with a child that makes two calls. The first child and the calls of the last step have not ended. */
function longRun() {
  const events: Story['events'] = []
  const root = new Story('root', events).begins()
  const size = 20
  for (let step = 1; step <= size; step++) {
    root.asks(step * 10, step).answers(step * 10, step)
    root.calls(step * 10, step, { id: '1', type: 'subagent_call', tool: 'agent__scout' })
    const path = `root/scout#${step}`
    const child = new Story(path, events).begins(step * 10 + 1, {}, { of: 'root', call: `t1.s${step}.1` })
    child.asks(step * 10 + 1, 1).answers(step * 10 + 1, 1)
    for (const id of ['1', '2']) child.calls(step * 10 + 1, 1, { id })
    if (step === 1) continue
    for (const id of ['1', '2']) child.ends(step * 10 + 2, 1, { id })
    child.over(step * 10 + 2)
    if (step < size) root.ends(step * 10 + 3, step, { id: '1' })
  }
  const tree = emptyTree()
  for (const event of events) applyEvent(tree, event)
  const [agent] = tree.roots as [AgentNode]
  const steps = () => agent.turns[0]?.steps.map(({ number }) => number)
  return { tree, agent, steps, root: tree.sessions.get('root' as never) }
}

it('forgets the oldest steps that have ended, with their children', () => {
  const { tree, steps, root } = longRun()
  forgetEnded(tree, 10)
  expect(steps()).toEqual([1, 19, 20])
  expect([...tree.sessions.keys()]).toEqual(['root', 'root/scout#1', 'root/scout#19', 'root/scout#20'])
  expect([...(root?.calls.keys() ?? [])]).toEqual(['t1.s1.1', 't1.s19.1', 't1.s20.1'])
  forgetEnded(tree, 10)
  expect(steps()).toEqual([1, 19, 20])
})

it('forgets all turns of a root', () => {
  const { tree, agent, root } = longRun()
  if (root) forgetTurns(tree, root)
  expect([agent.turns, tree.roots, [...tree.sessions.keys()]]).toEqual([[], [agent], ['root']])
})
