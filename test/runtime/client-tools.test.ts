import { describe, expect, it } from 'vitest'
import { type ClientTool, createAgentRuntime, type Hook, type Tool, type TreeId } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { ScriptedModel, type ScriptedStepSource } from '../../src/testing/index.ts'
import { resultsIn, tool } from '../acceptance/support.ts'

// Tools that the client of a session brings and runs.

const clientTool = (name: string): ClientTool => ({
  name,
  description: `Does ${name}`,
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
})

interface Setup {
  readonly steps: readonly ScriptedStepSource[]
  readonly tools?: readonly Tool[]
  readonly agent?: object
  readonly store?: ReturnType<typeof memoryStore>
  readonly model?: ScriptedModel
  readonly hooks?: readonly Hook[]
  readonly overlay?: { readonly [name: string]: string }
}

function world({
  steps,
  tools = [],
  agent = {},
  store = memoryStore(),
  model = new ScriptedModel([...steps]),
  hooks = [],
  overlay = {},
}: Setup) {
  const runtime = createAgentRuntime({
    config: { agents: [{ name: 'coder', description: 'Codes', prompt: 'You code.', model: 'any', ...agent }], tools, overlay },
    adapter: model,
    store,
    hooks,
  })
  return { runtime, model, store, sessions: runtime.sessions }
}

const result = (content: string, more = {}) => ({ kind: 'result', ok: true, content, ...more }) as const

