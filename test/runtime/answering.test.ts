import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { gate } from '../../src/testing/index.ts'
import { bounded, journalOf, tool, until, world } from '../acceptance/support.ts'

const send = tool('send', { approval: () => ({ keys: [], summary: 'Send it' }) })
const suspends = { decide: () => 'suspend' as const }
const yes = { kind: 'approve', breadth: 'once' } as const

/** A session that waits for an approval, and a program that has not started it. */
async function waiting() {
  const store = memoryStore()
  const one = world({ store, approver: suspends, tools: [send], steps: [{ calls: [{ tool: 'send' }] }, { text: 'Sent.' }] })
  const { sessionId, status } = await one.runtime.run('go')
  expect(status).toBe('suspended')
  const other = world({ store, approver: suspends, tools: [send], steps: [{ text: 'Sent elsewhere.' }] })
  const [request] = await other.runtime.sessions.requests(sessionId)
  return { store, one, other, sessionId, answer: { approvalId: request?.id ?? '', decision: yes } }
}

describe('a program that only answers', () => {
  it('records the answer, drives nothing, and ends no turn when it ends', async () => {
    const { store, one, other, sessionId, answer } = await waiting()
    const before = await journalOf(store, sessionId)
    expect(await other.runtime.sessions.approve(sessionId, answer)).toEqual({ clientId: expect.any(String), driven: false })
    await bounded(other.runtime.close())
    expect(await journalOf(store, sessionId)).toEqual(before)
    expect(await bounded((await one.runtime.open(sessionId)).outcome)).toMatchObject({ status: 'completed', report: { text: 'Sent.' } })
  })

  it('records inputs, revocations and cancellations too; they take effect where the session is opened', async () => {
    const { store, other, sessionId } = await waiting()
    const { sessions } = other.runtime
    expect(await sessions.send(sessionId, 'more', { clientId: 'mine' })).toEqual({ clientId: 'mine', driven: false })
    expect(await sessions.revoke(sessionId, ['key'])).toMatchObject({ driven: false })
    expect(await sessions.cancel(sessionId, 'interrupt', 'Ada')).toMatchObject({ driven: false })
    expect(await sessions.outcome(sessionId)).toMatchObject({ status: 'suspended' })
    const third = world({ store, approver: suspends, tools: [send], steps: [{ text: 'More.' }] })
    await bounded((await third.runtime.open(sessionId)).outcome)
    const events = await journalOf(store, sessionId)
    expect(events.at(-2)).toMatchObject({ type: 'interaction.turn.interrupted', turnId: 't1' })
    expect(await sessions.sendHeld(sessionId)).toMatchObject({ driven: false })
    const fourth = await third.runtime.open(sessionId)
    expect(await bounded(fourth.outcome)).toMatchObject({ turnId: 't2', report: { text: 'More.' } })
  })

  it('hears that another process drives the session', async () => {
    const store = memoryStore()
    const door = gate()
    const one = world({ store, steps: [{ wait: door.promise, text: 'One.' }, { text: 'Two.' }] })
    const handle = one.runtime.stream('go')
    await until('asked', () => one.model.requests.length === 1)
    const other = world({ store })
    expect(await other.runtime.sessions.send(handle.sessionId, 'more')).toMatchObject({ driven: true, elsewhere: true })
    door.open()
    expect(await bounded(handle.outcome)).toMatchObject({ report: { text: 'Two.' } })
  })

  it('hears that nobody does if the other process releases the session while the message is stored', async () => {
    const store = memoryStore()
    const one = world({ store, steps: [{ text: 'One.' }] })
    const handle = await one.runtime.open((await one.runtime.run('go')).sessionId)
    const add: typeof store.inbox.add = async (...message) => {
      await handle.release()
      return store.inbox.add(...message)
    }
    const other = world({ store: { ...store, inbox: { ...store.inbox, add } } })
    expect(await other.runtime.sessions.send(handle.sessionId, 'more')).toEqual({ clientId: expect.any(String), driven: false })
  })
})

describe('the runtime that started or opened a session', () => {
  it('drives it again on a message', async () => {
    const { one, sessionId, answer } = await waiting()
    expect(await one.runtime.sessions.approve(sessionId, answer)).toMatchObject({ driven: true })
    expect(await bounded(one.runtime.sessions.outcome(sessionId))).toMatchObject({ status: 'completed', report: { text: 'Sent.' } })
  })

  it('does not once it has released it', async () => {
    const { runtime } = world({ steps: [{ text: 'One.' }] })
    const { sessionId } = await runtime.run('one')
    const handle = await runtime.open(sessionId)
    await handle.release()
    expect(await handle.send('two')).toMatchObject({ driven: false })
    expect(await runtime.sessions.outcome(sessionId)).toMatchObject({ report: { text: 'One.' } })
  })
})
