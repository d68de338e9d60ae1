import { describe, expect, it } from 'vitest'
import { endTree } from '../../src/runtime/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, ScriptedModel, type ScriptedStepSource } from '../../src/testing/index.ts'
import { settle } from '../settle.ts'
import { runtimeWith, tool } from './helpers.ts'
import { asksForSummary, windowed } from './windows.ts'

const context = [
  { source: 'AGENTS.md', text: 'From the file AGENTS.md: be brief.' },
  { source: 'more', text: 'And kind.' },
]

describe('the title of a run', () => {
  it('is the first message of the person, not text of the project', async () => {
    const runtime = runtimeWith(new ScriptedModel([{ text: 'Done.' }, { text: 'Done.' }]), { config: { context } })
    const { sessionId: treeId } = await runtime.run('My very own title\nand more')
    const titles = async () => (await runtime.sessions.list()).map(({ title }) => title)
    expect(await titles()).toEqual(['My very own title'])
    await runtime.sessions.send(treeId, 'Something else')
    await runtime.sessions.outcome(treeId)
    expect(await titles()).toEqual(['My very own title'])
  })

  it('is what the person wrote, not a reminder of a coding agent', async () => {
    const runtime = runtimeWith(new ScriptedModel([{ text: 'Done.' }]))
    const reminder = { type: 'text', text: '<system-reminder>\nBe brief.\n</system-reminder>' } as const
    await runtime.run([reminder, { type: 'text', text: 'Rename the function' }])
    expect(await runtime.sessions.list()).toMatchObject([{ title: 'Rename the function' }])
  })

  it('is that as well while it waits for a person, and once it was given up', async () => {
    const store = memoryStore()
    const send = tool('send', { approval: () => ({ keys: [{ key: 'send', label: 'send' }], summary: 'Send it' }) })
    const runtime = runtimeWith(new ScriptedModel([{ calls: [{ tool: 'send', input: { q: 'x' } }] }]), {
      tools: [send],
      store,
      approver: { decide: () => 'suspend' },
      config: { context },
    })
    const { sessionId: treeId } = await runtime.run('Write to Ada')
    expect(await runtime.sessions.list()).toMatchObject([{ title: 'Write to Ada', status: 'suspended' }])
    await runtime.close()
    await endTree(store, treeId, 'Ada')
    expect(await store.trees.get(treeId)).toMatchObject({ title: 'Write to Ada', status: 'interrupted' })
  })

  it('stays when a history that was made shorter no longer begins with it', async () => {
    const [store, clock] = [memoryStore(), new FakeClock()]
    const look = tool('look', { effect: 'read', execute: ({ q }) => `saw ${String(q)} ${'x'.repeat(2_600)}` })
    const looks = Array.from(
      { length: 7 },
      (_, i): ScriptedStepSource =>
        (request) =>
          asksForSummary(request) ? { text: 'It is green.' } : { calls: [{ tool: 'look', input: { q: `${i}` } }] },
    )
    const rest: ScriptedStepSource = (request) => ({ text: asksForSummary(request) ? 'It is green.' : 'Done.' })
    const model = windowed(4_000, [{ text: 'Hello.' }, ...looks, ...Array.from({ length: 9 }, () => rest)])
    const runtime = runtimeWith(model, { tools: [look], store, clock, limits: { maxToolTurns: 60 }, config: { context } })
    const { sessionId: treeId } = await settle(runtime.run('Good morning'), clock)
    await runtime.sessions.send(treeId, 'What is inside?')
    await settle(runtime.sessions.outcome(treeId), clock)
    const events = await store.journal.read(treeId, 0)
    expect(events.map(({ type }) => type)).toContain('interaction.context.compacted')
    expect((await runtime.sessions.list()).map(({ title }) => title)).toEqual(['Good morning'])
  })
})
