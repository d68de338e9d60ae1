import { describe, expect, it } from 'vitest'
import type { ApprovalPolicy, ClientId, InteractionEvent, StreamEvent } from '../../src/index.ts'
import { readPendingApprovals } from '../../src/runtime/index.ts'
import { bounded, journalOf, ofType, until } from '../acceptance/support.ts'
import { recordsOf, run, type Stage, stage, yes } from './approval-stage.ts'

// A turn that waits, taken up by another process: under the rules of now, before anybody is asked.

/** A turn that waits for the command `make`, and who goes on with it under other rules. */
async function resumedRun(rules: ApprovalPolicy['rules'], calls = [run('make')]) {
  const first = stage({ decide: () => 'suspend', steps: [{ calls }] })
  const { sessionId: treeId, status } = await first.runtime.run('go')
  expect(status).toBe('suspended')
  await first.runtime.close()
  const { store } = first
  const second = stage({
    store,
    decide: () => 'suspend',
    steps: [{ text: 'Done.' }],
    config: { approvals: { name: 'the house', rules } },
  })
  const outcome = await bounded((await second.runtime.open(treeId)).outcome, 'the turn')
  const events = await journalOf(store, treeId)
  await second.runtime.close()
  return { outcome, events, second, resolved: ofType(events, 'interaction.approval.resolved') }
}

describe('a request that waits, under the rules of now', () => {
  it('is approved by one that allows it, and nobody is asked', async () => {
    const { outcome, events, second, resolved } = await resumedRun([{ allow: 'shell(make)' }])
    expect(outcome.status).toBe('completed')
    expect([second.asked, second.ran]).toEqual([[], [{ command: 'make' }]])
    const by = 'allow shell(make) (the house)'
    expect(resolved).toMatchObject([{ decision: { kind: 'approve', breadth: 'once' }, by }])
    expect(ofType(events, 'interaction.item.started').map(({ item }) => item)).toContainEqual(expect.objectContaining({ approved: { by } }))
  })

  it('is denied by one that forbids it, with the reason', async () => {
    const { outcome, events, second, resolved } = await resumedRun([{ deny: 'shell', reason: 'Nothing is built here' }])
    expect(outcome.status).toBe('completed')
    expect([second.asked, second.ran]).toEqual([[], []])
    expect(resolved).toMatchObject([{ decision: { kind: 'deny' }, by: 'deny shell (the house)' }])
    expect(recordsOf(events)).toMatchObject([{ status: 'declined', content: expect.stringContaining('Nothing is built here.') }])
  })

  it('is asked about where no rule is about it, beside one that is', async () => {
    const { outcome, second, resolved } = await resumedRun([{ allow: 'shell(make)' }], [run('make'), run('ship')])
    expect(outcome.status).toBe('suspended')
    expect(second.asked).toMatchObject([{ input: { command: 'ship' } }])
    expect(resolved).toMatchObject([{ decision: { kind: 'approve' } }])
  })
})

describe('the events of a session', () => {
  const waiting = (): Stage => stage({ decide: () => 'suspend', steps: [{ calls: [run('make')] }, { text: 'Done.' }] })
  async function reading({ runtime, store }: Stage) {
    const { sessionId: treeId } = await runtime.run('go')
    const seen: StreamEvent[] = []
    const read = (async () => {
      for await (const event of runtime.sessions.events(treeId)) seen.push(event)
    })()
    await until('the question is read', async () => seen.length === (await journalOf(store, treeId)).length)
    const [asked] = ofType(await journalOf(store, treeId), 'interaction.approval.requested')
    return { treeId, seen, read, approvalId: asked?.request.id as never }
  }

  it('continue over a suspension until the session is idle', async () => {
    const made = waiting()
    const { treeId, seen, read, approvalId } = await reading(made)
    await made.runtime.sessions.approve(treeId, { approvalId, decision: yes(), by: 'bob' })
    await bounded(read, 'the reader')
    const durable = seen.filter((event): event is InteractionEvent => 'seq' in event)
    expect(durable).toEqual(await journalOf(made.store, treeId))
    expect(durable.at(-1)?.type).toBe('interaction.session.idle')
  })

  it('end with the runtime', async () => {
    const made = waiting()
    const { read, seen } = await reading(made)
    await made.runtime.close()
    await bounded(read, 'the reader')
    expect(seen.at(-1)?.type).toBe('interaction.turn.suspended')
  })
})

describe('the state of a tree without a driver', () => {
  it('is where it was started, what it asks, and what was answered since', async () => {
    const origin = { workspace: '/srv/notes', agentFile: '/srv/notes/clerk.ai' }
    const { runtime, store } = stage({ decide: () => 'suspend', steps: [{ calls: [run('make'), run('ship')] }], origin })
    const { sessionId: treeId } = await runtime.run('go')
    await runtime.close()
    const [first] = await journalOf(store, treeId)
    expect(first).toMatchObject({ type: 'interaction.session.created', origin })
    const { open } = await readPendingApprovals(store, treeId)
    const approvalId = open[1]?.request.id as never
    const answer = { kind: 'deny', feedback: 'not yet' } as const
    await store.inbox.add(treeId, 'one' as ClientId, { kind: 'approval', approvalId, decision: answer, by: 'bob' })
    await store.inbox.add(treeId, 'two' as ClientId, { kind: 'approval', approvalId, decision: yes(), by: 'eve' })
    expect(await readPendingApprovals(store, treeId)).toMatchObject({
      origin,
      open: [
        { agentPath: 'root', request: { input: { command: 'make' } } },
        { agentPath: 'root', request: { input: { command: 'ship' } }, answer },
      ],
    })
    expect(open[0]).not.toHaveProperty('answer')
  })
})
