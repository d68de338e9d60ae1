import { describe, expect, it } from 'vitest'
import type { SessionChange, StreamEvent, TreeId } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { gate, sequentialIds } from '../../src/testing/index.ts'
import { dataFolder } from '../fixtures/data-folder.ts'
import { png } from '../fixtures/pictures.ts'
import { send, team } from '../subagents/team.ts'

const talk = { boss: { script: () => ({ text: 'Well.' }) } }
const silent = (asked = gate()) => ({
  boss: {
    script: () => {
      asked.open()
      return new Promise<never>(() => {})
    },
  },
})

const problemsOf = async (call: () => unknown): Promise<readonly string[]> => {
  const error = await Promise.resolve()
    .then(call)
    .then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
  return (
    (error as { problems?: readonly { place: string; message: string }[] })?.problems?.map(
      ({ place, message }) => `${place}: ${message}`,
    ) ?? []
  )
}

const stores = { memory: async () => memoryStore(), sqlite: async () => (await dataFolder()).open() }

describe.each(Object.entries(stores))('an id, in a store of kind %s', (_, open) => {
  it.each([[undefined], [null], [42], [{}], [[]], [Symbol('id')], ['']])('%s belongs to no session, whatever is asked', async (id) => {
    const { runtime } = team(talk, { store: await open() })
    const { sessions } = runtime
    const given = id as string
    const asked: { readonly [what: string]: () => unknown } = {
      open: () => runtime.open(given),
      send: () => sessions.send(given, 'x'),
      events: () => sessions.events(given)[Symbol.asyncIterator]().next(),
      requests: () => sessions.requests(given),
      approve: () => sessions.approve(given, { approvalId: 'x', decision: { kind: 'deny' } }),
      revoke: () => sessions.revoke(given, ['x']),
      cancel: () => sessions.cancel(given, 'stop'),
      sendHeld: () => sessions.sendHeld(given),
      outcome: () => sessions.outcome(given),
      get: async () => (await sessions.get(given)) ?? Promise.reject({ code: 'session_unknown' }),
      update: () => sessions.update(given, { title: 'x' }),
      fork: () => sessions.fork(given),
      delete: () => sessions.delete(given),
      export: () => sessions.export(given),
      output: () => sessions.output(given, 'x'),
      modelRequest: () => sessions.modelRequest(given, { stepId: 't1.s1' }),
    }
    const codes = await Promise.all(
      Object.entries(asked).map(async ([what, ask]) => [
        what,
        await (async () => ask())().catch((error: { code?: string }) => error.code ?? error),
      ]),
    )
    expect(codes).toEqual(Object.keys(asked).map((what) => [what, 'session_unknown']))
    await runtime.close()
  })

  it('is known as soon as stream() has returned', async () => {
    const { runtime } = team(silent(), { store: await open() })
    const { sessions } = runtime
    const ask: readonly ((id: string) => unknown)[] = [
      sessions.requests,
      sessions.get,
      sessions.export,
      (id) => sessions.update(id, { title: 'Mine' }),
      (id) => sessions.fork(id),
    ]
    for (const each of ask) await expect(each(runtime.stream('Go').sessionId)).resolves.toBeDefined()
    await runtime.close()
  })
})

