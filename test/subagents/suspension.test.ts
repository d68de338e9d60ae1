import { setImmediate as macrotask } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Approver, InteractionEvent, Store, Tool, TreeId } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { gate, type HandGate } from '../../src/testing/index.ts'
import { ask, resultsOf, type Script, send, team } from './team.ts'

// A tree is suspended when all that is at work waits for a person: no sooner, no later, and nothing is left behind.

const putOff: Approver = { decide: () => 'suspend' }
const clerk = {
  tools: ['send'],
  script: ((request, step) =>
    step === 1 ? { calls: [{ tool: 'send' }] } : { text: `clerk: ${resultsOf(request).join()}` }) satisfies Script,
}
const boss = (...calls: readonly { readonly tool: string; readonly input?: object }[]): Script => {
  return (request, step) => (step === 1 ? { calls } : { text: resultsOf(request).join(' | ') })
}
const tool = (name: string, execute: Tool['execute'], more: Partial<Tool> = {}): Tool => ({
  name,
  description: name,
  inputSchema: { type: 'object' },
  concurrency: 'shared',
  execute,
  ...more,
})

/** Runs to the suspension, opening the gate once the clerk is at rest; then answers, and runs to the end. */
async function suspendThenAnswer(runtime: ReturnType<typeof team>['runtime'], waiting: HandGate) {
  const events: InteractionEvent[] = []
  const handle = runtime.stream('Go')
  for await (const event of handle) {
    if ('seq' in event) events.push(event)
    if (event.type !== 'interaction.turn.suspended' || event.agentPath !== 'root/clerk#1') continue
    // Told before it has come to rest; on a memory store that takes no longer than this.
    await macrotask()
    waiting.open()
  }
  const before = await handle.outcome
  await runtime.sessions.approve(handle.sessionId, { approvalId: approvalOf(events), decision: { kind: 'approve', breadth: 'once' } })
  return { before, events, after: await runtime.sessions.outcome(handle.sessionId) }
}

function approvalOf(events: readonly InteractionEvent[]) {
  const request = events.find((event) => event.type === 'interaction.approval.requested')
  if (request?.type !== 'interaction.approval.requested') throw new Error('nothing was asked')
  return request.request.id
}

const typesOf = (events: readonly InteractionEvent[], path: string) =>
  events.filter(({ agentPath }) => agentPath === path).map(({ type }) => type.replace('interaction.', ''))

