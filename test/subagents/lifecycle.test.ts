import { describe, expect, it } from 'vitest'
import type { Approver, InteractionEvent, Tool, TreeId } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, gate } from '../../src/testing/index.ts'
import { ask, resultsOf, type Script, team } from './team.ts'

const boss: Script = (request, step) =>
  step === 1 ? { calls: [ask('scout', 'Look')] } : { text: `Heard: ${resultsOf(request).join(' | ')}` }
const of = (events: readonly InteractionEvent[], path: string) => events.filter(({ agentPath }) => agentPath === path)

describe('ending a parent', () => {
  it('by an interrupt ends its tree: every session once, the child before its parent', async () => {
    const entered = gate()
    const { runtime } = team({
      boss: { script: boss, agents: ['scout'] },
      scout: {
        script: () => {
          entered.open()
          return new Promise<never>(() => {})
        },
      },
    })
    const events: InteractionEvent[] = []
    const handle = runtime.stream('Go')
    const reading = (async () => {
      for await (const event of handle) if ('seq' in event) events.push(event)
    })()
    await entered.promise
    await handle.interrupt()
    const outcome = await handle.outcome
    await reading
    expect(outcome).toMatchObject({
      status: 'interrupted',
      operations: { steps: [{ calls: [{ status: 'interrupted', child: { status: 'interrupted' } }] }] },
    })
    const ends = events.filter(({ type }) => /^interaction\.turn\.(completed|failed|interrupted)$/.test(type))
    expect(ends.map(({ agentPath, type }) => [agentPath, type])).toEqual([
      ['root/scout#1', 'interaction.turn.interrupted'],
      ['root', 'interaction.turn.interrupted'],
    ])
    expect(events.find(({ type }) => type === 'interaction.subagent.failed')).toMatchObject({
      status: 'interrupted',
      failure: { class: 'cancelled' },
    })
  })

  it('by a stop lets the children answer, and then the parent', async () => {
    const entered = gate()
    const go = gate()
    const { runtime } = team(
      {
        boss: { script: boss, agents: ['scout'] },
        scout: {
          tools: ['work'],
          script: (request, step) =>
            step === 1 ? { calls: [{ tool: 'work' }] } : { text: request.toolChoice === 'none' ? 'stopped here' : 'went on' },
        },
      },
      {
        tools: [
          {
            name: 'work',
            description: 'Works.',
            inputSchema: { type: 'object' },
            async execute() {
              entered.open()
              await go.promise
              return 'worked'
            },
          },
        ],
      },
    )
    const handle = runtime.stream('Go')
    await entered.promise
    await handle.stop()
    go.open()
    expect(await handle.outcome).toMatchObject({
      status: 'partial',
      reason: 'stopped',
      report: { text: expect.stringContaining('stopped here') },
    })
  })

  it('by its time budget ends the child in time for an answer', async () => {
    const clock = new FakeClock()
    const entered = gate()
    const { runtime } = team(
      {
        boss: { script: boss, agents: ['scout'], limits: { timeBudget: 10_000 } },
        scout: {
          limits: { maxRetries: 0 },
          script: () => {
            entered.open()
            return new Promise<never>(() => {})
          },
        },
      },
      { clock },
    )
    const handle = runtime.stream('Go')
    await entered.promise
    await clock.elapse(8_000)
    const outcome = await handle.outcome
    expect(outcome).toMatchObject({
      status: 'partial',
      reason: 'time',
      report: { text: expect.stringMatching(/Heard: Error \((?:timeout|cancelled)\)/) },
    })
    expect(clock.monotonic()).toBeLessThanOrEqual(10_000)
  })
})

describe('a child that needs an approval', () => {
  const ran: string[] = []
  const guarded: Tool = {
    name: 'send',
    description: 'Sends.',
    inputSchema: { type: 'object' },
    approval: () => ({ keys: [{ key: 'send', label: 'send' }], summary: 'Send it' }),
    execute: () => {
      ran.push('send')
      return 'sent'
    },
  }
  const members = {
    boss: { script: boss, agents: ['scout'] },
    scout: {
      tools: ['send'],
      script: ((request, step) =>
        step === 1 ? { calls: [{ tool: 'send' }] } : { text: `child: ${resultsOf(request).join()}` }) satisfies Script,
    },
  }

  it('asks where the tree is watched, and continues when it is answered', async () => {
    ran.length = 0
    const asked: string[] = []
    const approver: Approver = {
      decide: (request) => {
        asked.push(request.summary)
        return { decision: { kind: 'approve', breadth: 'once' }, by: 'ann' }
      },
    }
    const { outcome } = await team(members, { tools: [guarded], approver }).run()
    expect(asked).toEqual(['Send it'])
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Heard: child: sent' } })
  })

  it('suspends the whole tree without an approver; an answer hours later resumes it, in another process', async () => {
    ran.length = 0
    const store = memoryStore()
    const approver: Approver = { decide: () => 'suspend' }
    const first = team(members, { tools: [guarded], approver, store })
    const { outcome, events } = await first.run()
    expect(outcome).toMatchObject({ status: 'suspended', reason: 'approval' })
    const request = events.find((event) => event.type === 'interaction.approval.requested')
    expect(request?.agentPath).toBe('root/scout#1')
    expect(
      events
        .filter(({ type }) => type === 'interaction.turn.suspended')
        .map(({ agentPath }) => agentPath)
        .toSorted(),
    ).toEqual(['root', 'root/scout#1'])
    expect(await first.runtime.sessions.list()).toMatchObject([{ status: 'suspended' }])
    await first.runtime.close()

    const second = team(members, { tools: [guarded], approver, store })
    const approvalId = request?.type === 'interaction.approval.requested' ? request.request.id : undefined
    if (!approvalId) throw new Error('nothing was asked')
    await second.runtime.sessions.approve(outcome.sessionId, { approvalId, decision: { kind: 'approve', breadth: 'once' } })
    expect(await (await second.runtime.open(outcome.sessionId)).outcome).toMatchObject({
      status: 'completed',
      report: { text: 'Heard: child: sent' },
    })
    expect(ran).toEqual(['send'])
    const journal = await store.journal.read(outcome.sessionId, 0)
    expect(journal.filter(({ type }) => type === 'interaction.session.created')).toHaveLength(2)
    expect(of(journal, 'root/scout#1').filter(({ type }) => type === 'interaction.turn.completed')).toHaveLength(1)
  })
})

