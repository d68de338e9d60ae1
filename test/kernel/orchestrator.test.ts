import { afterEach, expect, it } from 'vitest'
import type { AgentResult, BusEvent, ExtensionContext, Tool } from '../../src/contracts/index.ts'
import { kernelScene, requestText, type Scene, type SceneOptions, toolNames } from './kernel-scene.ts'

const scenes: Scene[] = []
afterEach(async () => {
  for (const scene of scenes.splice(0)) await scene.close()
})
async function scene(options: SceneOptions): Promise<Scene> {
  const created = await kernelScene(options)
  scenes.push(created)
  return created
}

const tool = (name: string, more: Partial<Tool> = {}): Tool => ({
  name,
  description: `does ${name}`,
  inputSchema: { type: 'object', properties: {} },
  effect: 'read',
  execute: () => `${name} done`,
  ...more,
})
const withTools = (...names: readonly string[]) => ({ getTools: () => names.map((name) => tool(name)) })
const call = (name: string, input: object = { task: 'Do it' }) => ({ calls: [{ tool: name, input: { ...input, reason: 'r' } }] })

it('shows each agent its own tools and those of uses_tools, and nobody else the tools for agents', async () => {
  const { ask, models, kernel } = await scene({
    extensions: [
      { id: 'kv', instance: withTools('get'), manifest: { naturalLanguageDescription: 'Key-value storage\nfor data.\n' } },
      { id: 'shell', instance: withTools('run'), manifest: { visibility: 'agents' } },
      { id: 'web', instance: withTools('fetch') },
      { id: 'reviewer', agent: { usesTools: ['kv'] }, instance: withTools('note'), manifest: { visibility: 'agents' } },
      { id: 'builder', agent: { usesTools: ['shell', 'reviewer'], instructions: '' } },
    ],
    models: {
      main: [call('agent__reviewer'), call('agent__builder'), { text: 'Done.' }],
      small: [{ text: 'Reviewed.' }, call('shell__run', {}), { text: 'Built.' }],
    },
    projectAgents: [{ name: 'trip', description: 'Plans trips', prompt: 'You plan.', model: 'main', tools: ['*'] }],
  })
  const outcome = await ask('Go')
  expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Done.' } })
  expect(toolNames(models.main)).toEqual(['agent__builder', 'agent__reviewer', 'agent__trip', 'kv__get', 'list_extensions', 'web__fetch'])
  expect(toolNames(models.small, 0)).toEqual(['kv__get', 'reviewer__note'])
  expect(toolNames(models.small, 1)).toEqual(['agent__reviewer', 'reviewer__note', 'shell__run'])
  expect(models.main?.requests[0]?.system).toBe(
    [
      'You are the orchestrator.',
      'Available tools:\n- kv: Key-value storage for data.\n- web: Description of web',
      'Available agents:\n- reviewer: Description of reviewer\n- builder: Description of builder\n- trip: Plans trips',
    ].join('\n\n'),
  )
  expect(models.small?.requests[0]?.system).toBe('You are reviewer.')
  expect(kernel.status().map(({ id, state, capabilities }) => [id, state, ...capabilities])).toEqual([
    ['kv', 'running', 'tools'],
    ['shell', 'running', 'tools'],
    ['web', 'running', 'tools'],
    ['reviewer', 'running', 'tools', 'agent'],
    ['builder', 'running', 'agent'],
  ])
})

it('keeps tools of extensions from agents of the project, whatever their patterns match', async () => {
  const { runtime, models } = await scene({
    extensions: [{ id: 'kv', instance: withTools('get') }],
    models: { main: [{ text: 'Yes.' }] },
    tools: [tool('look'), tool('peek')],
    projectAgents: [{ name: 'trip', description: 'Plans trips', prompt: 'You plan.', model: 'main', tools: ['*'] }],
  })
  await runtime.run('Go', { agent: 'trip' })
  expect(toolNames(models.main)).toEqual(['look', 'peek'])
})

