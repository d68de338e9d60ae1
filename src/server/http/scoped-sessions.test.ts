import { expect, it } from 'vitest'
import type { AgentDescription, SessionEntry, SessionService } from '../../contracts/index.ts'
import { type Caller, isAdmin, type Scope } from './caller.ts'
import { PublicView } from './public-view.ts'
import { scopedSessions } from './scoped-sessions.ts'

const caller = (name: string, { agents, scopes = ['run'] }: { agents?: readonly string[]; scopes?: readonly Scope[] } = {}): Caller => ({
  principal: { id: `token:${name}`, kind: 'token', name },
  scopes,
  ...(agents && { agents }),
})

/** One session of `ann`. Records what reaches the service. */
function stage(who: Caller, more: Partial<SessionEntry> = {}) {
  const calls: (readonly unknown[])[] = []
  const entry = { sessionId: 's1', owner: 'token:ann', agent: 'writer', ...more } as unknown as SessionEntry
  const agents = ['writer', 'web-search', 'web-fetch'].map((name) => ({ name }) as AgentDescription)
  const answers: Partial<Record<keyof SessionService, (...given: readonly unknown[]) => unknown>> = {
    get: async (id) => (id === 's1' ? entry : undefined),
    find: async (key) => (key === 'k1' ? entry : undefined),
    list: async () => [entry],
    agents: () => agents,
    async *events() {
      yield 'event'
    },
  }
  const service = new Proxy({} as SessionService, {
    get:
      (_, name: keyof SessionService) =>
      (...given: readonly unknown[]) => {
        if (!['get', 'find', 'agents'].includes(name)) calls.push([name, ...given])
        return (answers[name] ?? (async () => 'done'))(...given)
      },
  })
  return { service, sessions: scopedSessions(service, who), calls }
}

const first = async (events: AsyncIterable<unknown>) => {
  for await (const event of events) return event
  return undefined
}

/** What concerns one session. A new method of the service has to be added here. */
const ofOne = {
  send: (sessions, id) => sessions.send(id, 'hi'),
  events: (sessions, id) => first(sessions.events(id)),
  requests: (sessions, id) => sessions.requests(id),
  clientCalls: (sessions, id) => sessions.clientCalls(id),
  approve: (sessions, id) => sessions.approve(id, { approvalId: 'a', decision: { kind: 'deny' } }),
  revoke: (sessions, id) => sessions.revoke(id, ['k']),
  cancel: (sessions, id) => sessions.cancel(id, 'stop'),
  sendHeld: (sessions, id) => sessions.sendHeld(id),
  outcome: (sessions, id) => sessions.outcome(id),
  update: (sessions, id) => sessions.update(id, { title: 't' }),
  fork: (sessions, id) => sessions.fork(id),
  delete: (sessions, id) => sessions.delete(id),
  export: (sessions, id) => sessions.export(id),
  output: (sessions, id) => sessions.output(id, 'h'),
} satisfies {
  readonly [Name in Exclude<
    keyof SessionService,
    'start' | 'watch' | 'get' | 'find' | 'list' | 'agents' | 'modelRequest' | 'agentSetup' | 'usage' | 'unindexed'
  >]: (sessions: SessionService, id: string) => Promise<unknown>
}

it.each(Object.entries(ofOne))('%s: only the owner and admins', async (_, call) => {
  for (const id of ['s1', 'missing']) {
    const { sessions, calls } = stage(caller('bob'))
    await expect(call(sessions, id)).rejects.toMatchObject({ code: 'session_unknown', message: `There is no session ${id}.` })
    expect(calls).toEqual([])
  }
  for (const who of [caller('ann'), caller('root', { scopes: ['admin'] })]) {
    const { sessions, calls } = stage(who)
    await call(sessions, 's1')
    expect(calls).toHaveLength(1)
  }
})