describe('tools of a client', () => {
  it('are offered beside those of the agent as they are; a call suspends the turn, and its result continues it', async () => {
    const { sessions, model } = world({
      steps: [{ calls: [{ tool: 'Edit', input: { path: 'a.ts', odd: 1 } }] }, { text: 'Edited.' }],
    })
    const id = await sessions.start('fix it', { clientTools: [clientTool('Edit')] })
    const waiting = await sessions.outcome(id)
    expect(waiting).toMatchObject({ status: 'suspended', reason: 'client' })
    expect(model.requests[0]?.tools).toContainEqual(clientTool('Edit'))
    const calls = await sessions.clientCalls(id)
    expect(calls).toMatchObject([{ tool: 'Edit', input: { path: 'a.ts', odd: 1 } }])
    expect(await sessions.requests(id)).toEqual([])
    expect(await sessions.get(id)).toMatchObject({ status: 'suspended', openRequests: 0 })
    await sessions.approve(id, { approvalId: calls[0]!.id, decision: result('Done: a.ts') })
    expect(await sessions.outcome(id)).toMatchObject({ status: 'completed', report: { text: 'Edited.' } })
    expect(resultsIn(model.requests[1])).toMatchObject([{ ok: true, content: 'Done: a.ts' }])
  })

  it('own calls of the same step run first; those of the client wait together', async () => {
    const ran: string[] = []
    const look = (): string => {
      ran.push('look')
      return 'seen'
    }
    const own = { ...tool('look'), execute: look }
    const { sessions, model } = world({
      tools: [own],
      agent: { tools: ['look'], clientTools: 'allow' },
      steps: [{ calls: [{ tool: 'Edit' }, { tool: 'look' }, { tool: 'Bash' }] }, { text: 'Done.' }],
    })
    const id = await sessions.start('go', { clientTools: [clientTool('Edit'), clientTool('Bash')] })
    await sessions.outcome(id)
    expect(ran).toEqual(['look'])
    const calls = await sessions.clientCalls(id)
    expect(calls.map((call) => call.tool)).toEqual(['Edit', 'Bash'])
    await sessions.approve(id, { approvalId: calls[1]!.id, decision: { kind: 'result', ok: false, content: 'exit 1' } })
    expect(await sessions.outcome(id)).toMatchObject({ reason: 'client' })
    expect((await sessions.clientCalls(id)).map((call) => call.tool)).toEqual(['Edit'])
    await sessions.approve(id, { approvalId: calls[0]!.id, decision: result('ok') })
    expect(await sessions.outcome(id)).toMatchObject({ status: 'completed' })
    expect(resultsIn(model.requests[1])).toMatchObject([
      { content: 'ok' },
      { content: 'seen' },
      { ok: false, content: expect.stringContaining('exit 1') },
    ])
  })

  it('a name that the agent has already is offered with a prefix, and comes back without it', async () => {
    const { sessions, model } = world({
      tools: [tool('look')],
      agent: { clientTools: ['look'] },
      steps: [{ calls: [{ tool: 'client__look' }] }, { text: 'Done.' }],
    })
    const id = await sessions.start('go', { clientTools: [clientTool('look')] })
    await sessions.outcome(id)
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['client__look', 'look'])
    expect(await sessions.clientCalls(id)).toMatchObject([{ tool: 'look' }])
  })

  it('the choice of a tool means that of the client, although the agent has one of that name', async () => {
    for (const name of ['act', 'look']) {
      const { sessions, model } = world({ tools: [tool(name)], agent: { clientTools: 'allow' }, steps: [{ text: 'Hi.' }] })
      await sessions.outcome(await sessions.start('go', { clientTools: [clientTool(name)], toolChoice: { tool: name } }))
      expect(model.requests[0]?.toolChoice).toEqual({ tool: `client__${name}` })
    }
  })

  it('a name that is too long for some providers is offered in a shorter form, and comes back whole', async () => {
    for (const [length, taken] of [
      [100, []],
      [60, [tool('x'.repeat(60))]],
    ] as const) {
      const name = 'x'.repeat(length)
      const model = new ScriptedModel([({ tools }) => ({ calls: [{ tool: tools[0]!.name }] })])
      const { sessions } = world({ tools: taken, agent: { clientTools: 'allow' }, steps: [], model })
      const id = await sessions.start('go', { clientTools: [clientTool(name)], toolChoice: { tool: name } })
      await sessions.outcome(id)
      const offered = model.requests[0]!.tools[0]!.name
      expect(offered).toMatch(/^[\w-]{1,64}$/)
      expect(model.requests[0]?.toolChoice).toEqual({ tool: offered })
      expect(await sessions.clientCalls(id)).toMatchObject([{ tool: name }])
    }
  })

  it('many of them are all sent: the client decides which ones the model needs', async () => {
    const { sessions, model } = world({ steps: [{ text: 'Hi.' }] })
    const clientTools = Array.from({ length: 500 }, (_, index) => ({ ...clientTool(`tool_${index}`), description: 'x'.repeat(500) }))
    await sessions.outcome(await sessions.start('go', { clientTools }))
    expect(model.requests[0]?.tools).toHaveLength(500)
  })

  it('an agent with own tools refuses them, unless its definition allows them', async () => {
    const tools = [tool('look')]
    const { sessions } = world({ tools, steps: [] })
    await expect(sessions.start('go', { clientTools: [clientTool('Edit')] })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('takes no tools of clients named Edit'),
    })
    const some = world({ tools, agent: { clientTools: ['Re*'] }, steps: [{ text: 'Hi.' }] })
    await expect(some.sessions.start('go', { clientTools: [clientTool('Edit')] })).rejects.toMatchObject({ code: 'usage' })
    await some.sessions.start('go', { clientTools: [clientTool('Read')] })
    expect(await some.sessions.list()).toHaveLength(1)
  })

  it('a forced tool applies to one step', async () => {
    const { sessions, model } = world({ steps: [{ calls: [{ tool: 'Edit' }] }, { text: 'Done.' }] })
    const id = await sessions.start('go', { clientTools: [clientTool('Edit')], toolChoice: { tool: 'Edit' } })
    await sessions.outcome(id)
    const [call] = await sessions.clientCalls(id)
    await sessions.approve(id, { approvalId: call!.id, decision: result('ok') })
    await sessions.outcome(id)
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual([{ tool: 'Edit' }, 'auto'])
  })

  it('results may bring other tools, which the next step has', async () => {
    const { sessions, model } = world({ steps: [{ calls: [{ tool: 'Search' }] }, { calls: [{ tool: 'Found' }] }, { text: 'Done.' }] })
    const id = await sessions.start('go', { clientTools: [clientTool('Search')] })
    await sessions.outcome(id)
    const [search] = await sessions.clientCalls(id)
    const settings = { clientTools: [clientTool('Found')], toolChoice: 'required' } as const
    await sessions.approve(id, { approvalId: search!.id, decision: result('one'), settings })
    await sessions.outcome(id)
    expect(model.requests[1]).toMatchObject({ tools: [{ name: 'Found' }], toolChoice: 'required' })
    const [found] = await sessions.clientCalls(id)
    expect(found).toMatchObject({ tool: 'Found' })
    await sessions.approve(id, { approvalId: found!.id, decision: result('two') })
    expect(await sessions.outcome(id)).toMatchObject({ status: 'completed' })
  })

  it('results may bring other instructions, which the next step has', async () => {
    const calls = { calls: [{ tool: 'Edit' }] }
    const { sessions, model } = world({ steps: [calls, calls, calls, { text: 'Done.' }, { text: 'More.' }] })
    const id = await sessions.start('go', { clientTools: [clientTool('Edit')], instructions: 'One.' })
    for (const instructions of ['Two.', 'Two.', '']) {
      await sessions.outcome(id)
      const [call] = await sessions.clientCalls(id)
      await sessions.approve(id, { approvalId: call!.id, decision: result('ok'), settings: { instructions } })
    }
    await sessions.outcome(id)
    await sessions.send(id, 'more')
    await sessions.outcome(id)
    const prompts = model.requests.map(({ system }) => system)
    expect(prompts).toEqual(['You code.\n\nOne.', 'You code.\n\nTwo.', 'You code.\n\nTwo.', 'You code.', 'You code.'])
  })

  it('neither their results nor the instructions beside them are stored with secrets', async () => {
    const secret = 'sk-very-secret-1'
    const { sessions, store } = world({ steps: [{ calls: [{ tool: 'Edit' }] }, { text: 'Done.' }], overlay: { API_KEY: secret } })
    const id = await sessions.start('go', { clientTools: [clientTool('Edit')] })
    await sessions.outcome(id)
    const [call] = await sessions.clientCalls(id)
    const settings = { instructions: `The key is ${secret}.` }
    await sessions.approve(id, { approvalId: call!.id, decision: result(`found ${secret}`), settings })
    await sessions.outcome(id)
    const stored = [await store.inbox.read(id as TreeId, 0), await store.journal.read(id as TreeId, 0, 1_000)]
    expect(JSON.stringify(stored)).not.toContain(secret)
  })

  it('tools that come again are recorded once', async () => {
    const { sessions } = world({ steps: [{ calls: [{ tool: 'Edit' }] }, { text: 'Done.' }] })
    const settings = { clientTools: [clientTool('Edit')], toolChoice: 'auto', instructions: 'One.' } as const
    const id = await sessions.start('go', settings)
    await sessions.outcome(id)
    const [call] = await sessions.clientCalls(id)
    await sessions.approve(id, { approvalId: call!.id, decision: result('ok'), settings })
    expect(await sessions.outcome(id)).toMatchObject({ status: 'completed' })
    const { events } = await sessions.export(id)
    expect(events.map(({ type }) => type)).not.toContain('interaction.session.configured')
  })

  it('are stored again only if they have changed', async () => {
    const steps = [...['Edit', 'Edit', 'Read'].map((name) => ({ calls: [{ tool: name }] })), { text: 'Done.' }]
    const { sessions, model, store } = world({ steps })
    const known = { clientTools: [clientTool('Edit')], toolChoice: 'auto' } as const
    const id = await sessions.start('go', known)
    for (const settings of [known, { ...known, clientTools: [clientTool('Edit'), clientTool('Read')] }, known]) {
      await sessions.outcome(id)
      const [call] = await sessions.clientCalls(id)
      await sessions.approve(id, { approvalId: call!.id, decision: result('ok'), settings })
    }
    await sessions.outcome(id)
    expect(model.requests.map(({ tools }) => tools.length)).toEqual([1, 1, 2, 1])
    const stored = (rows: readonly object[]) => rows.filter((row) => JSON.stringify(row).includes('"clientTools"')).length
    const inbox = await store.inbox.read(id as TreeId, 0)
    const journal = await store.journal.read(id as TreeId, 0, 1_000)
    expect([stored(inbox), stored(journal)]).toEqual([2, 3])
  })

  it('continues in another runtime of the same store; the same result again changes nothing, another one is refused', async () => {
    const store = memoryStore()
    const model = new ScriptedModel([{ calls: [{ tool: 'Edit' }] }, { text: 'Done.' }])
    const first = world({ steps: [], store, model })
    const id = await first.sessions.start('go', { clientTools: [clientTool('Edit')] })
    await first.sessions.outcome(id)
    const [call] = await first.sessions.clientCalls(id)
    await first.runtime.close()
    const second = world({ steps: [], store, model })
    await second.sessions.approve(id, { approvalId: call!.id, decision: result('ok') })
    expect(await (await second.runtime.open(id)).outcome).toMatchObject({ status: 'completed', report: { text: 'Done.' } })
    const again = await second.sessions.approve(id, { approvalId: call!.id, decision: result('ok') })
    expect(again.first).toMatchObject({ decision: result('ok') })
    await expect(second.sessions.approve(id, { approvalId: call!.id, decision: result('other') })).rejects.toMatchObject({
      code: 'approval_answered',
    })
  })

  it('an interrupt ends the turn; a result after it is refused', async () => {
    const { sessions } = world({ steps: [{ calls: [{ tool: 'Edit' }] }] })
    const id = await sessions.start('go', { clientTools: [clientTool('Edit')] })
    await sessions.outcome(id)
    const [call] = await sessions.clientCalls(id)
    await sessions.cancel(id, 'interrupt')
    expect(await sessions.outcome(id)).toMatchObject({ status: 'interrupted' })
    await expect(sessions.approve(id, { approvalId: call!.id, decision: result('late') })).rejects.toMatchObject({
      code: 'approval_unknown',
    })
  })

  it('rules of the agent apply to them: by name, and by the texts in the arguments', async () => {
    const calls = ['rm -rf x', 'ls'].map((command) => ({ tool: 'Bash', input: { command } }))
    const agent = { clientTools: ['Ba*', 'Edit'], approvals: [{ deny: 'Edit' }, { deny: 'Bash(rm *)' }] }
    const { sessions } = world({ steps: [{ calls: [...calls, { tool: 'Edit' }] }], agent })
    const id = await sessions.start('go', { clientTools: [clientTool('Bash'), clientTool('Edit')] })
    await sessions.outcome(id)
    expect(await sessions.clientCalls(id)).toMatchObject([{ tool: 'Bash', input: { command: 'ls' } }])
    expect(() => world({ steps: [], agent: { ...agent, approvals: [{ deny: 'Bsh' }] } })).toThrow('no tool is called `Bsh`')
  })

  it('a hook may change a call of any schema', async () => {
    const tidy: Hook = {
      name: 'tidy',
      onFailure: 'closed',
      beforeCall: () => ({ kind: 'change', input: { path: 'b.ts' }, reason: 'tidy' }),
    }
    const { sessions } = world({ steps: [{ calls: [{ tool: 'Edit', input: { path: 'a.ts' } }] }], hooks: [tidy] })
    // As draft-04 has it.
    const inputSchema = { type: 'object', properties: { line: { type: 'integer', minimum: 0, exclusiveMinimum: true } } }
    const id = await sessions.start('go', { clientTools: [{ ...clientTool('Edit'), inputSchema }] })
    await sessions.outcome(id)
    expect(await sessions.clientCalls(id)).toMatchObject([{ input: { path: 'b.ts' } }])
  })

  it('steps with calls of the client are not counted; its calls may repeat', async () => {
    const calls = Array.from({ length: 8 }, () => ({ calls: [{ tool: 'Poll', input: {} }] }))
    const { sessions, model } = world({ steps: [...calls, { text: 'Done.' }], agent: { limits: { maxToolTurns: 2 } } })
    const id = await sessions.start('go', { clientTools: [clientTool('Poll')] })
    for (let outcome = await sessions.outcome(id); outcome.reason === 'client'; outcome = await sessions.outcome(id)) {
      const [call] = await sessions.clientCalls(id)
      await sessions.approve(id, { approvalId: call!.id, decision: result('not yet') })
    }
    expect(await sessions.outcome(id)).toMatchObject({ status: 'completed' })
    expect(model.requests).toHaveLength(9)
  })

  it('are counted by no step limit, not even the smallest', async () => {
    const { sessions } = world({ steps: [{ calls: [{ tool: 'Edit' }] }, { text: 'Done.' }], agent: { limits: { maxToolTurns: 1 } } })
    const id = await sessions.start('go', { clientTools: [clientTool('Edit')] })
    expect(await sessions.outcome(id)).toMatchObject({ reason: 'client' })
  })

  it('have no secrets in their descriptions, for models and in the journal', async () => {
    const { sessions, model } = world({ steps: [{ text: 'Hi.' }] })
    const secret = 'a-very-secret-value'
    const tool = { name: 'Edit', description: `Uses ${secret}`, inputSchema: { type: 'object', description: secret } }
    const id = await sessions.start('go', { clientTools: [tool], overlay: { API_TOKEN: secret } })
    await sessions.outcome(id)
    expect(JSON.stringify([model.requests, await sessions.export(id)])).not.toContain(secret)
  })

  it('of two different results one takes effect, with its message and its tools', async () => {
    const { sessions, model } = world({ steps: [{ calls: [{ tool: 'Edit' }] }, { text: 'Done.' }] })
    const id = await sessions.start('go', { clientTools: [clientTool('Edit')] })
    await sessions.outcome(id)
    const [call] = await sessions.clientCalls(id)
    const answer = (name: string) => ({
      approvalId: call!.id,
      decision: result(name),
      message: { input: [{ type: 'text', text: `from ${name}` }], clientId: name } as const,
      settings: { clientTools: [clientTool(name)] },
    })
    const given = await Promise.allSettled([sessions.approve(id, answer('one')), sessions.approve(id, answer('two'))])
    expect(given.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    await sessions.outcome(id)
    const winner = given[0].status === 'fulfilled' ? 'one' : 'two'
    expect(model.requests[1]?.tools.map(({ name }) => name)).toEqual([winner])
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({ role: 'user', parts: [{ text: `from ${winner}` }] })
  })

  it('an image in a result reaches the model as every image of a tool', async () => {
    const { sessions, model } = world({ steps: [{ calls: [{ tool: 'Read' }] }, { text: 'A dot.' }] })
    const id = await sessions.start('go', { clientTools: [clientTool('Read')] })
    await sessions.outcome(id)
    const [call] = await sessions.clientCalls(id)
    const parts = [
      {
        type: 'image',
        mediaType: 'image/png',
        data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      },
    ] as const
    await sessions.approve(id, { approvalId: call!.id, decision: result('', { parts }) })
    expect(await sessions.outcome(id)).toMatchObject({ status: 'completed' })
    expect(resultsIn(model.requests[1])).toMatchObject([{ parts: [{ type: 'image', mediaType: 'image/png' }] }])
    const { events } = await sessions.export(id)
    expect(JSON.stringify(events)).not.toContain(parts[0].data)
    const again = await sessions.approve(id, { approvalId: call!.id, decision: result('', { parts }) })
    expect(again.first).toBeDefined()
  })

  for (const [what, clientTools, message] of [
    ['no list', 'x', 'expected a list of tools'],
    ['no name', [{ description: '', inputSchema: {} }], 'clientTools.0.name: expected the name of a tool'],
    ['a name twice', [clientTool('a'), clientTool('a')], 'the tool "a" is there twice'],
    ['no schema', [{ name: 'a', description: '' }], 'expected a description and a JSON Schema'],
  ] as const)
    it(`refuses ${what}`, async () => {
      const { sessions } = world({ steps: [] })
      await expect(sessions.start('go', { clientTools: clientTools as never })).rejects.toThrow(message)
    })
})
