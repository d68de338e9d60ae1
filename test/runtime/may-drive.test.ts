import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { bounded, journalOf, tool, troupeError, world } from '../acceptance/support.ts'

const member = (name: string, agents: readonly string[] = []) => ({
  name,
  description: `The ${name}`,
  prompt: 'Work.',
  model: 'scripted/model',
  tools: ['*'],
  agents,
})
const send = tool('send', { approval: () => ({ keys: [], summary: 'Send it' }) })
const suspends = { decide: () => 'suspend' as const }

/** A root with a child that waits for an approval. */
async function suspendedTeam(origin?: { readonly workspace: string }) {
  const store = memoryStore()
  const config = { agents: [member('boss', ['clerk']), member('clerk')], agentSelection: { agent: 'boss' } }
  const steps = [{ calls: [{ tool: 'agent__clerk', input: { prompt: 'work' } }] }, { calls: [{ tool: 'send' }] }]
  const setup = { store, config, tools: [send], approver: suspends, ...(origin && { origin }) }
  const { sessionId, status } = await world({ ...setup, steps }).runtime.run('go')
  expect(status).toBe('suspended')
  const before = await journalOf(store, sessionId)
  /** Refused, and nothing in the store has changed. */
  const refused = async (change: object) => {
    const error = await troupeError(() => world({ ...setup, ...change }).runtime.open(sessionId))
    expect(await journalOf(store, sessionId)).toEqual(before)
    expect(await store.trees.driver(sessionId)).toBeUndefined()
    return error
  }
  return { setup, sessionId, refused }
}

describe('open refuses a program that cannot drive the session', () => {
  it('without the agent of its root', async () => {
    const { refused } = await suspendedTeam()
    const error = await refused({ config: { agents: [member('clerk')] } })
    expect(error).toMatchObject({
      code: 'session_mismatch',
      message: expect.stringContaining('agent "boss" is missing'),
      problems: [{ place: 'agent "boss"', remedy: 'Agents here: clerk.' }],
    })
  })

  it('without the agent of an open child', async () => {
    const { refused } = await suspendedTeam()
    const error = await refused({ config: { agents: [member('boss'), member('other')], agentSelection: { agent: 'boss' } } })
    expect(error).toMatchObject({
      code: 'session_mismatch',
      message: expect.stringContaining('agent "clerk" of its open child root/clerk#1 is missing'),
    })
  })

  it('in another workspace, or in none', async () => {
    const { refused, setup, sessionId } = await suspendedTeam({ workspace: '/one' })
    expect(await refused({ origin: { workspace: '/two' } })).toMatchObject({
      code: 'session_mismatch',
      message: expect.stringContaining('workspace is /one, this is /two'),
    })
    expect((await refused({ origin: undefined })).message).toContain('this program has none')
    expect(await bounded((await world(setup).runtime.open(sessionId)).outcome)).toMatchObject({ status: 'suspended', reason: 'approval' })
  })
})

it('the agent of a child that has ended is not needed', async () => {
  const store = memoryStore()
  const config = { agents: [member('boss', ['clerk']), member('clerk')], agentSelection: { agent: 'boss' } }
  const steps = [{ calls: [{ tool: 'agent__clerk', input: { prompt: 'work' } }] }, { text: 'Worked.' }, { text: 'Led.' }]
  const { sessionId } = await world({ store, config, steps }).runtime.run('go')
  const later = world({ store, config: { agents: [member('boss')] }, steps: [{ text: 'Again.' }] })
  const handle = await later.runtime.open(sessionId)
  await handle.send('again')
  expect(await bounded(handle.outcome)).toMatchObject({ status: 'completed', report: { text: 'Again.' } })
})

it('a missing tool is withheld and reported', async () => {
  const { setup, sessionId } = await suspendedTeam()
  const later = world({ ...setup, tools: [tool('other')], steps: [{ text: 'Worked.' }, { text: 'Led.' }] })
  const handle = await later.runtime.open(sessionId)
  const [request] = await later.runtime.sessions.requests(sessionId)
  await handle.approve(request?.id ?? '', { kind: 'approve', breadth: 'once' })
  const outcome = await bounded(later.runtime.sessions.outcome(sessionId))
  expect(outcome.diagnostics.filter(({ code }) => code === 'tool_missing')).not.toEqual([])
  expect(later.model.requests.flatMap(({ tools }) => tools.map(({ name }) => name))).not.toContain('send')
})
