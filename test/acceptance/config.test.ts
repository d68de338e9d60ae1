import { describe, expect, test, vi } from 'vitest'
import type { Store } from '../../src/contracts/index.ts'
import { createAgentRuntime, type RuntimeOptions, type Tool, TroupeError } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { ScriptedModel } from '../../src/testing/index.ts'
import { agent, bounded, everything, resultsIn, tool, world } from './support.ts'

vi.setConfig({ testTimeout: 60_000 })

/** A store that notices every use. */
function untouched(): { store: Store; uses: string[] } {
  const uses: string[] = []
  const inner = memoryStore()
  const watch = <T extends object>(name: string, part: T): T =>
    new Proxy(part, {
      get(target, key) {
        const value = Reflect.get(target, key)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          uses.push(`${name}.${String(key)}`)
          return (value as (...given: unknown[]) => unknown).apply(target, args)
        }
      },
    })
  return {
    store: {
      journal: watch('journal', inner.journal),
      inbox: watch('inbox', inner.inbox),
      blobs: watch('blobs', inner.blobs),
      trees: watch('trees', inner.trees),
      records: watch('records', inner.records),
      usages: watch('usages', inner.usages),
      turns: watch('turns', inner.turns),
      vacuum: () => inner.vacuum(),
      close: () => inner.close(),
    },
    uses,
  }
}

/** The refusal, whether at creation or at the first run; the store must not have been touched. */
async function refused(options: unknown): Promise<TroupeError> {
  const { store, uses } = untouched()
  const model = new ScriptedModel([{ text: 'started!' }])
  let error: unknown
  try {
    const runtime = createAgentRuntime({ adapter: model, store, ...(options as object) } as unknown as RuntimeOptions)
    const outcome = await bounded(runtime.run('go'), 'the run', 30_000)
    await runtime.close()
    error = new Error(`it ran: ${outcome.status} ${outcome.reason} ${outcome.message}`)
  } catch (caught) {
    error = caught
  }
  expect(error, String((error as Error)?.stack).slice(0, 400)).toBeInstanceOf(TroupeError)
  expect(uses, 'nothing started: the store is untouched').toEqual([])
  expect(model.requests).toEqual([])
  return error as TroupeError
}
const wrong = (config: unknown): Promise<TroupeError> => refused({ config })
const withTool = (more: object): Promise<TroupeError> => wrong({ agents: [agent], tools: [{ ...tool('fine'), ...more }] })