it('runs invoke with startAgent as a child of the call, and publishes each event once', async () => {
  const events: BusEvent[] = []
  let context: ExtensionContext | undefined
  const results: AgentResult[] = []
  const { ask, models, store } = await scene({
    extensions: [
      {
        id: 'watcher',
        instance: {
          initialize(given) {
            for (const name of ['agent_invoked', 'agent_result', 'agent_error']) given.subscribe(name, (event) => void events.push(event))
          },
        },
      },
      {
        id: 'reviewer',
        agent: {},
        instance: {
          initialize(given) {
            context = given
          },
          getAgentDescriptor: () => ({ name: 'R', description: 'Reviews code.', integrationMode: 'tool' }),
          async invoke(task, given, { correlationId, person }) {
            const first = await context?.startAgent(`First: ${task}`, { context: { given: given ?? {} }, instructions: 'Be brief.' })
            const second = await context?.startAgent('Second', { output: { type: 'object', properties: { n: { type: 'number' } } } })
            if (first && second) results.push(first, second)
            return { status: 'completed', content: `${first?.content} ${correlationId !== ''} ${person?.id}` }
          },
        },
      },
    ],
    models: {
      main: [call('agent__reviewer', { task: 'Look', context: { file: 'a.ts' } }), { text: 'Done.' }],
      small: [{ text: 'Fine.', usage: { input: 7, output: 2 } }, { text: '{"n":1}' }],
    },
  })
  const outcome = await ask('Go')
  expect(outcome.status).toBe('completed')
  expect(requestText(models.main, 1)).toContain('Fine. true undefined')
  expect(models.main?.requests[0]?.tools.find(({ name }) => name === 'agent__reviewer')?.description).toBe('Reviews code.')
  expect(requestText(models.small)).toContain('First: Look')
  expect(models.small?.requests[0]?.system).toContain('Be brief.')
  expect(results).toMatchObject([
    { status: 'completed', content: 'Fine.', usage: { input: 7, output: 2 } },
    { status: 'completed', value: { n: 1 } },
  ])
  expect((await store.trees.list({})).length).toBe(1)
  await expect.poll(() => events.map(({ name }) => name)).toEqual(['agent_invoked', 'agent_result'])
  expect(events[0]).toMatchObject({
    data: { agent: 'reviewer', task: 'Look' },
    correlationId: `${outcome.sessionId}.input`,
    source: 'kernel',
  })
  expect(events[1]).toMatchObject({ data: { agent: 'reviewer', status: 'completed' }, correlationId: `${outcome.sessionId}.input` })
})

it.each([
  ['throws', () => Promise.reject(new Error('no disk')), 'invoke failed: no disk'],
  ['returns nonsense', () => 7 as unknown as string, '`invoke` returned 7, expected a text or { status, content }'],
  ['fails with a text', () => ({ status: 'failed', error: 'no more tea' }) as never, 'no more tea'],
  ['fails with nonsense', () => ({ status: 'failed', error: 7 }) as never, '`invoke` returned the error 7, expected a text or'],
  ['fails', () => ({ status: 'failed', content: 'half', error: { class: 'odd', message: 'gave up' } }) as const, 'gave up'],
])('an agent that %s is a failed call, and the conversation goes on', async (_, invoke, message) => {
  const names: string[] = []
  const { ask, models, diagnostics } = await scene({
    extensions: [
      { id: 'watcher', instance: { initialize: (given) => void given.subscribe('agent_error', ({ name }) => void names.push(name)) } },
      { id: 'bad', agent: {}, instance: { invoke } },
    ],
    models: { main: [call('agent__bad'), { text: 'It failed.' }], small: [] },
  })
  const outcome = await ask('Go')
  expect(outcome).toMatchObject({ status: 'completed', report: { text: 'It failed.' } })
  expect(outcome.accounting).toContainEqual(expect.objectContaining({ kind: 'call', tool: 'agent__bad', status: 'failed' }))
  expect(requestText(models.main, 1)).toContain(message)
  expect(diagnostics.map(({ message }) => message)).toEqual([expect.stringContaining('its steps and tokens cannot be seen')])
  await expect.poll(() => names).toEqual(['agent_error'])
})

it('fails the agent whose model cannot be used, and runs the rest', async () => {
  const { ask, models, kernel, diagnostics } = await scene({
    extensions: [
      { id: 'kv', instance: withTools('get') },
      { id: 'lost', agent: { model: 'unknown/model' }, instance: withTools('see') },
      { id: 'fine', agent: { usesTools: ['lost'] } },
    ],
    models: { main: [{ text: 'Hello.' }], small: [] },
  })
  expect(await ask('Go')).toMatchObject({ status: 'completed' })
  expect(toolNames(models.main)).toEqual(['agent__fine', 'kv__get', 'list_extensions', 'lost__see'])
  expect(models.main?.requests[0]?.system).not.toContain('- lost: Description of lost\n- ')
  const lost = kernel.status().find(({ id }) => id === 'lost')
  expect(lost).toMatchObject({ state: 'running', capabilities: ['tools'] })
  expect(lost?.problems[0]?.message).toBe('the model unknown/model cannot be used: there is no model unknown/model')
  expect(diagnostics).toEqual([expect.objectContaining({ level: 'warn', source: 'lost' })])
})