describe('title and labels', () => {
  it('are changed, and stay when the session continues', async () => {
    const { runtime, run } = team(talk)
    const { sessionId } = (await run()).outcome
    expect(await runtime.sessions.update(sessionId, { title: 'A better title' })).toMatchObject({ sessionId, title: 'A better title' })
    expect(await runtime.sessions.update(sessionId, { labels: ['work', 'late'] })).toMatchObject({ labels: ['work', 'late'] })
    await runtime.sessions.send(sessionId, 'More')
    await runtime.sessions.outcome(sessionId)
    expect(await runtime.sessions.get(sessionId)).toMatchObject({ title: 'A better title', labels: ['work', 'late'], status: 'completed' })
    await runtime.close()
  })

  it('have bounds, and belong to a session', async () => {
    const { runtime, run } = team(talk)
    const { sessions } = runtime
    const { sessionId } = (await run()).outcome
    const labels = 'labels: expected a list of at most 20 labels, each one line of 1 to 64 characters'
    expect(await problemsOf(() => sessions.update(sessionId, { title: 'x'.repeat(201), labels: ['x'.repeat(65)] }))).toEqual([
      expect.stringContaining('changes.title: expected one line of 1 to 200 characters'),
      expect.stringContaining(`changes.${labels}`),
    ])
    expect(await problemsOf(() => sessions.update(sessionId, { title: 'two\nlines', labels: Array(21).fill('x') }))).toHaveLength(2)
    expect(await problemsOf(() => sessions.update(sessionId, { titel: 'x' } as never))).toEqual(['changes.titel: unknown key'])
    await expect(sessions.update('nothing', { title: 'x' })).rejects.toMatchObject({ code: 'session_unknown' })
    expect(await sessions.get(sessionId)).toMatchObject({ title: 'Go' })
    await runtime.close()
  })
})

describe('a list', () => {
  it('has the sessions that match every field of the filter', async () => {
    const { runtime } = team(talk)
    const { sessions } = runtime
    const ids = []
    for (const input of ['Fly to Oslo', 'Sail to Oslo', 'Fly home']) ids.push((await runtime.run(input)).sessionId)
    const [fly, sail, home] = ids
    await sessions.update(sail ?? '', { labels: ['sea', 'slow'] })
    const found = async (filter: Parameters<typeof sessions.list>[0]) => (await sessions.list(filter)).map(({ sessionId }) => sessionId)
    expect(await found({ text: 'oslo' })).toEqual([sail, fly])
    expect(await found({ text: 'oslo', labels: ['sea'] })).toEqual([sail])
    expect(await found({ status: ['completed', 'failed'], agent: 'boss', limit: 1 })).toEqual([home])
    expect(await found({ status: 'suspended' })).toEqual([])
    await runtime.close()
  })

  it('refuses what is no filter', async () => {
    const { runtime } = team(talk)
    const wrong = { status: 'done', labels: 'sea', limit: 0, hasOpenRequests: 'yes', before: '1' }
    expect(await problemsOf(() => runtime.sessions.list(wrong as never))).toEqual([
      expect.stringMatching(/^filter\.status: expected one of running, suspended, .*, found "done"/),
      expect.stringMatching(/^filter\.labels: expected a list of labels/),
      expect.stringMatching(/^filter\.hasOpenRequests: expected true or false/),
      expect.stringMatching(/^filter\.limit: expected a number of sessions, found 0/),
      expect.stringMatching(/^filter\.before: expected the createdAt of a session/),
    ])
    expect(await problemsOf(() => runtime.sessions.watch({ agent: 'x' } as never))).toEqual(['filter.agent: unknown key'])
    await runtime.close()
  })
})