it('records who acts, whatever the caller says', async () => {
  const { sessions, calls } = stage(caller('ann'))
  const { principal } = caller('ann')
  const other = { id: 'token:bob', kind: 'token' } as const
  await sessions.start('hi', { agent: 'writer', principal: other })
  await sessions.approve('s1', { approvalId: 'a', decision: { kind: 'deny' }, by: 'bob' })
  await sessions.revoke('s1', ['k'], 'bob')
  await sessions.cancel('s1', 'stop', 'bob')
  await sessions.fork('s1', { principal: other, seq: 3 })
  expect(calls).toEqual([
    ['start', 'hi', { agent: 'writer', principal }],
    ['approve', 's1', { approvalId: 'a', decision: { kind: 'deny' }, by: 'token:ann' }],
    ['revoke', 's1', ['k'], 'token:ann'],
    ['cancel', 's1', 'stop', 'token:ann'],
    ['fork', 's1', { seq: 3, principal }],
  ])
})

it('finds the own sessions only', async () => {
  const found = async (who: Caller) => {
    const { sessions } = stage(who)
    return [await sessions.get('s1'), await sessions.find('k1')].map((entry) => entry?.sessionId)
  }
  expect(await found(caller('bob'))).toEqual([undefined, undefined])
  expect(await found(caller('ann'))).toEqual(['s1', 's1'])
  expect(await found(caller('root', { scopes: ['admin'] }))).toEqual(['s1', 's1'])
})

it('lists and watches the own sessions only, whatever the filter says', async () => {
  const { sessions, calls } = stage(caller('bob'))
  await sessions.list({ owner: 'token:ann', limit: 3 })
  sessions.watch({ owner: 'token:ann' })
  sessions.watch()
  expect(calls).toEqual([
    ['list', { owner: 'token:bob', limit: 3 }],
    ['watch', { owner: 'token:bob' }],
    ['watch', { owner: 'token:bob' }],
  ])
  const admin = stage(caller('root', { scopes: ['admin'] }))
  await admin.sessions.list({ owner: 'token:ann' })
  admin.sessions.watch()
  expect(admin.calls).toEqual([
    ['list', { owner: 'token:ann' }],
    ['watch', {}],
  ])
})

it('shows model requests to admins only, and the usage of others to nobody else', async () => {
  const place = { stepId: 't1.s1' }
  for (const [who, id, code] of [
    ['bob', 's1', 'session_unknown'],
    ['ann', 'missing', 'session_unknown'],
    ['ann', 's1', 'forbidden'],
  ] as const) {
    const { service, sessions, calls } = stage(caller(who))
    await expect(sessions.modelRequest(id, place)).rejects.toMatchObject({ code })
    await expect(new PublicView().sessions(service).modelRequest(id, place)).rejects.toMatchObject({ code: 'forbidden' })
    expect(calls).toEqual([])
  }
  const own = stage(caller('bob'))
  await own.sessions.usage({ by: 'day', owner: 'token:ann' })
  await own.sessions.usage({ by: 'person' })
  await own.sessions.unindexed('token:ann')
  await own.sessions.unindexed()
  const owner = 'token:bob'
  expect(own.calls).toEqual([
    ['usage', { by: 'day', owner }],
    ['usage', { by: 'person', owner }],
    ['unindexed', owner],
    ['unindexed', owner],
  ])
  const admin = stage(caller('root', { scopes: ['admin'] }))
  await admin.sessions.modelRequest('s1', place)
  await admin.sessions.usage({ by: 'person' })
  await admin.sessions.unindexed('token:ann')
  expect(admin.calls).toEqual([
    ['modelRequest', 's1', place],
    ['usage', { by: 'person' }],
    ['unindexed', 'token:ann'],
  ])
})

