import { describe, expect, test } from 'vitest'
import { type CallResult, connect, kinds, transports } from './mcp-clients.ts'
import { mcpScene, type Scene } from './mcp-scene.ts'

const textOf = ({ content }: CallResult): string => content.map(({ text }) => text).join('\n')

const everywhere = kinds.flatMap((kind) => transports.map((transport) => ({ kind, transport })))

// Over stdio, the server is a process of its own.
test.each(everywhere)('$kind over $transport: list, call, progress and approval', async ({ kind, transport }) => {
  const url = transport === 'stdio' ? '' : (await mcpScene()).url
  const asked: string[] = []
  const client = await connect({
    kind,
    transport,
    url,
    elicit(form) {
      asked.push(form.message)
      return { action: 'accept', content: { decision: 'approve once' } }
    },
  })
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(['echo', 'typed', 'worker'])
  const echoed = await client.callTool('echo', { prompt: 'good morning' })
  expect(echoed.content).toEqual([{ type: 'text', text: 'good morning' }])
  expect(echoed._meta?.sessionId).toEqual(expect.any(String))
  const typed = await client.callTool('typed', { city: 'Bern' })
  expect(typed.structuredContent).toEqual({ city: 'Bern' })
  expect(textOf(typed)).toBe('{"city":"Bern"}')
  const messages: (string | undefined)[] = []
  // Libraries drop progress that arrives together with the result, which is likely on a busy machine.
  for (let calls = 0; calls < 5 && messages.length === 0; calls++) {
    const helped = await client.callTool(
      'worker',
      { prompt: 'call agent__helper' },
      { onprogress: ({ message }) => messages.push(message) },
    )
    expect(textOf(helped)).toContain('from the worker')
  }
  expect(messages[0]).toContain('helper')
  expect(textOf(await client.callTool('worker', { prompt: 'call guarded' }))).toBe('opened')
  expect(asked).toEqual([expect.stringContaining('Approve: Open the door')])
})