describe('watching the list', () => {
  it('reports new sessions, their status and their end; a slow reader gets the last state; it ends with the runtime', async () => {
    const { runtime } = team(
      { boss: { script: (_, step) => (step === 1 ? { calls: [{ tool: 'send' }] } : { text: 'x' }), tools: ['send'] } },
      {
        tools: [send],
        approver: { decide: () => 'suspend' },
      },
    )
    const { sessions } = runtime
    const changes = sessions.watch()[Symbol.asyncIterator]()
    const { sessionId } = await runtime.run('Go')
    expect(await changes.next()).toMatchObject({
      value: { kind: 'changed', session: { sessionId, status: 'suspended', openRequests: 1 } },
    })
    await sessions.delete(sessionId)
    expect(await changes.next()).toMatchObject({ value: { kind: 'deleted', sessionId } })
    const ending = changes.next()
    await runtime.close()
    expect(await ending).toEqual({ done: true, value: undefined })
  })

  it('for one owner has nothing of others, also when they are deleted', async () => {
    const { runtime } = team(talk)
    const { sessions } = runtime
    const [ann, bob] = [{ id: 'ann', kind: 'token' } as const, { id: 'bob', kind: 'token' } as const]
    const { sessionId } = await runtime.run('Go')
    const [first, other] = [await sessions.fork(sessionId, { principal: ann }), await sessions.fork(sessionId, { principal: bob })]
    const read: SessionChange[] = []
    const watching = sessions.watch({ owner: 'ann' })
    const reading = (async () => {
      for await (const change of watching) {
        read.push(change)
        if (read.length === 2) break
      }
    })()
    await sessions.delete(other)
    await sessions.delete(sessionId)
    await sessions.delete(first)
    const second = await sessions.fork(await sessions.start('Again'), { principal: ann })
    await reading
    expect(read).toMatchObject([
      { kind: 'deleted', sessionId: first },
      { kind: 'changed', session: { sessionId: second, owner: 'ann' } },
    ])
    await runtime.close()
  })
})

describe('deleting', () => {
  it('interrupts a running session, starts none of its queued inputs, and ends its readers', async () => {
    const asked = gate()
    const { runtime } = team(silent(asked))
    const { sessions } = runtime
    const handle = runtime.stream('Go')
    const { sessionId } = handle
    await asked.promise
    await sessions.send(sessionId, 'And more')
    const read: StreamEvent[] = []
    const caughtUp = gate()
    const reading = (async () => {
      for await (const event of sessions.events(sessionId, { until: 'closed' })) {
        read.push(event)
        if (event.type === 'interaction.step.started') caughtUp.open()
      }
    })()
    await caughtUp.promise
    await sessions.delete(sessionId)
    expect(await handle.outcome).toMatchObject({ status: 'interrupted' })
    await reading
    expect(read.map(({ type }) => type)).toContain('interaction.turn.interrupted')
    expect(await sessions.get(sessionId)).toBeUndefined()
    await expect(sessions.send(sessionId, 'Still there?')).rejects.toMatchObject({ code: 'session_unknown' })
    await expect(sessions.delete(sessionId)).rejects.toMatchObject({ code: 'session_unknown' })
    await runtime.close()
  })

  it('removes a session that waits or is idle, and those of handles that wait for input', async () => {
    const { runtime } = team(talk)
    const { sessionId } = await runtime.run('Go')
    const handle = await runtime.open(sessionId)
    await runtime.sessions.delete(sessionId)
    expect(await handle.outcome).toMatchObject({ status: 'completed' })
    expect(await runtime.sessions.list()).toEqual([])
    await runtime.close()
  })

  it('is refused while another process drives the session', async () => {
    const store = memoryStore()
    const asked = gate()
    const driver = team(silent(asked), { store })
    const { sessionId } = driver.runtime.stream('Go')
    await asked.promise
    const other = team(talk, { store, ids: sequentialIds('other') })
    await expect(other.runtime.sessions.delete(sessionId)).rejects.toMatchObject({
      code: 'session_driven',
      remedy: expect.stringContaining('Wait'),
    })
    expect(await store.trees.get(sessionId as TreeId)).toMatchObject({ status: 'running' })
    await Promise.all([driver.runtime.close(), other.runtime.close()])
  })
})

