import { expect, it } from 'vitest'
import type { InteractionEvent } from '../../src/contracts/index.ts'
import { gate } from '../../src/testing/index.ts'
import { storeOf } from '../runtime/journals.ts'
import { resultsOf, type Script, team, textOf } from './team.ts'

it('a spawned child goes on from wherever the journal ends; each of its turns is recorded in its parent', async () => {
  const told = gate()
  const boss: Script = (request, step) => {
    if (step === 1) return { calls: [{ tool: 'spawn_agent', input: { agent: 'scout', prompt: 'one' } }] }
    if (step === 2) return { calls: [{ tool: 'send_agent_input', input: { id: 'scout#1', text: 'two', mode: 'queue' } }] }
    told.open()
    return { text: resultsOf(request).join() }
  }
  const scout: Script = (request) => told.promise.then(() => ({ text: `did ${textOf(request)}` }))
  const members = { boss: { script: boss, agents: ['scout'], childControl: true }, scout: { script: scout } }
  const { events } = await team(members).run()

  const turnsOf = (all: readonly InteractionEvent[], type: string) => all.filter((event) => event.type === type && 'turn' in event).length
  const ends = events.map((_, index) => index + 1).filter((end) => turnsOf(events.slice(0, end), 'interaction.subagent.started') === 1)
  for (const end of ends) {
    const store = await storeOf(events.slice(0, end))
    const { sessionId, outcome } = await team(members, { store }).runtime.open(events[0]?.treeId ?? '')
    await outcome
    const all = await store.journal.read(sessionId as never, 0)
    const turns = all.filter(({ type, agentPath }) => type === 'interaction.turn.completed' && agentPath === 'root/scout#1').length
    expect({ end, turns: turnsOf(all, 'interaction.subagent.completed') }).toEqual({ end, turns })
  }
})