it('starts an agent in a session of its own outside of a call', async () => {
  let context: ExtensionContext | undefined
  const { runtime, models } = await scene({
    extensions: [
      {
        id: 'monitor',
        agent: {},
        instance: {
          initialize(given) {
            context = given
          },
        },
      },
    ],
    models: { main: [], small: [{ text: 'All fine.' }] },
  })
  expect(await context?.startAgent('Check', { context: { page: 1 } })).toMatchObject({ status: 'completed', content: 'All fine.' })
  expect(requestText(models.small)).toContain('Check')
  const [session] = await runtime.sessions.list()
  expect(session).toMatchObject({ agent: 'monitor', owner: 'agent:monitor', labels: ['extension:monitor'], status: 'completed' })
})

it('asks the agent of a dependency through its invoke', async () => {
  let context: ExtensionContext | undefined
  await scene({
    extensions: [
      { id: 'base', agent: {}, instance: { invoke: (task) => `did ${task}` } },
      {
        id: 'user',
        manifest: { dependsOn: ['base'] },
        instance: {
          initialize(given) {
            context = given
          },
        },
      },
    ],
    models: { main: [], small: [] },
  })
  expect(await context?.invokeAgent('base', 'it')).toEqual({ status: 'completed', content: 'did it' })
})

it('starts the agent that names an event', async () => {
  let context: ExtensionContext | undefined
  const { models } = await scene({
    extensions: [
      {
        id: 'source',
        instance: {
          initialize(given) {
            context = given
          },
        },
      },
      { id: 'agent', agent: {}, manifest: { events: ['mail_arrived'] } },
    ],
    models: { main: [], small: [{ text: 'Sorted.' }] },
  })
  await context?.publish('mail_arrived', { from: 'ada' })
  await expect.poll(() => requestText(models.small)).toContain('mail_arrived')
  expect(requestText(models.small)).toContain('ada')
})

it('adds the texts of context providers by priority once per turn, and reports those that fail', async () => {
  const { ask, models, diagnostics } = await scene({
    extensions: [
      { id: 'low', instance: { getContext: () => ({ text: 'Low text' }) } },
      { id: 'high', instance: { getContext: ({ agent }) => ({ text: `High text for ${agent}`, priority: 5 }) } },
      { id: 'huge', instance: { getContext: () => ({ text: 'x'.repeat(9_000), priority: 9 }) } },
      { id: 'broken', instance: { getContext: () => Promise.reject(new Error('no memory')) } },
      { id: 'kv', instance: withTools('get') },
    ],
    models: { main: [call('kv__get', {}), { text: 'Done.' }] },
  })
  await ask('Go')
  const [first, second] = [requestText(models.main), requestText(models.main, 1)]
  expect(first.indexOf('High text for orchestrator')).toBeGreaterThan(0)
  expect(first.indexOf('Low text')).toBeGreaterThan(first.indexOf('High text'))
  expect(first).not.toContain('xxx')
  expect(second.split('Low text')).toHaveLength(2)
  expect(diagnostics.map(({ source, message }) => `${source} ${message}`)).toEqual([
    expect.stringContaining('broken broken: getContext failed'),
  ])
})

it('does not wait in every turn for an extension whose context is late', async () => {
  let asked = 0
  const hanging = () => {
    asked++
    return new Promise<never>(() => {})
  }
  const { ask, clock } = await scene({
    extensions: [{ id: 'slow', instance: { getContext: hanging } }],
    models: { main: Array.from({ length: 3 }, () => ({ text: 'Done.' })) },
  })
  const late = ask('Go')
  await expect.poll(() => asked).toBe(1)
  await clock.elapse(5_000)
  await late
  await ask('Go on')
  expect(asked).toBe(1)
  await clock.elapse(60_000)
  const again = ask('And now?')
  await expect.poll(() => asked).toBe(2)
  await clock.elapse(5_000)
  await again
})

it('publishes which extensions have started, and which failed', async () => {
  const seen: string[] = []
  await scene({
    extensions: [
      {
        id: 'watcher',
        instance: {
          initialize(given) {
            given.subscribe('extension_started', ({ data }) => void seen.push(`started ${(data as { id: string }).id}`))
            given.subscribe('extension_error', ({ data }) => void seen.push(`error ${(data as { source: string }).source}`))
          },
        },
      },
      { id: 'late', instance: { start: () => Promise.reject(new Error('no port')) } },
      { id: 'kv', instance: withTools('get') },
    ],
    models: { main: [] },
  })
  await expect.poll(() => seen.toSorted()).toEqual(['error late', 'started kv', 'started watcher'])
})

