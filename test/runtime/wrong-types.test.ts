import { describe, expect, test } from 'vitest'
import { createAgentRuntime, type RuntimeOptions, TroupeError } from '../../src/index.ts'
import { ScriptedModel } from '../../src/testing/index.ts'
import { bounded, world } from '../acceptance/support.ts'

// A program without types may give anything. It is answered with every problem and its place, never with a TypeError.

const hostile = () => Object.defineProperty({}, 'x', { enumerable: true, get: () => boom() })
const boom = (): never => {
  throw new Error('boom')
}
const proxy = () => new Proxy({}, { get: boom, ownKeys: boom, getPrototypeOf: boom })

/** No option takes any of them. */
const wrong: { readonly [what: string]: () => unknown } = {
  null: () => null,
  'no number': () => Number.NaN,
  'a symbol': () => Symbol('s'),
  'a bigint': () => 1n,
  'a Map': () => new Map(),
  'a list of null': () => [null],
  'a getter that throws': hostile,
  'a list with such a getter': () => [hostile()],
  'a proxy that throws': proxy,
}

const below = (place: string, keys: string) => keys.split(' ').map((key) => `${place}.${key}`)
const places = [
  ...'config adapter recipe store approver grants sandbox hooks clock ids origin modelHealth'.split(' '),
  ...below('config', 'agents agentSelection tools features overlay limits unpriced childrenOffered queues approvals skills context'),
  ...below('config.agents.0', 'name displayName description prompt model models tools limits parameters reasoningEffort output usage'),
  ...below('config.agents.0', 'toolName input agents infer skills approvals sandbox trust'),
  ...below('config.tools.0', 'name description instructions inputSchema effect concurrency timeoutMs graceMs repeatable requires'),
  ...below('config.tools.0', 'namespace unavailable approval view execute'),
  ...below('config', 'agentSelection.agent agentSelection.infer features.f overlay.v limits.maxTokens queues.q queues.q.concurrent'),
  ...below('config', 'approvals.rules approvals.rules.0 approvals.rules.0.deny approvals.0.rules skills.0 skills.0.name context.0.text'),
  ...below('config.agents.0', 'output.schema output.format input.schema sandbox.hosts limits.maxTokens parameters.temperature'),
  ...below('config.agents.0', 'agents.0 skills.0 tools.0 models.0 approvals.0 trust.toolsOtherwise'),
  ...'config.agents.1 config.tools.1 config.other other sandbox.confinement hooks.0 hooks.0.name hooks.0.beforeCall'.split(' '),
  ...'store.journal store.blobs store.close adapter.stream adapter.id clock.now approver.decide origin.workspace origin.flags'.split(' '),
]

/** Options that are right but for one place. */
function optionsWith(place: string, value: unknown): RuntimeOptions {
  const tool = { name: 't', description: 'd', inputSchema: { type: 'object' }, execute: () => 'x' }
  const options = {
    config: { agents: [{ name: 'a', description: 'd', prompt: 'p', model: 'm' }], tools: [tool] },
    adapter: new ScriptedModel([]),
  }
  const keys = place.split('.')
  let at: object = options
  for (const [index, key] of keys.slice(0, -1).entries()) {
    const known: unknown = Reflect.get(at, key)
    const next = typeof known === 'object' && known !== null ? known : /^\d+$/.test(keys[index + 1] ?? '') ? [] : {}
    Reflect.set(at, key, next)
    at = next
  }
  Reflect.set(at, keys.at(-1) ?? '', value)
  return options as unknown as RuntimeOptions
}

function thrownBy(work: () => unknown): unknown {
  try {
    work()
    return 'nothing'
  } catch (error) {
    return error
  }
}