describe('issue, bad input: all problems together, with place, expectation and remedy; nothing started', () => {
  test('many problems in one configuration are all reported, each with its place', async () => {
    const error = await wrong({
      agents: [
        { name: 'a', description: '', prompt: 'p', modle: 'm', tools: ['reed_file'] },
        { name: 'a', description: 'd', prompt: 'p', model: 'm', limits: { maxToolTurns: -1, toolTimout: 5 } },
        { name: 'c', prompt: 3, model: 'm' },
      ],
      agentSelection: { agent: 'nobody' },
      tools: [tool('read_file'), tool('read_file'), { ...tool('third'), inputSchema: { type: 'string' } }],
      feature: {},
    })
    expect(error.code).toBe('config_invalid')
    const text = everything(error)
    for (const place of [/agents\[0\]/, /agents\[1\]/, /agents\[2\]/, /agentSelection/, /tools\[1\]/, /tools\[2\]/, /feature/])
      expect(text).toMatch(place)
    for (const word of ['modle', 'model', 'reed_file', 'read_file', 'maxToolTurns', 'toolTimout', 'toolTimeout', 'nobody', 'feature'])
      expect(text, word).toContain(word)
    expect(error.problems.length).toBeGreaterThanOrEqual(11)
    for (const problem of error.problems) expect(problem.place).toMatch(/\S/)
    expect(error.message, 'also readable where only the message is shown').toContain('agents[0]')
  })

  const cases: { [name: string]: [unknown, RegExp] } = {
    'no config at all': [undefined, /config/],
    'config null': [null, /config/],
    'agents missing': [{}, /agents/],
    'agents empty': [{ agents: [] }, /agents/],
    'agents no list': [{ agents: agent }, /agents/],
    'an agent null': [{ agents: [null] }, /agents\[0\]/],
    'an unknown key at the top': [{ agents: [agent], agentz: 1 }, /agentz[\s\S]*agents/],
    'an unknown key in an agent': [{ agents: [{ ...agent, promt: 'x' }] }, /promt[\s\S]*prompt/],
    'an unknown key in limits': [{ agents: [agent], limits: { maxTokns: 1 } }, /maxTokns[\s\S]*maxTokens/],
    'an unknown key in parameters': [{ agents: [{ ...agent, parameters: { temprature: 1 } }] }, /temprature[\s\S]*temperature/],
    'an unknown key in agentSelection': [{ agents: [agent], agentSelection: { agnet: 'clerk' } }, /agnet|agentSelection/],
    'no model': [{ agents: [{ name: 'a', description: 'd', prompt: 'p' }] }, /model/],
    'both model and models': [{ agents: [{ ...agent, models: ['a/b'] }] }, /models?/],
    'models empty': [{ agents: [{ name: 'a', description: 'd', prompt: 'p', models: [] }] }, /models/],
    'a model that is a number': [{ agents: [{ ...agent, model: 3 }] }, /model/],
    'an empty name': [{ agents: [{ ...agent, name: '' }] }, /name/],
    'duplicate agents': [{ agents: [agent, { ...agent }], agentSelection: { agent: 'clerk' } }, /clerk/],
    'several agents and none that may be chosen': [
      {
        agents: [
          { ...agent, infer: false },
          { ...agent, name: 'other', infer: false },
        ],
      },
      /agentSelection[\s\S]*(clerk[\s\S]*other|other[\s\S]*clerk)/,
    ],
    'an agent without a name, and a selection': [
      { agents: [{ description: 'd', prompt: 'p', model: 'm' }], agentSelection: { agent: 'nobody' } },
      /agents\[0\]\.name[\s\S]*nobody/,
    ],
    'a selected agent that does not exist': [{ agents: [agent], agentSelection: { agent: 'clrk' } }, /clrk[\s\S]*clerk/],
    'an unknown tool in an allowlist': [
      { agents: [{ ...agent, tools: ['serch'] }], tools: [tool('search'), tool('other')] },
      /serch[\s\S]*search/,
    ],
    'a pattern that matches nothing': [{ agents: [{ ...agent, tools: ['web_*'] }], tools: [tool('search')] }, /web_\*/],
    'an allowlist that is no list': [{ agents: [{ ...agent, tools: 'search' }], tools: [tool('search')] }, /tools/],
    'tools no list': [{ agents: [agent], tools: tool('a') }, /tools/],
    'duplicate tools': [{ agents: [agent], tools: [tool('a'), tool('a')] }, /\ba\b/],
    'a negative limit': [{ agents: [agent], limits: { maxTokens: -1 } }, /maxTokens/],
    'a limit of zero steps': [{ agents: [agent], limits: { maxToolTurns: 0 } }, /maxToolTurns/],
    'a limit that is NaN': [{ agents: [agent], limits: { toolTimeout: Number.NaN } }, /toolTimeout/],
    'a limit that is infinite': [{ agents: [agent], limits: { maxToolTurns: Number.POSITIVE_INFINITY } }, /maxToolTurns/],
    'a limit that is a fraction': [{ agents: [agent], limits: { parallelToolCalls: 1.5 } }, /parallelToolCalls/],
    'a limit that is a text': [{ agents: [agent], limits: { llmTimeout: '10s' } }, /llmTimeout/],
    'a cap of no parallel call': [{ agents: [agent], limits: { parallelToolCalls: 0 } }, /parallelToolCalls/],
    'negative retries': [{ agents: [agent], limits: { maxRetries: -1 } }, /maxRetries/],
    'overlay with a number': [{ agents: [agent], overlay: { PORT: 80 } }, /PORT/],
    'features with a text': [{ agents: [agent], features: { risky: 'yes' } }, /risky/],
    'a temperature that is a text': [{ agents: [{ ...agent, parameters: { temperature: 'hot' } }] }, /temperature/],
  }
  for (const [name, [config, expected]] of Object.entries(cases))
    test(name, async () => {
      const error = await wrong(config)
      expect(['config_invalid', 'agent_unknown', 'tool_unknown']).toContain(error.code)
      expect(everything(error)).toMatch(expected)
      expect(error.retry).toBe(false)
    })

  const tools: { [name: string]: [object, RegExp] } = {
    'an empty name': [{ name: '' }, /name/],
    'no description': [{ description: undefined }, /description/],
    'no schema': [{ inputSchema: undefined }, /inputSchema/],
    'a schema whose root is no object': [{ inputSchema: { type: 'array' } }, /object/],
    'a schema with an unknown type': [
      { inputSchema: { type: 'object', properties: { a: { type: 'strng' } } } },
      /strng|properties\/a|properties\.a/,
    ],
    'a schema with a broken keyword': [
      { inputSchema: { type: 'object', properties: { a: { type: 'string', minLength: 'three' } } } },
      /minLength/,
    ],
    'a schema with a broken reference': [{ inputSchema: { type: 'object', properties: { a: { $ref: '#/$defs/none' } } } }, /none/],
    'a schema with a broken pattern': [
      { inputSchema: { type: 'object', properties: { a: { type: 'string', pattern: '((' } } } },
      /pattern|\(\(/,
    ],
    'no execute': [{ execute: undefined }, /execute/],
    'an execute that is no function': [{ execute: 'ls' }, /execute/],
    'an unknown effect': [{ effect: 'raed' }, /effect[\s\S]*read/],
    'an unknown concurrency': [{ concurrency: 'parallel' }, /concurrency/],
    'a concurrency without key': [{ concurrency: {} }, /concurrency/],
    'a negative timeout': [{ timeoutMs: -5 }, /timeoutMs/],
    'a timeout that is NaN': [{ timeoutMs: Number.NaN }, /timeoutMs/],
    'a gate that says nothing': [{ requires: [{}] }, /requires/],
    'a gate on an unknown ability': [{ requires: [{ ability: 'telepathy' }] }, /telepathy/],
    'requires no list': [{ requires: { flag: 'x' } }, /requires/],
    'approval that is no function': [{ approval: true }, /approval/],
  }
  const basics = new Set([
    'an empty name',
    'no description',
    'no schema',
    'a schema whose root is no object',
    'a schema with an unknown type',
    'a schema with a broken keyword',
    'a schema with a broken reference',
    'a schema with a broken pattern',
    'no execute',
    'an execute that is no function',
  ])
  for (const [name, [more, expected]] of Object.entries(tools).filter(([each]) => basics.has(each)))
    test(`a tool with ${name}`, async () => {
      const error = await withTool(more)
      expect(everything(error)).toMatch(expected)
      expect(everything(error)).toContain('tools[0]')
    })
  test('invariant 8, every key bites: a wrong value in any other field of a tool is refused at load', async () => {
    const taken: string[] = []
    for (const [name, [more]] of Object.entries(tools).filter(([each]) => !basics.has(each)))
      await withTool(more).catch(() => taken.push(name))
    expect(taken, 'taken in silence, or broken later').toEqual([])
  })

  const options: { [name: string]: [object, RegExp] } = {
    'no adapter': [{ adapter: undefined }, /adapter/],
    'an adapter that is neither model nor finder': [{ adapter: {} }, /adapter/],
    'an unknown option': [{ approvr: {} }, /approvr[\s\S]*approver/],
    'an approver without decide': [{ approver: {} }, /approver/],
    'a hook without a name': [{ hooks: [{ onFailure: 'closed', beforeCall: () => ({ kind: 'continue' }) }] }, /hooks\[0\]/],
    'a hook with an unknown onFailure': [
      { hooks: [{ name: 'h', onFailure: 'maybe', beforeCall: () => ({ kind: 'continue' }) }] },
      /onFailure/,
    ],
    'hooks no list': [{ hooks: {} }, /hooks/],
    'a store that is none': [{ store: {} }, /store/],
    'a sandbox without confinement': [{ sandbox: {} }, /sandbox|confinement/],
    'a clock that is none': [{ clock: {} }, /clock/],
    'a recipe that is none': [{ recipe: {} }, /recipe/],
  }
  test('runtime options: what is wrong is refused, not taken in silence and not an internal error later', async () => {
    const taken: string[] = []
    for (const [name, [more, expected]] of Object.entries(options))
      await refused({ config: { agents: [agent] }, ...more })
        .then((error) => expect(everything(error)).toMatch(expected))
        .catch(() => taken.push(name))
    expect(taken).toEqual([])
  })

  test('core.md: "Names offered to models match ^[a-zA-Z0-9_-]{1,64}$ …; longer ones are shortened with a hash and mapped back"', async () => {
    const names = ['github/create issue', 'a'.repeat(80), `${'a'.repeat(79)}b`, 'x.y', 'plain']
    const { runtime, model } = world({
      tools: names.map((name) => tool(name)),
      steps: [(request) => ({ calls: request.tools.map(({ name }) => ({ tool: name })) }), { text: 'x' }],
    })
    await bounded(runtime.run('go'))
    const offered = model.requests[0]?.tools.map(({ name }) => name) ?? []
    expect(new Set(offered).size).toBe(names.length)
    for (const name of offered) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    expect(
      resultsIn(model.requests[1])
        .map(({ content }) => content)
        .sort(),
    ).toEqual(names.map((name) => `${name} done`).sort())
  })

  test('two names that would be offered as one: kept apart or refused, never mixed up', async () => {
    const make = () =>
      world({
        tools: [tool('a b'), tool('a_b')],
        steps: [(request) => ({ calls: request.tools.map(({ name }) => ({ tool: name })) }), { text: 'x' }],
      })
    let made: ReturnType<typeof make>
    try {
      made = make()
    } catch (error) {
      expect(error).toBeInstanceOf(TroupeError)
      return
    }
    const outcome = await bounded(made.runtime.run('go'))
    if (outcome.status === 'failed') return
    expect(new Set(made.model.requests[0]?.tools.map(({ name }) => name)).size).toBe(2)
    expect(
      resultsIn(made.model.requests[1])
        .map(({ content }) => content)
        .sort(),
    ).toEqual(['a b done', 'a_b done'])
  })

  test('a run with an agent that does not exist: an error that lists what does; nothing started', async () => {
    const { store, uses } = untouched()
    const { runtime } = world({ store, config: { agents: [agent, { ...agent, name: 'other' }], agentSelection: { agent: 'clerk' } } })
    let text = ''
    try {
      const outcome = await bounded(runtime.run('go', { agent: 'nobody' }))
      expect(outcome.status).toBe('failed')
      text = `${outcome.message} ${outcome.remedy}`
    } catch (error) {
      expect(error).toBeInstanceOf(TroupeError)
      expect((error as TroupeError).code).toBe('agent_unknown')
      text = everything(error as TroupeError)
    }
    expect(text).toMatch(/nobody[\s\S]*clerk[\s\S]*other/)
    expect(uses).toEqual([])
  })

  test('an input that is none (nothing, a number, no part, a part of no known type) is refused, and no tree with nonsense in it is kept', async () => {
    const taken: string[] = []
    for (const input of [undefined, null, 42, [], [{ type: 'banana' }], [{ type: 'text' }]]) {
      const { store, uses } = untouched()
      const { runtime, model } = world({ store, steps: [{ text: 'x' }] })
      const told = await bounded(Promise.resolve().then(() => runtime.run(input as never))).then(
        ({ status }) => status === 'failed',
        (error) => error instanceof TroupeError,
      )
      if (!told || model.requests.length > 0 || uses.length > 0)
        taken.push(`${JSON.stringify(input)}: model asked ${model.requests.length} times, ${uses.length} uses of the store`)
    }
    expect(taken).toEqual([])
  })
})

describe('tools from a ToolSource', () => {
  const source = (list: () => unknown) => ({ list: list as () => Promise<readonly Tool[]> })
  const outcomeOf = async (sources: readonly object[], more: object = {}) => {
    const { store, uses } = untouched()
    const { runtime, model } = world({ store, config: { agents: [agent], tools: sources as never, ...more }, steps: [{ text: 'x' }] })
    try {
      const outcome = await bounded(runtime.run('go'), 'the run', 30_000)
      return { text: `${outcome.status} ${outcome.reason} ${outcome.message} ${outcome.remedy}`, outcome, model, uses }
    } catch (error) {
      expect(error).toBeInstanceOf(TroupeError)
      return { text: everything(error as TroupeError), model, uses }
    }
  }

  test('are offered beside the others', async () => {
    const { model, outcome } = await outcomeOf([source(async () => [tool('b')]), tool('a')])
    expect(outcome?.status).toBe('completed')
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['a', 'b'])
  })

  for (const [name, list, expected] of [
    [
      'throws',
      () => {
        throw new Error('server down')
      },
      /server down/,
    ],
    ['rejects', () => Promise.reject(new Error('server down')), /server down/],
    ['answers a number', async () => 42, /tools|list/],
    ['answers null', async () => null, /tools|list/],
    ['has a wrong tool', async () => [{ name: 'a' }], /execute|inputSchema|description/],
    ['has a name twice', async () => [tool('dup'), tool('dup')], /dup/],
    ['has a name that is taken', async () => [tool('taken')], /taken/],
  ] as const)
    test(`that ${name}: reported, nothing started`, async () => {
      const { text, outcome, model } = await outcomeOf([source(list), tool('taken')])
      expect(outcome === undefined || outcome.status === 'failed').toBe(true)
      expect(text).toMatch(expected)
      expect(model.requests).toEqual([])
    })

  test('an allowlist may name what a source brings; what nobody brings is an error that lists what exists', async () => {
    const good = await outcomeOf([source(async () => [tool('brought')])], { agents: [{ ...agent, tools: ['brought'] }] })
    expect(good.outcome?.status).toBe('completed')
    const bad = await outcomeOf([source(async () => [tool('brought')])], { agents: [{ ...agent, tools: ['brougt'] }] })
    expect(bad.text).toMatch(/brougt[\s\S]*brought/)
  })

  test('close() closes each source once, also when one throws', async () => {
    const closed: string[] = []
    const make = (name: string, fails = false) => ({
      list: async () => [tool(name)],
      close: async () => {
        closed.push(name)
        if (fails) throw new Error('will not')
      },
    })
    const { runtime } = world({ config: { agents: [agent], tools: [make('a', true), make('b')] }, steps: [{ text: 'x' }] })
    await bounded(runtime.run('go'))
    await bounded(runtime.close(), 'close')
    await bounded(runtime.close(), 'close again')
    expect(closed.sort()).toEqual(['a', 'b'])
  })
})
