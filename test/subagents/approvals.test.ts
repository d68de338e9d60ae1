import { describe, expect, it } from 'vitest'
import type { ApprovalId, Approver, InteractionEvent, Tool } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { ask, resultsOf, type Script, team } from './team.ts'

const send: Tool = {
  name: 'send',
  description: 'Sends.',
  inputSchema: { type: 'object' },
  repeatable: true,
  approval: () => ({ keys: [{ key: 'send', label: 'send' }], summary: 'Send it' }),
  execute: () => 'sent',
}
const calling =
  (...children: readonly string[]): Script =>
  (request, step) =>
    step === 1 ? { calls: children.map((child) => ask(child, 'Go')) } : { text: resultsOf(request).join(' | ') }
/** Sends twice, one after the other. */
const kid: Script = (request, step) => (step <= 2 ? { calls: [{ tool: 'send' }] } : { text: resultsOf(request).join() })
const members = {
  boss: { script: calling('lead'), agents: ['lead'] },
  lead: { script: calling('kid', 'kid'), agents: ['kid'], limits: { parallelChildren: 1 } },
  kid: { script: kid, tools: ['send'] },
}

describe('what a grandchild wants to be allowed', () => {
  it.each(['wait', 'suspend'] as const)('is asked on the stream of the root, and answered on its handle (%s)', async (verdict) => {
    const approver: Approver = { decide: () => verdict }
    const store = memoryStore()
    const { runtime } = team(members, { tools: [send], approver, store })
    const asked: { readonly path: string; readonly id: ApprovalId }[] = []
    let handle = runtime.stream('Go')
    const { sessionId: treeId } = handle
    for (let turns = 0; turns < 5; turns++) {
      for await (const event of handle) {
        const request = requestOf(event as InteractionEvent)
        if (!request) continue
        asked.push(request)
        // For the session: neither the second call of the same grandchild is asked about, nor the other grandchild.
        if (verdict === 'wait') await handle.approve(request.id, { kind: 'approve', breadth: 'session' })
      }
      const { status } = await handle.outcome
      const open = await runtime.sessions.requests(treeId)
      expect(open.map(({ id, agentPath }) => ({ id, path: agentPath }))).toEqual(status === 'suspended' ? asked.slice(-1) : [])
      if (status !== 'suspended') break
      handle = await runtime.open(treeId)
      const last = asked.at(-1)
      if (last) await handle.approve(last.id, { kind: 'approve', breadth: 'session' })
    }
    expect(await handle.outcome).toMatchObject({ status: 'completed', report: { text: 'sent,sent | sent,sent' } })
    expect(asked.map(({ path }) => path)).toEqual(['root/lead#1/kid#1'])
    const journal = await store.journal.read(treeId, 0)
    const granted = journal.filter(({ type }) => type === 'interaction.approval.granted')
    expect(granted).toMatchObject([{ agentPath: 'root', keys: [{ key: 'send', label: 'send' }] }])
  })

  it('can be refused there, for that grandchild alone', async () => {
    const { runtime } = team(members, { tools: [send], approver: { decide: () => 'wait' } })
    const handle = runtime.stream('Go')
    for await (const event of handle) {
      const request = requestOf(event as InteractionEvent)
      if (request?.path === 'root/lead#1/kid#1') await handle.approve(request.id, { kind: 'deny', feedback: 'not you' })
      else if (request) await handle.approve(request.id, { kind: 'approve', breadth: 'once' })
    }
    const { report } = await handle.outcome
    expect(report?.text).toMatch(/not you.*not you.* \| sent,sent$/)
  })
})

function requestOf(event: InteractionEvent): { readonly path: string; readonly id: ApprovalId } | undefined {
  return event.type === 'interaction.approval.requested' ? { path: event.agentPath, id: event.request.id } : undefined
}
