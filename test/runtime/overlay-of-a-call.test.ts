import { describe, expect, it } from 'vitest'
import type { Store, StreamEvent, ToolContext } from '../../src/contracts/index.ts'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { ScriptedModel, type ScriptedStep } from '../../src/testing/index.ts'
import { journalOf } from '../acceptance/support.ts'
import { ask, type Script, team } from '../subagents/team.ts'
import { runtimeWith, tool } from './helpers.ts'

const ofRuntime = { CITY: 'Bern', LAND: 'CH', SHOP_TOKEN: 'tok-runtime-1' }
const ofCall = { CITY: 'Oslo', SHOP_TOKEN: 'tok-of-call-2', MORE: 'yes' }
const both = { ...ofRuntime, ...ofCall }
const look: ScriptedStep = { calls: [{ tool: 'look' }] }

function stage({ steps = [look, { text: 'Done.' }], store = memoryStore() }: { steps?: ScriptedStep[]; store?: Store } = {}) {
  const seen: ToolContext['overlay'][] = []
  const model = new ScriptedModel(steps)
  const looks = tool('look', {
    effect: 'read',
    execute: (_, { overlay }) => {
      seen.push(overlay)
      return `found ${overlay.SHOP_TOKEN}`
    },
  })
  return { seen, model, store, runtime: runtimeWith(model, { store, tools: [looks], config: { overlay: ofRuntime } }) }
}

describe('the overlay of a call', () => {
  it('adds to and replaces that of the runtime, for this tree alone', async () => {
    const { runtime, seen } = stage({ steps: [look, { text: 'One.' }, look, { text: 'Two.' }] })
    await runtime.run('Go', { overlay: ofCall })
    await runtime.run('Go')
    expect(seen).toEqual([both, ofRuntime])
    expect(Object.isFrozen(seen[0])).toBe(true)
  })

  it('is taken by stream and sessions.start, and holds for later turns', async () => {
    const { runtime, seen } = stage({ steps: [look, { text: '1' }, look, { text: '2' }, look, { text: '3' }] })
    const handle = runtime.stream('Go', { overlay: ofCall })
    await handle.outcome
    await handle.send('Again')
    await runtime.sessions.outcome(handle.sessionId)
    const treeId = await runtime.sessions.start('Go', { overlay: { CITY: 'Rome' } })
    await runtime.sessions.outcome(treeId)
    expect(seen).toEqual([both, both, { ...ofRuntime, CITY: 'Rome' }])
  })

  it('reaches children', async () => {
    const seen: unknown[] = []
    const looks = tool('look', {
      execute: (_, { overlay }) => {
        seen.push(overlay)
        return 'ok'
      },
    })
    const lead: Script = (_, step) => (step === 1 ? { calls: [ask('kid', 'Look')] } : { text: 'Done.' })
    const kid: Script = (_, step) => (step === 1 ? { calls: [{ tool: 'look' }] } : { text: 'Seen.' })
    const { runtime } = team({ lead: { script: lead, agents: ['kid'] }, kid: { script: kid, tools: ['look'] } }, { tools: [looks] })
    await runtime.run('Go', { overlay: ofCall })
    expect(seen).toEqual([ofCall])
  })

  it('hides its secrets and those that it replaces, wherever they would appear', async () => {
    const [own, shared] = [ofCall.SHOP_TOKEN, ofRuntime.SHOP_TOKEN]
    const store = memoryStore()
    const { runtime, model } = stage({ store, steps: [look, { text: `It is ${own}, not ${shared}.` }, { text: 'More.' }] })
    const handle = runtime.stream(`Use ${own}`, { overlay: ofCall })
    const events: StreamEvent[] = []
    for await (const event of handle) events.push(event)
    const outcome = await handle.outcome
    expect(outcome.report?.text).toBe('It is [redacted:SHOP_TOKEN], not [redacted:SHOP_TOKEN].')
    await handle.send(`Once more ${own}`)
    await runtime.sessions.outcome(handle.sessionId)
    const everything = JSON.stringify([
      events,
      outcome,
      model.requests,
      await journalOf(store, handle.sessionId),
      await store.inbox.read(handle.sessionId, 0),
    ])
    for (const secret of [own, shared]) expect(everything).not.toContain(secret)
    expect(everything).not.toContain('Oslo')
  })

  it('is not there in another process: those of the runtime hold, or what open is given', async () => {
    const before = stage()
    const { sessionId: treeId } = await before.runtime.run('Go', { overlay: ofCall })
    await before.runtime.close()
    const { runtime, seen } = stage({ store: before.store, steps: [look, { text: '2' }, look, { text: '3' }] })
    await (await runtime.open(treeId)).send('Again')
    expect((await runtime.sessions.outcome(treeId)).status).toBe('completed')
    const handle = await runtime.open(treeId, { overlay: ofCall })
    await expect(runtime.open(treeId, { overlay: ofCall })).rejects.toMatchObject({ code: 'usage', message: /is running here/ })
    await handle.send('Again')
    expect((await handle.outcome).status).toBe('completed')
    expect(seen).toEqual([ofRuntime, both])
  })

  it.each([
    ['that it was started with', ofCall, both],
    ['of the runtime', undefined, ofRuntime],
  ])('of an open that is refused does not hold: the tree has those %s', async (_, overlay, expected) => {
    const { runtime, seen, store } = stage({ steps: [look, { text: '1' }, look, { text: '2' }] })
    const { sessionId: treeId } = await runtime.run('Go', overlay && { overlay })
    const owned = await stage({ store }).runtime.open(treeId)
    await expect(runtime.open(treeId, { overlay: { CITY: 'Rome' } })).rejects.toMatchObject({ code: 'session_driven' })
    await owned.release()
    await runtime.sessions.send(treeId, 'Again')
    expect((await runtime.sessions.outcome(treeId)).status).toBe('completed')
    expect(seen).toEqual([expected, expected])
  })

  it('is refused where it is none, or would be for models, and no value is shown', async () => {
    const store = memoryStore()
    const runtime = createAgentRuntime({
      config: { agents: [{ name: 'clerk', description: 'd', prompt: 'p', model: 'm' }] },
      adapter: { secrets: { OPENAI_API_KEY: 'sk-of-the-runtime' }, resolve: () => new ScriptedModel([{ text: 'Done.' }]) },
      store,
    })
    const overlay = { PIN: 123_456, OPENAI_API_KEY: 'sk-of-the-call' } as never
    const message = [
      'Invalid call, 2 problems:',
      '  options.overlay.PIN: expected a string, found a number. Pass a string.',
      '  options.overlay.OPENAI_API_KEY: the models of this runtime use another value, which a call cannot change. Create a runtime with its own adapter. If the variable is for tools, give it another name.',
    ].join('\n')
    await expect(runtime.run('Go', { overlay })).rejects.toMatchObject({ code: 'usage', message })
    await expect(runtime.run('Go', { overlay: ['x'] as never })).rejects.toThrow(/options\.overlay: expected an object/)
    await expect(runtime.open('t' as never, { overlay })).rejects.toMatchObject({ code: 'usage', message })
    expect(await store.trees.list()).toEqual([])
    expect((await runtime.run('Go', { overlay: { OPENAI_API_KEY: 'sk-of-the-runtime' } })).status).toBe('completed')
  })
})
