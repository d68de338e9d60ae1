import { expect, it } from 'vitest'
import type { SessionToolSource, SourceSession, Tool } from '../../src/index.ts'
import { agent, bounded, settle, tool, world } from '../acceptance/support.ts'

/** A source whose tools the test can change, with a record of what happened to it. */
function server(name: string, first: readonly string[], more: Partial<SessionToolSource> & { readonly instructions?: string } = {}) {
  let tools: readonly Tool[] = first.map((each) => tool(`${name}/${each}`))
  let failure: Error | undefined
  let listed = 0
  const listeners = new Set<() => void>()
  const sessions: SourceSession[] = []
  const closed: string[] = []
  const source: SessionToolSource = {
    name,
    ...(more.required !== undefined && { required: more.required }),
    open(session) {
      sessions.push(session)
      return {
        list: async () => {
          listed++
          if (failure) throw failure
          return tools
        },
        onChange(listener) {
          listeners.add(listener)
          return () => listeners.delete(listener)
        },
        instructions: () => more.instructions,
        close: async () => void closed.push(session.sessionId),
      }
    },
  }
  return {
    source,
    sessions,
    closed,
    listeners,
    listed: () => listed,
    change(names: readonly string[]) {
      tools = names.map((each) => tool(`${name}/${each}`))
      for (const listener of listeners) listener()
    },
    fail(message: string | undefined) {
      failure = message === undefined ? undefined : new Error(message)
    },
  }
}

const offered = (request: { readonly tools: readonly { readonly name: string }[] } | undefined) => request?.tools.map(({ name }) => name)
const withoutOwn = (names: readonly string[] | undefined) => names?.filter((name) => name !== 'read_output')

it('is opened for each session, which gets its tools under its name', async () => {
  const hub = server('hub', ['find', 'open'])
  const { runtime, model } = world({
    config: { tools: [hub.source] },
    steps: [{ calls: [{ tool: 'hub__find', input: {} }] }, { text: 'Done.' }, { text: 'Done.' }],
  })
  const first = await bounded(runtime.run('go', { overlay: { TOKEN: 'a' } }))
  const second = await bounded(runtime.run('go'))
  expect(first).toMatchObject({ status: 'completed' })
  expect(withoutOwn(offered(model.requests[0]))).toEqual(['hub__find', 'hub__open'])
  expect(hub.sessions.map(({ sessionId }) => sessionId)).toEqual([first.sessionId, second.sessionId])
  expect(hub.sessions.map(({ overlay }) => overlay)).toEqual([{ TOKEN: 'a' }, {}])
})

it('keeps its tools within a turn, and offers changed ones from the next turn', async () => {
  const hub = server('hub', ['find'])
  const change: Tool = { ...tool('change'), execute: () => hub.change(['find', 'close']) ?? 'changed' }
  const { runtime, model } = world({
    config: { tools: [change, hub.source] },
    steps: [{ calls: [{ tool: 'change', input: {} }] }, { text: 'One.' }, { text: 'Two.' }],
  })
  const handle = runtime.stream('go')
  await bounded(handle.outcome)
  await handle.send('again')
  const events = []
  for await (const event of runtime.sessions.events(handle.sessionId)) events.push(event)
  expect(model.requests.map((each) => withoutOwn(offered(each)))).toEqual([
    ['change', 'hub__find'],
    ['change', 'hub__find'],
    ['change', 'hub__close', 'hub__find'],
  ])
  expect(events.filter(({ type }) => type === 'interaction.session.configured')).toMatchObject([{ reason: 'The tools have changed.' }])
  expect(hub.sessions).toHaveLength(1)
})

