import { expect, it, vi } from 'vitest'
import type { Approver, Store } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { ask, type Script, send, team } from './team.ts'

// Everything is loaded anew between the two: the second one is like a process that has done nothing yet.

const putOff: Approver = { decide: () => 'suspend' }
const boss: Script = (_, step) => (step === 1 ? { calls: [ask('scout', 'Look')] } : { text: 'Done.' })
const scout: Script = (_, step) => (step === 1 ? { calls: [{ tool: 'send' }] } : { text: 'sent' })

async function suspended(store: Store): Promise<string> {
  const members = { boss: { script: boss, agents: ['scout'] }, scout: { script: scout, tools: ['send'] } }
  const { outcome } = await team(members, { store, tools: [send], approver: putOff }).run()
  expect(outcome.status).toBe('suspended')
  return outcome.sessionId
}

it('a child whose model is gone is ended by a process that has taken no step yet', async () => {
  const store = memoryStore()
  const treeId = await suspended(store)
  vi.resetModules()
  const { team: anew } = await import('./team.ts')
  const members = { boss: { script: boss, agents: ['scout'] }, scout: { script: scout, tools: ['send'] } }
  const beforeModel = (name: string) => (name === 'scout' ? Promise.reject(new Error('no model')) : undefined)
  const { runtime } = anew(members, { store, tools: [send], approver: putOff, beforeModel })
  const outcome = await (await runtime.open(treeId as never)).outcome
  expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Done.' } })
  expect(outcome.operations?.steps[0]?.calls[0]).toMatchObject({ status: 'failed', error: 'config', child: { status: 'failed' } })
})
