import { describe, expect, it } from 'vitest'
import type { Sandbox, SandboxPolicy } from '../../src/contracts/index.ts'
import { defaultSandboxPolicy } from '../../src/contracts/index.ts'
import type { AgentDefinition } from '../../src/index.ts'
import { agent, journalOf, ofType, type Setup, tool, troupeError, world } from '../acceptance/support.ts'

const none: Sandbox = { confinement: { kind: 'none' } }
const box: Sandbox = { confinement: { kind: 'sandbox', name: 'box' } }
const open: Sandbox = { confinement: { kind: 'sandbox', name: 'box', policy: { ...defaultSandboxPolicy, mode: 'off' } } }
const confined = (sandbox: Partial<SandboxPolicy>, more: Partial<AgentDefinition> = {}): AgentDefinition => ({ ...agent, sandbox, ...more })
const remedy = 'Pass a `sandbox` to the runtime, such as that of `workspaceTools` of `troupe/tools`, or remove `sandbox` from the agent.'
const look = tool('look')

describe('an agent that requires a sandbox in a runtime without one', () => {
  const problem = (index: number) => ({
    place: `config.agents[${index}].sandbox.mode`,
    message: 'the agent requires a sandbox, and the runtime has none',
    remedy,
  })
  const required = confined({ mode: 'required', writable: ['/srv'] })
  const silent = { ...agent, name: 'silent', tools: [] }

  it.each<[string, Setup, number]>([
    ['no sandbox', { tools: [look], config: { agents: [required] } }, 0],
    ['a sandbox that is none', { tools: [look], config: { agents: [required] }, sandbox: none }, 0],
    ['tools of a source', { tools: [{ name: 'kv', list: async () => [look] }], config: { agents: [required] } }, 0],
    [
      'children that have tools',
      {
        tools: [look],
        config: { agents: [{ ...silent, agents: ['clerk'] }, { ...required, name: 'boss', tools: [], agents: ['silent'] }, agent] },
      },
      1,
    ],
  ])('is refused before anything starts: %s', async (_, setup, index) => {
    const error = await troupeError(() => world(setup))
    expect([error.code, error.problems]).toEqual(['config_invalid', [problem(index)]])
  })

  it('is reported with the other problems', async () => {
    const error = await troupeError(() => world({ tools: [look], config: { agents: [{ ...required, prompt: '' }] } }))
    expect(error.problems.map(({ place }) => place)).toEqual(['config.agents[0].prompt', 'config.agents[0].sandbox.mode'])
  })

  it.each<[string, Setup]>([
    ['there are no tools', { config: { agents: [required] } }],
    [
      'it has none, nor has anybody that it calls',
      { tools: [look], config: { agents: [{ ...required, tools: [], agents: ['silent'] }, silent], agentSelection: { agent: 'clerk' } } },
    ],
    ['the sandbox was only switched off', { tools: [look], config: { agents: [confined({ mode: 'required' })] }, sandbox: open }],
    ['the sandbox is that of a program', { tools: [look], config: { agents: [confined({ mode: 'required' })] }, sandbox: box }],
  ])('is started where %s', async (_, setup) => {
    const { runtime } = world({ ...setup, steps: [{ text: 'Done.' }] })
    const { status, diagnostics } = await runtime.run('Go')
    expect([status, diagnostics.filter(({ code }) => code === 'sandbox_missing')]).toEqual(['completed', []])
  })
})

describe('an agent that restricts the sandbox', () => {
  const wanting = confined({ hosts: [], writable: ['/srv'] })
  const told = async (setup: Setup) => {
    const { runtime, store } = world({ tools: [look], config: { agents: [wanting] }, steps: [{ text: 'Done.' }], ...setup })
    const outcome = await runtime.run('Go')
    const found = ofType(await journalOf(store, outcome.sessionId), 'interaction.diagnostic').map(({ diagnostic }) => diagnostic)
    expect(outcome.diagnostics).toEqual(found)
    return found.filter(({ code }) => code !== 'sandbox_off')
  }
  const missing = (message: string) => [{ code: 'sandbox_missing', severity: 'warning', message, remedy }]
  const settings = '"clerk" sets sandbox.hosts, sandbox.writable'

  it('warns that there is no sandbox', async () => {
    const message = `${settings}, but the runtime has no sandbox: its calls run without one.`
    expect(await told({})).toEqual(missing(message))
    expect(await told({ sandbox: none })).toEqual(missing(message))
  })

  it('warns that the sandbox cannot be restricted', async () => {
    const message = `${settings}, but the sandbox "box" has no policy to restrict: the settings have no effect.`
    expect(await told({ sandbox: box })).toEqual(missing(message))
  })

  it('does not warn without need', async () => {
    const policy = { ...defaultSandboxPolicy, writable: ['/srv'] }
    expect(await told({ sandbox: { confinement: { kind: 'sandbox', name: 'box', policy } } })).toEqual([])
    expect(await told({ sandbox: open })).toEqual([])
    expect(await told({ tools: [] })).toEqual([])
    expect(await told({ config: { agents: [{ ...wanting, tools: [] }] } })).toEqual([])
    expect(await told({ config: { agents: [confined({ mode: 'off', hosts: [] })] } })).toEqual([])
  })

  it('warns for the child that has tools', async () => {
    const agents = [
      { ...wanting, name: 'boss', tools: [], agents: ['clerk'] },
      { ...agent, tools: ['look'] },
    ]
    const steps = [{ calls: [{ tool: 'agent__clerk', input: { prompt: 'Go' } }] }, { text: 'found' }, { text: 'Done.' }]
    const { runtime, store } = world({ tools: [look], config: { agents, agentSelection: { agent: 'boss' } }, steps })
    const { sessionId: treeId } = await runtime.run('Go')
    const found = ofType(await journalOf(store, treeId), 'interaction.diagnostic')
    const message = `${settings}, but the runtime has no sandbox: its calls run without one.`
    expect(found.map(({ agentPath, diagnostic }) => [agentPath, diagnostic])).toEqual([['root/clerk#1', missing(message)[0]]])
  })
})