it('tells the orchestrator what the person was sent, and publishes it', async () => {
  const seen: BusEvent[] = []
  const sent: string[] = []
  let context: ExtensionContext | undefined
  const { models } = await scene({
    extensions: [
      {
        id: 'chat',
        instance: {
          initialize(given) {
            context = given
            given.subscribe('notification', (event) => void seen.push(event))
          },
          sendToUser: (_user, { text }) => void sent.push(text),
        },
      },
    ],
    models: { main: [{ text: 'Hello.' }, { text: 'As I said.' }] },
  })
  await context?.onUserMessage({ userId: 'ada', text: 'Hi' })
  await expect.poll(() => sent).toEqual(['Hello.'])
  await context?.notifyUser('The price has changed.')
  await expect.poll(() => seen.map(({ data }) => data)).toMatchObject([{ userId: 'ada', text: 'The price has changed.', speaker: 'chat' }])
  await context?.onUserMessage({ userId: 'ada', text: 'What?' })
  await expect.poll(() => sent).toEqual(['Hello.', 'The price has changed.', 'As I said.'])
  expect(requestText(models.main, 1)).toContain('The person was sent this message meanwhile: The price has changed.')
})

it('answers list_extensions with states, problems and remedies', async () => {
  const { ask, models } = await scene({
    extensions: [
      { id: 'bad', instance: { initialize: () => Promise.reject(new Error('no key')) } },
      { id: 'needy', manifest: { dependsOn: ['bad'] } },
      { id: 'off', manifest: { enabled: false } },
      { id: 'kv', instance: withTools('get') },
    ],
    models: { main: [call('list_extensions', {}), { text: 'Done.' }] },
  })
  await ask('What works?')
  const text = requestText(models.main, 1)
  expect(text).toContain('- bad (failed, project): Description of bad')
  expect(text).toMatch(/no key.*troupe extensions validate bad/)
  expect(text).toContain('it needs `bad`, which failed')
  expect(text).toContain('- off (disabled, project)')
  expect(text).toContain('- kv (running, project, tools)')
})

it('stops agents that wake each other by events', async () => {
  let context: ExtensionContext | undefined
  let runs = 0
  const { diagnostics } = await scene({
    extensions: [
      {
        id: 'echo',
        agent: {},
        manifest: { events: ['ping'] },
        instance: {
          initialize(given) {
            context = given
          },
          getTools: () => [tool('pong', { execute: async () => (await context?.publish('ping', {})) ?? 'sent' })],
        },
      },
    ],
    models: {
      main: [],
      small: Array.from({ length: 60 }, (_, index) => () => {
        if (index % 2 === 0) runs++
        return index % 2 === 0 ? call('echo__pong', {}) : { text: 'Done.' }
      }),
    },
  })
  await context?.publish('ping', {})
  await expect.poll(() => diagnostics.map(({ message }) => message).join(), { timeout: 5_000 }).toMatch(/16 events that led to each other/)
  expect(runs).toBe(16)
})

it('publishes the events of an agent that another one asks inside of its call', async () => {
  const events: BusEvent[] = []
  let context: ExtensionContext | undefined
  const { ask } = await scene({
    extensions: [
      {
        id: 'watcher',
        instance: {
          initialize(given) {
            for (const name of ['agent_invoked', 'agent_result']) given.subscribe(name, (event) => void events.push(event))
          },
        },
      },
      { id: 'base', agent: {}, instance: { invoke: (task) => `did ${task}` } },
      {
        id: 'outer',
        agent: {},
        manifest: { dependsOn: ['base'] },
        instance: {
          initialize(given) {
            context = given
          },
          invoke: async () =>
            `${(await context?.invokeAgent('base', 'one'))?.content} ${(await context?.invokeAgent('base', 'two'))?.content}`,
        },
      },
    ],
    models: { main: [call('agent__outer'), { text: 'Done.' }], small: [] },
  })
  const { sessionId } = await ask('Go')
  await expect.poll(() => events.length).toBe(6)
  expect(events.map(({ name, data }) => `${name} ${(data as { agent: string }).agent}`)).toEqual([
    'agent_invoked outer',
    'agent_invoked base',
    'agent_result base',
    'agent_invoked base',
    'agent_result base',
    'agent_result outer',
  ])
  expect(new Set(events.map(({ correlationId }) => correlationId))).toEqual(new Set([`${sessionId}.input`]))
})