describe.each(kinds)('%s', (kind) => {
  const http = (scene: Scene, more: Partial<Parameters<typeof connect>[0]> = {}) =>
    connect({ kind, transport: 'http', url: scene.url, ...more })

  test('describes agents', async () => {
    const client = await http(await mcpScene())
    const { tools } = await client.listTools()
    expect(tools[0]).toMatchObject({
      name: 'echo',
      title: 'Echo',
      description: 'Repeats.\nInput: any text',
      inputSchema: {
        type: 'object',
        properties: { prompt: { type: 'string' }, format: { enum: ['markdown', 'text', 'json'] }, schema: { type: 'object' } },
        required: ['prompt'],
      },
    })
    expect(tools[1]).toMatchObject({
      inputSchema: { properties: { city: { type: 'string' }, format: { enum: ['json'] } }, required: ['city'] },
      outputSchema: { type: 'object', properties: { city: { type: 'string' } } },
    })
  })

  test('progress arrives while a tool works', async () => {
    const scene = await mcpScene()
    const client = await http(scene)
    const [started, holding] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const numbers: number[] = []
    const call = client.callTool(
      'worker',
      { prompt: 'call hold' },
      {
        onprogress({ progress, message }) {
          numbers.push(progress)
          if (message === 'half way') holding.resolve()
          else started.resolve()
        },
      },
    )
    const held = await scene.nextHeld()
    await started.promise
    held.progress('half way')
    await holding.promise
    held.release()
    expect(textOf(await call)).toBe('held')
    expect(numbers).toEqual(numbers.toSorted((one, other) => one - other))
  })

  test('refuses wrong arguments, unknown tools and wrong formats', async () => {
    const client = await http(await mcpScene())
    const noPrompt = await client.callTool('echo', { text: 'x' })
    expect(noPrompt.isError).toBe(true)
    expect(textOf(noPrompt)).toContain('prompt')
    const typed = await client.callTool('typed', { city: 7, country: 'CH' })
    expect(typed.isError).toBe(true)
    expect(textOf(typed)).toMatch(/country/)
    await expect(client.callTool('nobody', {})).rejects.toThrow(/There is no tool "nobody". Use one of: echo, typed, worker/)
    const noSchema = await client.callTool('echo', { prompt: 'x', format: 'json' })
    expect(noSchema.isError).toBe(true)
    expect(textOf(noSchema)).toContain('format=json needs a schema: the agent "echo" has none of its own.')
    expect(textOf(await client.callTool('typed', { city: 'Bern', format: 'markdown' }))).toContain('its own schema')
    expect(textOf(await client.callTool('echo', { prompt: 'x', format: 'yaml' }))).toContain('markdown, text or json')
  })

  test('answers in the schema of the caller', async () => {
    const client = await http(await mcpScene())
    const schema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] }
    const result = await client.callTool('echo', { prompt: '{"a":1}', format: 'json', schema })
    expect(result.structuredContent).toEqual({ a: 1 })
  })

  test('a failed turn is an error result with its reason', async () => {
    const client = await http(await mcpScene())
    const failed = await client.callTool('worker', { prompt: 'fail' })
    expect(failed.isError).toBe(true)
    expect(textOf(failed)).toContain('The key is wrong.')
  })

  test('a cancelled call interrupts its session', async () => {
    const scene = await mcpScene()
    const client = await http(scene)
    const stop = new AbortController()
    const call = client.callTool('worker', { prompt: 'call hold' }, { signal: stop.signal })
    const held = await scene.nextHeld()
    stop.abort()
    await expect(call).rejects.toThrow()
    await aborted(held.signal)
    const [session] = await scene.runtime.sessions.list()
    expect((await scene.runtime.sessions.outcome(session?.sessionId ?? '')).status).toBe('interrupted')
  })

  test('a client that leaves interrupts its sessions', async () => {
    const scene = await mcpScene()
    const client = await http(scene)
    const call = client.callTool('worker', { prompt: 'call hold' }).catch(() => 'left')
    const held = await scene.nextHeld()
    await client.close()
    expect(await call).toBe('left')
    await aborted(held.signal)
  })

  test('a denial reaches the agent with its feedback', async () => {
    const scene = await mcpScene()
    const client = await http(scene, { elicit: () => ({ action: 'accept', content: { decision: 'deny', feedback: 'use the window' } }) })
    expect(textOf(await client.callTool('worker', { prompt: 'call guarded' }))).toContain('use the window')
    expect(scene.audited).toEqual([expect.objectContaining({ action: 'approval.deny', by: 'local' })])
  })

  test('an approval for the session is asked once', async () => {
    let asked = 0
    const client = await http(await mcpScene(), {
      elicit() {
        asked++
        return { action: 'accept', content: { decision: 'approve for the session' } }
      },
    })
    expect(textOf(await client.callTool('worker', { prompt: 'call guarded, call guarded' }))).toBe('opened; opened')
    expect(asked).toBeLessThanOrEqual(2)
  })

  test.each(['asks', 'asks_live'])('a question of a tool is a form: %s', async (tool) => {
    const forms: object[] = []
    const client = await http(await mcpScene({ approver: { decide: ({ isLive }) => (isLive ? 'wait' : 'suspend') } }), {
      elicit(form) {
        forms.push(form.requestedSchema.properties)
        return { action: 'accept', content: { name: 'blue' } }
      },
    })
    expect(textOf(await client.callTool('worker', { prompt: `call ${tool}` }))).toContain('color {"name":"blue"}')
    expect(forms).toEqual([{ name: { type: 'string', enum: ['red', 'blue'] } }])
  })

  test.each([
    ['a client that cannot ask', {}],
    ['a person who dismisses the form', { elicit: () => ({ action: 'cancel' as const }) }],
  ])('%s: the call ends, and the session continues when somebody answers', async (_, more) => {
    const scene = await mcpScene()
    const client = await http(scene, more)
    const waiting = await client.callTool('worker', { prompt: 'call guarded' })
    expect(waiting.isError).toBe(true)
    expect(textOf(waiting)).toMatch(/Needs approval[\s\S]*session:\/\//)
    const { sessionId, approvals } = waiting._meta as { sessionId: string; approvals: { id: string }[] }
    await scene.runtime.sessions.approve(sessionId, { approvalId: approvals[0]?.id ?? '', decision: { kind: 'approve', breadth: 'once' } })
    const outcome = await scene.runtime.sessions.outcome(sessionId)
    expect(outcome.report?.text).toBe('opened')
  })

  test('a token without the scope approve cannot answer', async () => {
    const scene = await mcpScene()
    const token = await scene.token({ name: 'runner', scopes: ['run'] })
    let asked = 0
    const client = await http(scene, {
      token,
      elicit() {
        asked++
        return { action: 'accept', content: { decision: 'approve once' } }
      },
    })
    const waiting = await client.callTool('worker', { prompt: 'call guarded' })
    expect(textOf(waiting)).toContain('lacks the scope "approve"')
    expect(asked).toBe(0)
    // Its clients cannot read sessions, either.
    expect(await client.listResources().catch(() => ({ resources: [] }))).toEqual({ resources: [] })
  })

  test('the own sessions are resources', async () => {
    const scene = await mcpScene()
    const client = await http(scene)
    const { _meta } = await client.callTool('echo', { prompt: 'good morning' })
    const uri = `session://${_meta?.sessionId}`
    expect((await client.listResources()).resources).toEqual([expect.objectContaining({ uri, mimeType: 'text/markdown' })])
    expect((await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'session://{id}',
      'session://{id}/events',
    ])
    const [transcript] = (await client.readResource(uri)).contents
    expect(transcript?.text).toMatch(/## User\n\ngood morning\n\n## Agent\n\ngood morning/)
    const [events] = (await client.readResource(`${uri}/events`)).contents
    expect(JSON.parse(events?.text ?? '')).toContainEqual(expect.objectContaining({ type: 'interaction.turn.completed' }))
    const other = await http(scene, { token: await scene.token({ name: 'other' }) })
    expect((await other.listResources()).resources).toEqual([])
    await expect(other.readResource(uri)).rejects.toThrow(/not found/)
  })

  test('pages of resources', async () => {
    const scene = await mcpScene()
    for (let count = 0; count < 60; count++)
      await scene.runtime.sessions.outcome(
        await scene.runtime.sessions.start('x', { agent: 'echo', principal: { id: 'local', kind: 'local' } }),
      )
    const client = await http(scene)
    const all: string[] = []
    // The newer library reads all pages without a cursor.
    for (let page = await client.listResources(); ; page = await client.listResources(page.nextCursor)) {
      all.push(...page.resources.map(({ uri }) => uri))
      if (page.nextCursor === undefined) break
    }
    expect(all).toHaveLength(60)
    expect(new Set(all).size).toBe(60)
    await expect(client.listResources('later')).rejects.toThrow(/cursor/)
  })
})

const aborted = (signal: AbortSignal): Promise<void> =>
  signal.aborted ? Promise.resolve() : new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