it('that fails costs its own tools: the session runs, and has them in the turn after it answers', async () => {
  const [hub, good] = [server('hub', ['find']), server('good', ['read'])]
  hub.fail('no connection')
  const { runtime, model, clock } = world({ config: { tools: [hub.source, good.source] }, steps: [{ text: 'One.' }, { text: 'Two.' }] })
  const handle = runtime.stream('go')
  const outcome = await bounded(handle.outcome)
  // A turn asks for its tools several times; a server that hangs would cost its timeout each time.
  expect(hub.listed()).toBe(1)
  expect(outcome).toMatchObject({
    status: 'completed',
    diagnostics: [{ code: 'source_failed', message: 'The tools of "hub" are not available: no connection' }],
  })
  hub.fail(undefined)
  clock.advance(5_000)
  await handle.send('again')
  await bounded(runtime.sessions.outcome(handle.sessionId))
  expect(model.requests.map((each) => withoutOwn(offered(each)))).toEqual([['good__read'], ['good__read', 'hub__find']])
})

it('whose listed tools do not exist is reported once; tools behind the search exist', async () => {
  const [hub, empty] = [server('hub', ['find']), server('empty', [])]
  const { runtime } = world({
    config: {
      agents: [{ ...agent, tools: ['hub/find', 'hub/fnd', 'hub/close*', 'empty/*', '*'] }],
      tools: [hub.source, empty.source],
      toolsOffered: 'search',
    },
    steps: [{ text: 'One.' }, { text: 'Two.' }],
  })
  const handle = runtime.stream('go')
  const first = await bounded(handle.outcome)
  await handle.send('again')
  const { diagnostics } = await bounded(runtime.sessions.outcome(handle.sessionId))
  expect(first.diagnostics).toMatchObject([
    {
      code: 'tool_missing',
      severity: 'warning',
      message: expect.stringContaining('`hub/fnd`'),
      remedy: expect.stringContaining('Did you mean "hub/find"?'),
    },
    { code: 'tool_missing', message: '"hub" has no such tool: `hub/close*` of the agent "clerk" matches nothing.' },
    { code: 'tool_missing', message: '"empty" has no tools: `empty/*` of the agent "clerk" matches nothing.' },
  ])
  expect(diagnostics).toEqual([])
})

it('that is required fails the session before anything is stored', async () => {
  const hub = server('hub', [], { required: true })
  hub.fail('no connection')
  const { runtime, store } = world({ config: { tools: [hub.source] }, steps: [{ text: 'One.' }] })
  expect(await bounded(runtime.run('go'))).toMatchObject({ status: 'failed', message: expect.stringContaining('no connection') })
  expect(await store.trees.list()).toEqual([])
})

it('leaves out invalid tools and names outside its own, and reports them', async () => {
  const bad: SessionToolSource = {
    name: 'hub',
    open: () => ({ list: async () => [tool('hub/ok'), tool('shell'), { ...tool('hub/none'), description: '' }, tool('hub/ok')] }),
  }
  const { runtime, model } = world({ config: { tools: [bad] }, steps: [{ text: 'One.' }] })
  const { diagnostics } = await bounded(runtime.run('go'))
  expect(withoutOwn(offered(model.requests[0]))).toEqual(['hub__ok'])
  expect(diagnostics.map(({ code }) => code)).toEqual(['tool_invalid', 'tool_invalid', 'tool_invalid'])
})

it('cannot replace a tool of the program', async () => {
  const hub = server('hub', ['find', 'open'])
  const own = tool('hub__find', { execute: () => 'of the program' })
  const steps = [{ calls: [{ tool: 'hub__find', input: {} }] }, { text: 'One.' }]
  const { runtime, model } = world({ config: { tools: [own, hub.source] }, steps })
  await bounded(runtime.run('go'))
  expect(withoutOwn(offered(model.requests[0]))).toEqual(['hub__find', 'hub__open'])
  expect(JSON.stringify(model.requests[1])).toContain('of the program')
})

it('is opened only for agents that may use it, and shared with children', async () => {
  const [hub, other] = [server('hub', ['find']), server('other', ['read'])]
  const { runtime, model } = world({
    config: {
      agents: [
        { name: 'lead', description: 'Leads', prompt: 'Lead.', model: 'm', tools: [], agents: ['scout'] },
        { name: 'scout', description: 'Finds', prompt: 'Find.', model: 'm', tools: ['hub/*'] },
      ],
      tools: [hub.source, other.source],
    },
    steps: [
      { calls: [{ tool: 'agent__scout', input: { prompt: 'x' } }] },
      { calls: [{ tool: 'hub__find', input: {} }] },
      { text: 'Found.' },
      { text: 'Done.' },
    ],
  })
  const outcome = await bounded(runtime.run('go', { agent: 'lead' }))
  expect(outcome).toMatchObject({ status: 'completed' })
  expect(withoutOwn(offered(model.requests[1]))).toEqual(['hub__find'])
  expect([hub.sessions.map(({ sessionId }) => sessionId), other.sessions]).toEqual([[outcome.sessionId], []])
})