it('shows prompts of agents to admins only, and only those that its token names', async () => {
  const writer = stage(caller('ann'))
  await expect(writer.sessions.agentSetup('writer')).rejects.toMatchObject({ code: 'forbidden' })
  await expect(new PublicView().sessions(writer.service).agentSetup('writer')).rejects.toMatchObject({ code: 'forbidden' })
  const admin = stage(caller('root', { scopes: ['admin'] }))
  await admin.sessions.agentSetup('anything')
  expect([...writer.calls, ...admin.calls]).toEqual([['agentSetup', 'anything']])
  const bound = stage(caller('root', { scopes: ['admin'], agents: ['writer'] }))
  await bound.sessions.agentSetup('writer')
  await expect(bound.sessions.agentSetup('other')).rejects.toMatchObject({ code: 'agent_unknown' })
  expect(bound.calls).toEqual([['agentSetup', 'writer']])
})

it('sends nothing to a session that does not continue here; only admins see its folder and the command', async () => {
  const command = 'cd /srv/other && troupe serve'
  const there = { workspace: '/srv/other', continue: { here: false, reason: 'It belongs to /srv/other.', command } } as const
  for (const name of ['send', 'approve', 'revoke', 'cancel'] as const)
    for (const who of [caller('ann'), caller('root', { scopes: ['admin'] })]) {
      const { service, calls } = stage(who, there)
      const sessions = scopedSessions(isAdmin(who) ? service : new PublicView().sessions(service), who)
      const refusal = await ofOne[name](sessions, 's1').catch((error: Error) => error)
      expect(refusal).toMatchObject({
        code: 'session_mismatch',
        ...(isAdmin(who) && { remedy: `Continue it in a shell: ${command}` }),
      })
      expect(calls).toEqual([])
      const said = JSON.stringify([
        { ...refusal },
        `${refusal}`,
        await sessions.get('s1'),
        await sessions.list(),
        await sessions.find('k1'),
      ])
      expect(said.includes('/srv')).toBe(isAdmin(who))
    }
})

it('changes nothing of a session of another folder', async () => {
  for (const name of ['update', 'fork', 'delete'] as const) {
    const { sessions, calls } = stage(caller('ann'), {
      project: 'elsewhere',
      continue: { here: false, reason: 'It belongs to another folder.' },
    })
    await expect(ofOne[name](sessions, 's1')).rejects.toMatchObject({ code: 'session_mismatch' })
    expect(calls).toEqual([])
  }
})

it('knows the agents of the token only', async () => {
  const { sessions, calls } = stage(caller('bob', { agents: ['web-*', 'missing'] }))
  expect(sessions.agents().map(({ name }) => name)).toEqual(['web-search', 'web-fetch'])
  await expect(sessions.start('hi', { agent: 'writer' })).rejects.toMatchObject({
    code: 'agent_unknown',
    remedy: 'Use one of: web-search, web-fetch.',
  })
  // Otherwise the runtime would select one of all.
  await expect(sessions.start('hi')).rejects.toMatchObject({ code: 'agent_unknown' })
  expect(calls).toEqual([])
  await sessions.start('hi', { agent: 'web-fetch' })
  expect(calls).toHaveLength(1)
})

it('continues no session of an agent that the token does not name', async () => {
  for (const scopes of [['run'], ['admin']] as const) {
    const { sessions, calls } = stage(caller('ann', { agents: ['web-*'], scopes }))
    await expect(sessions.send('s1', 'hi')).rejects.toMatchObject({ code: 'agent_unknown' })
    expect(calls).toEqual([])
  }
  const { sessions, calls } = stage(caller('ann', { agents: ['writer'] }))
  await sessions.send('s1', 'hi')
  expect(calls).toHaveLength(1)
})

it('lets the runtime select among all agents, for a token that may use all', async () => {
  const { sessions, calls } = stage(caller('bob'))
  await sessions.start('hi')
  expect(calls).toEqual([['start', 'hi', { principal: caller('bob').principal }]])
})

it('opens no events for a reader that leaves before the check', async () => {
  const { sessions, calls } = stage(caller('ann'))
  const iterator = sessions.events('s1')[Symbol.asyncIterator]()
  const next = iterator.next()
  await iterator.return?.()
  expect(await next).toEqual({ value: undefined, done: true })
  expect(calls).toEqual([])
})
