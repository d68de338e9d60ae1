import { beforeAll, describe, expect, it } from 'vitest'
import { type InteractionEvent, localPrincipal, type Message, type SessionId, type Store, type TreeId } from '../../src/contracts/index.ts'
import { foldTree } from '../../src/runtime/journal/tree-state.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { sequentialIds } from '../../src/testing/index.ts'
import { dataFolder } from '../fixtures/data-folder.ts'
import { changedStore } from '../runtime/changed-store.ts'
import { team } from '../subagents/team.ts'
import { eventfulSession, eventfulTeam } from './eventful-session.ts'

const ann = { id: 'token:ann', kind: 'token' } as const
const journalOf = async (store: Store, id: SessionId) => store.journal.read(id as TreeId, 0)

describe('a fork of a session with calls, children, approvals, questions, a compaction and stored parts', () => {
  let store: Store
  let source: TreeId
  beforeAll(async () => {
    store = memoryStore({ keepSessions: 1_000 })
    source = await eventfulSession(store)
  })

  it('can be made after every event: it begins with the same events, everything is ended, and it answers its next message', async () => {
    const before = structuredClone(await journalOf(store, source))
    expect(new Set(before.map(({ type }) => type))).toEqual(new Set([...new Set(before.map(({ type }) => type)), ...eventful]))
    const { runtime } = eventfulTeam(store, { ids: sequentialIds('fork') })
    for (const { seq } of before) {
      const forkId = await runtime.sessions.fork(source, { seq, principal: ann })
      const forked = await journalOf(store, forkId)
      expect(JSON.stringify(forked.slice(1))).not.toContain(source)
      expect(forked.slice(0, seq).map(shapeOf)).toEqual(before.slice(0, seq).map(shapeOf))
      const { root, children } = foldTree(forked)
      expect([root, ...children.values()].filter(({ turn }) => turn.kind === 'open')).toEqual([])
      expect(root).toMatchObject({ inputs: [], grants: [], inboxCursor: 0 })
      expectResults(root.history.toJSON())
      await runtime.sessions.send(forkId, 'What now?')
      expect(await runtime.sessions.outcome(forkId), `after event ${seq}`).toMatchObject({ status: 'completed' })
    }
    await runtime.close()
    expect(await journalOf(store, source)).toEqual(before)
  })

  it('has what the original has in the blob store', async () => {
    const { runtime } = eventfulTeam(store, { ids: sequentialIds('fork1') })
    const forkId = await runtime.sessions.fork(source)
    const [one, other] = [await runtime.sessions.export(source), await runtime.sessions.export(forkId)]
    expect(other.blobs).toEqual(one.blobs)
    expect(Object.values(one.blobs).map((blob) => (typeof blob === 'string' ? 'text' : blob.mediaType))).toEqual(
      expect.arrayContaining(['text', 'image/png']),
    )
    await runtime.close()
  })

  it('belongs to who forked it, with labels and title, without the key; the list shows it as new', async () => {
    const { runtime } = eventfulTeam(store, { ids: sequentialIds('fork2') })
    await runtime.sessions.update(source, { title: 'The trip', labels: ['travel'] })
    const forkId = await runtime.sessions.fork(source, { seq: 8, principal: localPrincipal })
    const [newest] = await runtime.sessions.list({ limit: 1 })
    expect(newest).toMatchObject({ sessionId: forkId, owner: 'local', title: 'The trip', labels: ['travel'], status: 'interrupted' })
    const [first] = await journalOf(store, forkId)
    expect(first).toMatchObject({ principal: localPrincipal, forkedFrom: { sessionId: source, seq: 8 } })
    await runtime.sessions.send(forkId, 'And?')
    await runtime.sessions.outcome(forkId)
    expect(await runtime.sessions.get(forkId)).toMatchObject({ title: 'The trip' })
    await runtime.close()
  })

  it('has none of the approvals for the session', async () => {
    const { runtime } = eventfulTeam(store, { ids: sequentialIds('fork3') })
    const forkId = await runtime.sessions.fork(source)
    await runtime.sessions.send(forkId, 'one')
    await runtime.sessions.outcome(forkId)
    expect(await runtime.sessions.requests(forkId)).toMatchObject([{ tool: 'send' }])
    await runtime.close()
  })

  it('is complete or does not exist', async () => {
    const failing = changedStore(store, {
      append: () => {
        throw new Error('the disk is full')
      },
    })
    const { runtime } = eventfulTeam(failing, { ids: sequentialIds('half') })
    const before = await store.trees.list()
    await expect(runtime.sessions.fork(source)).rejects.toThrow('the disk is full')
    expect(await store.trees.list()).toEqual(before)
    await runtime.close()
  })

  it('is refused for an unknown session, an event that does not exist, and a principal of no kind', async () => {
    const { runtime } = eventfulTeam(store, { ids: sequentialIds('fork4') })
    const { sessions } = runtime
    await expect(sessions.fork('nothing')).rejects.toMatchObject({ code: 'session_unknown' })
    await expect(sessions.fork(source, { seq: 10_000 })).rejects.toMatchObject({ problems: [{ place: 'options.seq' }] })
    await expect(sessions.fork(source, { seq: 0 })).rejects.toMatchObject({ problems: [{ place: 'options.seq' }] })
    await expect(sessions.fork(source, { principal: { id: 'x' } as never })).rejects.toMatchObject({
      problems: [{ place: 'options.principal.kind' }],
    })
    await runtime.close()
  })
})