it('adds its instructions to the history once', async () => {
  const hub = server('hub', ['find'], { instructions: 'Search before you open.' })
  const { runtime, model } = world({ config: { tools: [hub.source] }, steps: [{ text: 'One.' }, { text: 'Two.' }] })
  const handle = runtime.stream('go')
  await bounded(handle.outcome)
  hub.change(['find', 'open'])
  await handle.send('again')
  await bounded(runtime.sessions.outcome(handle.sessionId))
  const texts = JSON.stringify(model.requests[1]).split('Search before you open.').length - 1
  expect(texts).toBe(1)
})

it('is closed with the runtime, when its session is released, and when an idle session has waited long enough', async () => {
  const hub = server('hub', ['find'])
  const { runtime, clock } = world({ config: { tools: [hub.source] }, steps: [{ text: 'a' }, { text: 'b' }, { text: 'c' }] })
  const [one, two, three] = [await runtime.run('1'), runtime.stream('2'), runtime.stream('3')]
  await Promise.all([two.outcome, three.outcome])
  expect(hub.closed).toEqual([])
  await two.release()
  expect(hub.closed).toEqual([two.sessionId])
  clock.advance(5 * 60_000)
  await settle()
  expect(hub.closed).toEqual([two.sessionId, one.sessionId, three.sessionId])
  expect(hub.listeners.size).toBe(0)
  await runtime.close()
})

/** A source that lists once and then never again. */
function hangingLater() {
  let change = (): void => {}
  let lists = 0
  const source: SessionToolSource = {
    name: 'hub',
    open: () => ({
      list: () => (lists++ === 0 ? Promise.resolve([tool('hub/find')]) : new Promise(() => {})),
      onChange(listener) {
        change = listener
        return () => {}
      },
    }),
  }
  return { source, change: () => change(), lists: () => lists }
}

it('that never answers costs its own tools after five minutes', async () => {
  const hub = hangingLater()
  const { runtime, clock, model } = world({ config: { tools: [hub.source] }, steps: [{ text: 'One.' }, { text: 'Two.' }] })
  const handle = runtime.stream('go')
  await bounded(handle.outcome)
  hub.change()
  const sending = handle.send('again')
  await settle()
  expect(hub.lists()).toBe(2)
  clock.advance(5 * 60_000)
  await bounded(sending)
  expect(await bounded(runtime.sessions.outcome(handle.sessionId))).toMatchObject({
    status: 'completed',
    diagnostics: [{ message: 'The tools of "hub" are not available: list() has not answered within 5 minutes' }],
  })
  expect(withoutOwn(offered(model.requests[1]))).toEqual([])
})

it.each(['idle', 'open'])('that never answers does not keep the runtime from closing, if its session is %s', async (state) => {
  const hub = hangingLater()
  const { runtime } = world({ config: { tools: [hub.source] }, steps: [{ text: 'One.' }, { text: 'Two.' }] })
  const { sessionId } = await bounded(runtime.run('go'))
  if (state === 'open') await runtime.open(sessionId)
  hub.change()
  const sending = runtime.sessions.send(sessionId, 'again')
  await settle()
  expect(hub.lists()).toBe(2)
  await bounded(runtime.close())
  await bounded(sending)
})

it('is closed with the runtime, also if a newer configuration has no sources', async () => {
  const hub = server('hub', ['find'])
  const { runtime } = world({ config: { tools: [hub.source] }, steps: [{ text: 'One.' }] })
  const { sessionId } = await bounded(runtime.run('go'))
  await runtime.update({ agents: [agent] })
  await bounded(runtime.close())
  expect(hub.closed).toEqual([sessionId])
})
