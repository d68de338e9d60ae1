import { describe, expect, it } from 'vitest'
import type { Hook, SessionToolSource, Tool } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { groupedCommits } from '../runtime/grouped-commits.ts'
import { ask, resultsOf, type Script, team } from './team.ts'

// Record before effect, for calls of agents: starting a child has no effect, so it does not wait for the journal. Whatever acts does.

const act: Tool = { name: 'act', description: 'Acts.', inputSchema: { type: 'object' }, execute: () => 'acted' }
const own: Tool = {
  name: 'own',
  description: 'Starts a child, and acts on its result.',
  inputSchema: { type: 'object' },
  execute: (_, { startChild }) => startChild({ agent: 'kid', input: [{ type: 'text', text: 'Go' }] }).then(() => 'acted'),
}
const calling =
  (tool: string): Script =>
  (request, step) =>
    step === 1 ? { calls: [{ tool }] } : { text: resultsOf(request).join() }
const boss: Script = (request, step) => (step === 1 ? { calls: [ask('kid', 'Go')] } : { text: resultsOf(request).join() })

/** What happens in which order: requests, effects, and events that are durable. */
async function orderOf({ script = boss, kid = calling('act'), more = () => ({}) }: Scene) {
  const log: string[] = []
  const { store } = groupedCommits(memoryStore(), ({ type, agentPath }) => log.push(`stored ${agentPath} ${type.slice(12)}`))
  const noted = (name: string, then: Script): Script => {
    return (request, step) => {
      log.push(`asks ${name} ${step}`)
      return then(request, step)
    }
  }
  const acting = (tool: Tool): Tool => ({
    ...tool,
    execute: async (input, context) => {
      if (tool === own) await tool.execute(input, context)
      log.push(`acts ${tool.name}`)
      return 'acted'
    },
  })
  const { hooks = [], source } = more(log)
  const { outcome } = await team(
    { boss: { script: noted('boss', script), agents: ['kid'], tools: ['own'] }, kid: { script: noted('kid', kid), tools: ['*'] } },
    { config: { tools: [acting(act), acting(own), ...(source ? [source] : [])] }, store, hooks },
  ).run()
  expect(outcome.status).toBe('completed')
  /** Whether all of these happened, in this order. */
  return (...entries: readonly string[]) => {
    const places = entries.map((entry) => log.indexOf(entry))
    return places.every((place, index) => place >= 0 && place > (places[index - 1] ?? -1))
  }
}

interface Scene {
  readonly script?: Script
  readonly kid?: Script
  readonly more?: (log: string[]) => { readonly hooks?: readonly Hook[]; readonly source?: SessionToolSource }
}

const hook = (log: string[], point: 'beforeRequest' | 'beforeCall' | 'afterCall'): Hook => ({
  name: 'watch',
  onFailure: 'closed',
  [point]: (_: unknown, { agentPath }: { readonly agentPath: string }) => void log.push(`hook of ${agentPath}`),
})

describe('a call of an agent', () => {
  it('starts its child while its intent is stored; the first call of the child waits for both intents', async () => {
    const isOrder = await orderOf({})
    expect(isOrder('asks kid 1', 'stored root item.started')).toBe(true)
    expect(isOrder('stored root item.started', 'stored root/kid#1 item.started', 'acts act')).toBe(true)
  })

  it('returns while the end of its child is stored; the next call of the parent waits for it', async () => {
    const script: Script = (request, step) =>
      step === 1 ? { calls: [ask('kid', 'Go')] } : step === 2 ? { calls: [{ tool: 'own' }] } : { text: resultsOf(request).join() }
    const isOrder = await orderOf({ script, kid: () => ({ text: 'Done.' }) })
    expect(isOrder('asks boss 2', 'stored root/kid#1 turn.completed')).toBe(true)
    expect(isOrder('stored root/kid#1 turn.completed', 'stored root item.completed', 'acts own')).toBe(true)
  })

  it.each(['beforeRequest', 'beforeCall'] as const)('stores its intent before a hook of its child runs: %s', async (point) => {
    const isOrder = await orderOf({ more: (log) => ({ hooks: [hook(log, point)] }) })
    expect(isOrder('stored root item.started', 'hook of root/kid#1', 'acts act')).toBe(true)
  })

  it('stores the end of its child before a hook sees its result', async () => {
    const isOrder = await orderOf({ kid: () => ({ text: 'Done.' }), more: (log) => ({ hooks: [hook(log, 'afterCall')] }) })
    expect(isOrder('stored root/kid#1 turn.completed', 'hook of root')).toBe(true)
  })

  it('stores its intent before a source of its child is opened, which may start a process', async () => {
    const source = (log: string[]): SessionToolSource => ({
      name: 'server',
      open: () => {
        log.push('opens server')
        return { list: () => Promise.resolve([]) }
      },
    })
    const isOrder = await orderOf({ more: (log) => ({ source: source(log) }) })
    expect(isOrder('stored root item.started', 'opens server', 'asks kid 1')).toBe(true)
  })
})

it('a tool that starts an agent gets the result once that is stored, because it may act on it', async () => {
  const isOrder = await orderOf({ script: calling('own'), kid: () => ({ text: 'Done.' }) })
  expect(isOrder('stored root item.started', 'asks kid 1', 'stored root/kid#1 turn.completed', 'acts own')).toBe(true)
})