describe('an export', () => {
  const secret = 'sk-very-secret-value'
  const leak = {
    name: 'leak',
    description: 'Leaks.',
    inputSchema: { type: 'object' },
    execute: () => ({
      ok: true as const,
      content: 'large '.repeat(20_000),
      parts: [
        { type: 'image' as const, mediaType: 'image/png', data: png },
        { type: 'image' as const, mediaType: 'image/x-note', data: Buffer.from(`note ${secret}`) },
      ],
    }),
  }
  const leaking = {
    boss: { script: (_: unknown, step: number) => (step === 1 ? { calls: [{ tool: 'leak' }] } : { text: secret }), tools: ['leak'] },
  }

  it('has the events and blobs of the session, without secrets of variables; outputs have none either', async () => {
    const store = (await dataFolder()).open()
    // Recorded by a program that did not know the secret.
    const first = team(leaking, { store, tools: [leak] })
    const { sessionId } = await first.runtime.run('Go')
    await first.runtime.close()
    const { runtime } = team(leaking, { store, tools: [leak], config: { overlay: { API_KEY: secret } }, ids: sequentialIds('b') })
    const exported = await runtime.sessions.export(sessionId)
    expect(exported).toMatchObject({ format: 'troupe.session', version: 1, session: { sessionId, title: 'Go', status: 'completed' } })
    const events = await store.journal.read(sessionId as TreeId, 0)
    expect(JSON.stringify(events)).toContain(secret)
    expect(exported.events.map(({ seq, type }) => [seq, type])).toEqual(events.map(({ seq, type }) => [seq, type]))
    expect(JSON.stringify(exported)).not.toContain(secret)
    const bytes = Object.values(exported.blobs).flatMap((blob) => (typeof blob === 'string' ? [] : [Buffer.from(blob.data, 'base64')]))
    expect(bytes.map(String)).toContain('note [redacted:API_KEY]')
    expect(bytes).toContainEqual(Buffer.from(png))
    for (const [handle, blob] of Object.entries(exported.blobs)) {
      const output = await runtime.sessions.output(sessionId, handle)
      expect(output && ('text' in output ? output.text : Buffer.from(output.bytes).toString('base64'))).toEqual(
        typeof blob === 'string' ? blob : blob.data,
      )
    }
    await runtime.close()
  })

  it('is refused for unknown sessions; a handle of nothing gives nothing', async () => {
    const { runtime } = team(talk)
    const { sessionId } = await runtime.run('Go')
    const { sessions } = runtime
    await expect(sessions.export('nothing')).rejects.toMatchObject({ code: 'session_unknown' })
    await expect(sessions.output('nothing', 'x')).rejects.toMatchObject({ code: 'session_unknown' })
    await expect(sessions.output(sessionId, '')).rejects.toMatchObject({ problems: [{ place: 'handle' }] })
    expect(await sessions.output(sessionId, '../../etc/passwd')).toBeUndefined()
    await runtime.close()
  })
})

it('the agents that can be asked are described, those of the newest configuration', async () => {
  const { runtime } = team({
    writer: { script: () => ({ text: '' }), agents: ['helper'], usage: 'A topic', displayName: 'The writer', template: '---\n---' },
    editor: { script: () => ({ text: '' }), output: { schema: { type: 'object' } }, limits: { maxToolTurns: 3 } },
    helper: { script: () => ({ text: '' }), agents: ['expert'] },
    expert: { script: () => ({ text: '' }) },
  })
  const described = runtime.sessions.agents()
  expect(described.map(({ name }) => name)).toEqual(['editor', 'writer'])
  expect(described[0]).toMatchObject({ output: { format: 'json', schema: { type: 'object' } }, limits: { maxToolTurns: 3 }, overrides: [] })
  expect(described[1]).toEqual({
    name: 'writer',
    displayName: 'The writer',
    description: 'writer of the team',
    usage: 'A topic',
    input: { format: 'text' },
    output: { format: 'markdown' },
    limits: expect.objectContaining({ maxDepth: expect.any(Number) }),
    parameters: {},
    overrides: [],
    models: ['writer'],
    tools: [],
    agents: ['helper'],
    team: [expect.objectContaining({ name: 'expert', description: 'expert of the team' }), expect.objectContaining({ name: 'helper' })],
    template: '---\n---',
  })
  expect(described[0]).not.toHaveProperty('team')
  await runtime.update({ agents: [{ name: 'other', description: 'Other', prompt: 'Other.', model: 'writer' }] })
  expect(runtime.sessions.agents().map(({ name }) => name)).toEqual(['other'])
  await runtime.close()
})