describe('a tree with a child that waits for a person', () => {
  it('continues until its other children have ended, and is suspended then', async () => {
    const waiting = gate()
    const { runtime } = team(
      {
        boss: { agents: ['scout', 'clerk'], script: boss(ask('scout', 'a'), ask('clerk', 'b')) },
        scout: { script: () => waiting.promise.then(() => ({ text: 'scouted' })) },
        clerk,
      },
      { tools: [send], approver: putOff },
    )
    const { before, after, events } = await suspendThenAnswer(runtime, waiting)
    expect(before.status).toBe('suspended')
    expect(typesOf(events, 'root').slice(-3)).toEqual(['subagent.completed', 'item.completed', 'turn.suspended'])
    expect(after).toMatchObject({ status: 'completed', report: { text: 'scouted | clerk: sent' } })
  })

  it('is not suspended while another child is being got ready', async () => {
    const waiting = gate()
    const { runtime } = team(
      {
        boss: { agents: ['scout', 'clerk'], script: boss(ask('scout', 'a'), ask('clerk', 'b')) },
        scout: { script: () => ({ text: 'scouted' }) },
        clerk,
      },
      { tools: [send], approver: putOff, beforeModel: (name) => (name === 'scout' ? waiting.promise : undefined) },
    )
    const { before, after, events } = await suspendThenAnswer(runtime, waiting)
    expect(before.status).toBe('suspended')
    expect(typesOf(events, 'root').slice(-3)).toEqual(['subagent.completed', 'item.completed', 'turn.suspended'])
    expect(after).toMatchObject({ status: 'completed', report: { text: 'scouted | clerk: sent' } })
  })

  it('is not suspended before the results of other calls are on record', async () => {
    const waiting = gate()
    const memory = memoryStore()
    const store: Store = {
      ...memory,
      blobs: { ...bound(memory.blobs), put: (tree, content) => waiting.promise.then(() => memory.blobs.put(tree, content)) },
    }
    const { runtime } = team(
      { boss: { agents: ['clerk'], tools: ['dump'], script: boss({ tool: 'dump' }, ask('clerk', 'b')) }, clerk },
      { tools: [send, tool('dump', () => 'much '.repeat(20_000))], approver: putOff, store },
    )
    const { before, after, events } = await suspendThenAnswer(runtime, waiting)
    expect(before.status).toBe('suspended')
    expect(typesOf(events, 'root').slice(-2)).toEqual(['item.completed', 'turn.suspended'])
    expect(after).toMatchObject({ status: 'completed', report: { text: expect.stringMatching(/^much .* \| clerk: sent$/s) } })
    expect(after.diagnostics).toEqual([])
  })

  it('lets calls that waited for another one run first', async () => {
    const waiting = gate()
    const ran: string[] = []
    const keyed = { concurrency: { key: () => 'one' } } as const
    const { runtime } = team(
      {
        boss: { agents: ['clerk'], tools: ['early', 'late'], script: boss({ tool: 'early' }, { tool: 'late' }, ask('clerk', 'b')) },
        clerk,
      },
      {
        tools: [
          send,
          tool('early', () => waiting.promise.then(() => 'early'), keyed),
          tool(
            'late',
            async () => {
              ran.push('late')
              return 'late'
            },
            keyed,
          ),
        ],
        approver: putOff,
      },
    )
    const { before, after } = await suspendThenAnswer(runtime, waiting)
    expect(before.status).toBe('suspended')
    expect(after).toMatchObject({ status: 'completed', report: { text: 'early | late | clerk: sent' }, diagnostics: [] })
    expect(ran).toEqual(['late'])
  })

  it('takes in an answer that comes while the suspension is put on record', async () => {
    const memory = memoryStore()
    let answer: ((treeId: TreeId) => Promise<void>) | undefined
    let answered: Promise<unknown> | undefined
    const store: Store = {
      ...memory,
      journal: {
        ...bound(memory.journal),
        async append(batch) {
          const isSuspension = batch.events.some(({ type, agentPath }) => type === 'interaction.turn.suspended' && agentPath === 'root')
          const stored = memory.journal.append(batch)
          if (isSuspension) await answer?.(batch.treeId)
          return stored
        },
      },
    }
    const { runtime } = team(
      { boss: { agents: ['clerk'], script: boss(ask('clerk', 'b')) }, clerk },
      { tools: [send], approver: putOff, store },
    )
    answer = async (treeId) => {
      answer = undefined
      const approvalId = approvalOf(await memory.journal.read(treeId, 0))
      const isStored = new Promise<void>((resolve) => memory.inbox.watch(treeId, resolve))
      // It is accepted when the driver has read it, which is after this commit.
      answered = runtime.sessions.approve(treeId, { approvalId, decision: { kind: 'approve', breadth: 'once' } })
      await isStored
    }
    expect(await runtime.run('Go')).toMatchObject({ status: 'completed', report: { text: 'clerk: sent' } })
    expect(await answered).toMatchObject({ driven: true })
  })
})

/** The methods of a port, free of it. */
function bound<Port extends object>(port: Port): Port {
  const methods: Record<string, unknown> = {}
  for (let level: object | null = port; level && level !== Object.prototype; level = Object.getPrototypeOf(level)) {
    for (const name of Object.getOwnPropertyNames(level)) {
      const value: unknown = port[name as keyof Port]
      if (name !== 'constructor' && typeof value === 'function') methods[name] ??= value.bind(port)
    }
  }
  return methods as Port
}