describe('a tree that is resumed after a crash', () => {
  it('continues with its children at every point of its journal, and repeats no write', async () => {
    const writes: string[] = []
    const write: Tool = {
      name: 'write',
      description: 'Writes.',
      inputSchema: { type: 'object' },
      execute: (_input, { callId }) => {
        writes.push(callId)
        return 'written'
      },
    }
    const members = {
      boss: {
        agents: ['scout', 'writer'],
        script: ((request, step) =>
          step === 1
            ? { calls: [ask('scout', 'a'), ask('writer', 'b')] }
            : { text: `Heard: ${resultsOf(request).join(' | ')}` }) satisfies Script,
      },
      scout: {
        agents: ['helper'],
        script: ((_, step) => (step === 1 ? { calls: [ask('helper', 'c')] } : { text: 'scouted' })) satisfies Script,
      },
      helper: {
        tools: ['write'],
        script: ((_, step) => (step === 1 ? { calls: [{ tool: 'write' }] } : { text: 'helped' })) satisfies Script,
      },
      writer: {
        tools: ['write'],
        script: ((_, step) => (step === 1 ? { calls: [{ tool: 'write' }] } : { text: 'wrote' })) satisfies Script,
      },
    }
    const whole = team(members, { tools: [write] })
    const { events, outcome } = await whole.run()
    expect(outcome.report?.text).toBe('Heard: scouted | wrote')
    expect(writes).toHaveLength(2)

    for (let cut = 3; cut < events.length - 1; cut++) {
      const last = events[cut - 1]
      // A session, its input and the note of it to its parent are one batch.
      if (last?.type === 'interaction.session.created' || (last?.type === 'interaction.input.accepted' && last.agentPath !== 'root'))
        continue
      writes.length = 0
      const store = memoryStore()
      const treeId = outcome.sessionId as TreeId
      const claim = await store.journal.claim(treeId, 'dead' as never)
      if (!claim.ok) throw new Error('not claimed')
      const kept = events.slice(0, cut)
      await store.journal.append({
        treeId,
        expectedSeq: 0,
        epoch: claim.epoch,
        events: kept,
        summary: { agent: 'boss', title: 'Go', status: 'running', openRequests: 0 },
      })
      await store.journal.release(treeId, claim.epoch)
      const done = kept.filter(
        (event) => event.type === 'interaction.item.completed' && event.item.kind === 'call' && event.item.content === 'written',
      ).length
      const begun = kept.filter(
        (event) => event.type === 'interaction.item.started' && event.item.kind === 'call' && event.item.tool === 'write',
      ).length
      const { runtime } = team(members, { tools: [write], store })
      const handle = await runtime.open(treeId)
      const again = await handle.outcome
      expect(again.status, `cut after ${cut}: ${kept.at(-1)?.type} of ${kept.at(-1)?.agentPath}`).toBe('completed')
      // What was begun and not recorded is unknown, never run again.
      expect(writes.length + begun).toBe(2)
      expect(again.diagnostics.filter(({ code }) => code === 'call_unknown')).toHaveLength(begun - done)
      const journal = await store.journal.read(treeId, 0)
      expect(journal.filter(({ type }) => type === 'interaction.session.created')).toHaveLength(4)
      for (const path of ['root', 'root/scout#1', 'root/scout#1/helper#1', 'root/writer#1']) {
        expect(
          of(journal, path).filter(({ type }) => /turn\.(completed|failed|interrupted)$/.test(type)),
          `${cut} ${path}`,
        ).toHaveLength(1)
      }
      expect(
        journal.filter(({ type }) => /subagent\.(completed|failed)$/.test(type)),
        `${cut}`,
      ).toHaveLength(3)
      await runtime.close()
    }
  })
})
