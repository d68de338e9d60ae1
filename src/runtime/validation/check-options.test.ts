import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../stores/memory/index.ts'
import { ScriptedModel } from '../../testing/index.ts'
import { createAgentRuntime } from '../api/create-agent-runtime.ts'
import type { RuntimeOptions } from '../options/agent-runtime.ts'
import { checkInput } from './check-arguments.ts'
import { checkOptions } from './check-options.ts'

const agent = { name: 'x', description: 'd', prompt: 'p', model: 'm' }
const right = { config: { agents: [agent] }, adapter: new ScriptedModel([]), store: memoryStore() }
const problems = (options: unknown): readonly string[] => {
  try {
    checkOptions(options as RuntimeOptions)
    return []
  } catch (error) {
    return (error as { problems: { place: string; message: string; remedy?: string }[] }).problems.map(
      ({ place, message, remedy }) => `${place}: ${message}. ${remedy}`,
    )
  }
}

describe('checkOptions', () => {
  const foreign: [string, object][] = [
    ['fromAiSdk', { specificationVersion: 'v4', modelId: 'm', doStream() {} }],
    ['fromLangChain', { lc_namespace: [], stream() {}, bindTools() {} }],
    ['fromLlamaIndex', { chat() {}, complete() {} }],
  ]
  it.each(foreign)('says how a model of another framework is handed over: %s', (adapter, model) => {
    expect(problems({ ...right, adapter: model })).toEqual([
      expect.stringMatching(new RegExp(`^adapter: expected a model.*Wrap it: ${adapter}\\(model\\), from troupe/models\\.$`)),
    ])
  })

  it('lets right ones pass', () => expect(problems(right)).toEqual([]))

  it('reports all problems together', () => {
    expect(problems({ ...right, stor: 1, adapter: {}, store: 1, approver: { review() {} }, clock: { now: 1 } })).toEqual([
      'stor: unknown option. Did you mean "store"? Available: adapter, approver, budgetOf, clock, config, grants, hooks, ids, mcp, modelHealth, origin, recipe, sandbox, store.',
      'adapter: expected a model, or an object with resolve(name), found {}. Pass a model, or an object with resolve(name).',
      'store: expected a store, such as memoryStore(), found 1. It needs close().',
      'approver: expected an approver, found {"review":a function}. It needs decide().',
      'clock: expected a clock, found {"now":1}. It needs now(), monotonic(), after().',
    ])
    expect(problems(undefined)).toHaveLength(1)
    expect(problems({ config: 5 })).toHaveLength(2)
  })

  it('takes paths alone for where runs are started', () => {
    expect(problems({ ...right, origin: { workspace: '/srv', agentFile: '/srv/a.ai' } })).toEqual([])
    expect(problems({ ...right, origin: { agentFile: 5 } })).toEqual([
      'origin.workspace: expected a path, found nothing. Pass an absolute path.',
      'origin.agentFile: expected a path, found 5. Pass an absolute path.',
    ])
    const flags = [{ name: 'deny', value: 'shell' }]
    expect(problems({ ...right, origin: { workspace: '/srv', flags } })).toEqual([])
    for (const wrong of ['deny', [{ name: 'deny' }], [{ name: 'deny', value: 5 }], [null]])
      expect(problems({ ...right, origin: { workspace: '/srv', flags: wrong } })).toEqual([
        expect.stringContaining('origin.flags: expected a list of flags, found '),
      ])
    expect(problems({ ...right, origin: '/srv' })).toEqual([
      'origin: expected an object with workspace, found "/srv". Pass an object with workspace.',
    ])
  })

  it('reports only true problems of the agent selection', () => {
    const wrong = (config: object) =>
      problems({ ...right, stor: 1, config: { agents: [agent], ...config } }).filter((each) => each.startsWith('config'))
    expect(wrong({ agents: [] })).toEqual([
      'config.agents: expected at least one agent, found []. Set name, description, prompt and model.',
    ])
    expect(wrong({ agents: agent, agentSelection: { infer: 'match' } })).toHaveLength(1)
    expect(wrong({ agentSelection: { agent: 'x', infer: 'match' } })).toEqual([
      'config.agentSelection: expected either agent or infer, found both. Set agent to a name, or infer to "match" or "model".',
    ])
  })

  it('takes one effort of reasoning, by either of its names', () => {
    const wrong = (more: object) => problems({ ...right, stor: 1, config: { agents: [{ ...agent, ...more }] } }).slice(0, -1)
    expect(wrong({ reasoningEffort: 'high', parameters: { temperature: 1 } })).toEqual([])
    expect(wrong({ reasoningEffort: 'hihg' })).toEqual([
      expect.stringMatching(/^config\.agents\[0\]\.reasoningEffort: expected one of none, .* "hihg"/),
    ])
    expect(wrong({ reasoningEffort: 'low', parameters: { reasoning: 'high' } })).toEqual([
      'config.agents[0].reasoningEffort: expected either reasoningEffort or parameters.reasoning, found both. Remove one of them.',
    ])
  })

  it('reports problems of the configuration, too', () => {
    expect(problems({ config: { agents: [{ ...agent, tool: [] }], limit: {} }, approver: {} })).toEqual([
      'config.limit: unknown key. Did you mean "limits"?',
      'config.agents[0].tool: unknown key. Did you mean "tools"?',
      'adapter: expected a model, or an object with resolve(name), found nothing. Pass a model, or an object with resolve(name).',
      'approver: expected an approver, found {}. It needs decide().',
    ])
    expect(problems({ approver: {} })).toHaveLength(3)
  })
})

describe('checkInput', () => {
  it('wants something to ask', () => {
    for (const input of ['', '  ', [], 5, undefined, [{ type: 'sound' }]]) expect(() => checkInput(input as string)).toThrow(/The input is/)
    checkInput('hello')
    checkInput([{ type: 'text', text: 'hello' }])
  })
})

describe('a tool', () => {
  const tool = { name: 'a', description: 'd', inputSchema: { type: 'object' }, execute: () => 'x' }
  const create = (more: object) => () =>
    createAgentRuntime({
      config: { agents: [{ name: 'x', description: 'd', prompt: 'p', model: 'm' }], tools: [{ ...tool, ...more }] },
      adapter: new ScriptedModel([]),
    })

  it.each([
    [{ effect: 'reed' }, /effect: expected one of read, idempotent, write, found "reed"/],
    [{ concurrency: 'x' }, /concurrency: expected "shared", "exclusive" or \{ key\(input\) \}, found "x"/],
    [{ name: ' ' }, /name: expected a name, found " "/],
    [{ requires: [{ ability: 'flying' }] }, /requires: expected a list/],
    [{ efect: 'read' }, /efect: unknown key. Did you mean "effect"\?/],
    [{ timeoutMs: -1 }, /timeoutMs: expected milliseconds above 0, found -1/],
    [{ execute: 'x' }, /execute: expected a function, found "x"/],
    [{ description: '' }, /description: expected a description/],
  ])('with %o is refused', (more, message) => expect(create(more)).toThrow(message))

  it('may have keys of its own', () => expect(create({ cache: true, server: 'x' })).not.toThrow())
})