it('works in a SQLite store, with the journal and the blobs on disk', async () => {
  const folder = await dataFolder()
  const store = folder.open()
  const source = await eventfulSession(store)
  const { runtime } = eventfulTeam(store, { ids: sequentialIds('fork') })
  const forkId = await runtime.sessions.fork(source, { seq: 30 })
  await runtime.close()
  await store.close()

  const again = folder.open()
  const other = eventfulTeam(again, { ids: sequentialIds('other') }).runtime
  const { blobs, events } = await other.sessions.export(forkId)
  expect(Object.keys(blobs)).toHaveLength(2)
  expect(events.at(-1)).toMatchObject({ type: 'interaction.session.idle', sessionId: forkId })
  const handle = await other.open(forkId)
  await handle.send('What now?')
  expect(await handle.outcome).toMatchObject({ status: 'completed' })
  await other.close()
})

it('queued inputs of the original do not run in the fork', async () => {
  const store = memoryStore()
  const asked: string[] = []
  const { runtime } = team(
    {
      boss: {
        script: (request) => {
          asked.push(JSON.stringify(request.messages.at(-1)))
          return new Promise(() => {})
        },
      },
    },
    { store },
  )
  const { sessionId } = runtime.stream('Delete everything')
  for await (const event of runtime.sessions.events(sessionId)) if (event.type === 'interaction.step.started') break
  await runtime.sessions.send(sessionId, 'And that, too')
  for await (const event of runtime.sessions.events(sessionId))
    if (event.type === 'interaction.input.accepted' && event.inbox !== undefined) break
  const forkId = await runtime.sessions.fork(sessionId)
  const handle = await runtime.open(forkId)
  await handle.release()
  expect(asked).toHaveLength(1)
  expect((await journalOf(store, forkId)).filter(({ type }) => type.startsWith('interaction.turn.')).map(({ type }) => type)).toEqual([
    'interaction.turn.started',
    'interaction.turn.interrupted',
    'interaction.turn.started',
    'interaction.turn.interrupted',
  ])
  await runtime.close()
})

const eventful = [
  'interaction.context.compacted',
  'interaction.approval.granted',
  'interaction.turn.suspended',
  'interaction.session.resumed',
  'interaction.subagent.closed',
  'interaction.step.failed',
  'interaction.item.updated',
]

/** Each call of a reply has its result in the next message. */
function expectResults(history: readonly Message[]): void {
  for (const [index, message] of history.entries()) {
    const calls = message.role === 'assistant' ? message.parts.flatMap((part) => (part.type === 'call' ? [part.id] : [])) : []
    const next = history[index + 1]
    if (calls.length > 0) expect(next?.role === 'tool' && next.results.map(({ id }) => id)).toEqual(calls)
  }
}

/** What a copy shares with its original. */
const shapeOf = ({ seq, type, agentPath, turnId, stepId, itemId }: InteractionEvent) => ({
  seq,
  type,
  agentPath,
  turnId,
  stepId,
  itemId,
})