describe('options of createAgentRuntime', () => {
  test.each(places)('%s', (place) => {
    const shown = place.replaceAll(/\.(\d+)/g, '[$1]')
    for (const [what, make] of Object.entries(wrong)) {
      const error = thrownBy(() => createAgentRuntime(optionsWith(place, make())))
      if (!(error instanceof TroupeError)) throw new Error(`${place} as ${what} gave ${String(error)}`)
      expect(error.code).toBe('config_invalid')
      // The place itself, one in it, or the object or list that it is in.
      const outer = shown.replace(/[.[][^.[]+$/, '')
      const isNamed = error.problems.some((problem) => problem.place.startsWith(shown) || problem.place === outer)
      expect(isNamed, `${place} as ${what}: ${error.message}`).toBe(true)
    }
  })

  test('no options at all', () => {
    for (const make of [...Object.values(wrong), () => undefined, () => 5, () => 'text', () => []])
      expect(thrownBy(() => createAgentRuntime(make() as never))).toMatchObject({ name: 'TroupeError', code: 'config_invalid' })
  })

  test('every problem comes in one error, also where something cannot be read', () => {
    const options = optionsWith('config.limits', 5)
    Object.assign(options, { clock: null, hooks: 'x', ids: hostile() })
    Object.assign(options.config, { tools: [null, { name: 3 }], skills: [null], queues: { q: hostile() }, agentSelection: { agent: 'b' } })
    const error = thrownBy(() => createAgentRuntime(options)) as TroupeError
    const named = [
      'config.limits',
      'clock',
      'hooks',
      'ids',
      'config.tools[0]',
      'config.tools[1].name',
      'config.skills[0]',
      'config.queues.q.x',
    ]
    expect(error.problems.map(({ place }) => place)).toEqual(expect.arrayContaining([...named, 'config.agentSelection.agent']))
  })

  test('an unknown name is answered with the names that exist, also where one is near', () => {
    const agents = [
      { name: 'clerk', description: 'd', prompt: 'p', model: 'm', tools: ['look_upp'], skills: ['gardenin'], agents: ['writr'] },
      { name: 'writer', description: 'd', prompt: 'p', model: 'm' },
    ]
    const tools = ['look_up', 'write'].map((name) => ({ name, description: 'd', inputSchema: { type: 'object' }, execute: () => 'x' }))
    const skills = [{ name: 'gardening', description: 'd', scope: 'repo', path: '/x', hash: 'h' }]
    const remedies = (config: object): readonly unknown[] => {
      const error = thrownBy(() => createAgentRuntime({ config: config as never, adapter: new ScriptedModel([]) })) as TroupeError
      return error.problems.map(({ place, remedy }) => [place, remedy])
    }
    expect(remedies({ agents, tools, skills, agentSelection: { agent: 'clrk' } })).toEqual([
      ['config.agents[0].skills[0]', 'Did you mean "gardening"? Available: gardening.'],
      ['config.agents[0].tools[0]', 'Did you mean "look_up"? Available: look_up, write.'],
      ['config.agentSelection.agent', 'Did you mean "clerk"? Available: clerk, writer.'],
    ])
    const [clerk, writer] = agents.map(({ name, description, prompt, model }) => ({ name, description, prompt, model }))
    expect(remedies({ agents: [{ ...clerk, agents: ['writr'] }, writer] })).toEqual([
      ['config.agents[0].agents[0]', 'Did you mean "writer"? Available: clerk, writer.'],
    ])
  })
})

describe('calls of a runtime', () => {
  type Loose = { readonly [name: string]: (...given: unknown[]) => Promise<unknown> }
  const agents = [{ name: 'a', description: 'd', prompt: 'p', model: 'm' }]
  const runtime = createAgentRuntime({ config: { agents }, adapter: new ScriptedModel([]) }) as unknown as Loose
  const sessions = runtime.sessions as unknown as Loose
  const calls: { readonly [what: string]: (value: unknown) => unknown } = {
    'run(input)': (value) => runtime.run?.(value),
    'run(…, options)': (value) => runtime.run?.('x', value),
    'run(…, { agent })': (value) => runtime.run?.('x', { agent: value }),
    'run(…, { signal })': (value) => runtime.run?.('x', { signal: value }),
    'run(…, { overlay })': (value) => runtime.run?.('x', { overlay: { v: value } }),
    'stream(input)': (value) => runtime.stream?.(value),
    'stream(…, options)': (value) => runtime.stream?.('x', value),
    'open(id)': (value) => runtime.open?.(value),
    'open(…, options)': (value) => runtime.open?.('x', value),
    'open(…, { limits })': (value) => runtime.open?.('x', { limits: value }),
    'send(id)': (value) => sessions.send?.(value, 'x'),
    'send(…, input)': (value) => sessions.send?.('x', value),
    'send(…, options)': (value) => sessions.send?.('x', 'x', value),
    'approve(…, answer)': (value) => sessions.approve?.('x', value),
    'cancel(…, mode)': (value) => sessions.cancel?.('x', value),
    'revoke(…, keys)': (value) => sessions.revoke?.('x', value),
    'list(options)': (value) => sessions.list?.(value),
  }
  test.each(Object.keys(calls))('%s', async (what) => {
    for (const [how, make] of Object.entries(wrong)) {
      if (what.includes('options') && how === 'a Map') continue
      const error = await bounded((async () => calls[what]?.(make()))()).catch((thrown: unknown) => thrown)
      if (!(error instanceof TroupeError)) throw new Error(`${what} with ${how} gave ${String(error)}`)
      expect(error.code).toMatch(what.includes('id') ? /^session_unknown$/ : /^(usage|agent_unknown)$/)
    }
  })

  test('an agent that does not exist', async () => {
    const made = world()
    await expect(bounded(made.runtime.run('x', { agent: 'clrk' }))).rejects.toMatchObject({
      remedy: 'Did you mean "clerk"? Available: clerk.',
    })
  })
})
