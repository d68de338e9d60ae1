import { describe, expect, it } from 'vitest'
import type { Approver, TurnOperation } from '../../src/contracts/index.ts'
import type { Runtime } from '../../src/runtime/api/create-agent-runtime.ts'
import { accountingOf, spentSoFar } from '../../src/runtime/journal/operations.ts'
import { runSummary } from '../../src/view/run-summary.ts'
import { ask, resultsOf, type Script, send, team } from './team.ts'

const putOff: Approver = { decide: () => 'suspend' }
const usage = { input: 100, output: 50 }
const calling =
  (...children: readonly string[]): Script =>
  (request, step) =>
    step === 1 ? { calls: children.map((child) => ask(child, 'Go')), usage } : { text: resultsOf(request).join(), usage }

/** Two leads: below one a kid waits for a person, below the other one has ended. */
const members = {
  boss: { script: calling('lead', 'quick'), agents: ['lead', 'quick'] },
  lead: { script: calling('quick', 'kid'), agents: ['kid', 'quick'] },
  kid: {
    tools: ['send'],
    script: ((request, step) =>
      step === 1 ? { calls: [{ tool: 'send' }], usage } : { text: resultsOf(request).join(), usage }) satisfies Script,
  },
  quick: { script: (() => ({ text: 'quick', usage })) satisfies Script },
}

describe('a tree that waits for a person', () => {
  it('counts what its open children have taken so far, at every level, and what has ended once', async () => {
    const { runtime, run } = team(members, { tools: [send], approver: putOff })
    const { outcome } = await run()
    expect(outcome).toMatchObject({ status: 'suspended', usage: { input: 500, output: 250 } })
    expect(outcome.accounting).toHaveLength(7)
    const { root, children } = await (runtime as unknown as Runtime).parts.trees.stateOf(outcome.sessionId)
    if (root.turn.kind !== 'open') throw new Error('the turn has ended')
    // One step of the boss, one of the lead, one of the kid, two of quick ones.
    expect(spentSoFar(root, root.turn, children)).toMatchObject({ usage: { input: 500, output: 250 }, cost: 0 })
    expect(accountingOf(root, children).map(({ agentPath, kind }) => `${agentPath} ${kind}`)).toEqual([
      'root model',
      'root/quick#1 model',
      'root call',
      'root/lead#1 model',
      'root/lead#1/quick#1 model',
      'root/lead#1 call',
      'root/lead#1/kid#1 model',
    ])
  })

  it('lists its open children among its operations, and sums up with them', async () => {
    const { outcome } = await team(members, { tools: [send], approver: putOff }).run()
    const told = (turn: TurnOperation): readonly string[] =>
      turn.steps.flatMap((step) =>
        step.calls.flatMap(({ tool, status, child }) => [`${turn.agentPath} ${tool} ${status}`, ...(child ? told(child) : [])]),
      )
    expect(outcome.operations && told(outcome.operations)).toEqual([
      'root agent__quick completed',
      'root agent__lead suspended',
      'root/lead#1 agent__quick completed',
      'root/lead#1 agent__kid suspended',
    ])
    const summary = runSummary(outcome)
    expect(summary).toMatchObject({ usage: outcome.usage, cost: outcome.cost, failed: 0 })
    const lead = summary?.agents.find(({ agent }) => agent === 'lead')
    expect(lead).toMatchObject({ calls: 1, failed: 0, usage: { input: 300, output: 150 } })
    expect(lead?.agents.map(({ agent, usage: { input } }) => `${agent} ${input}`)).toEqual(['quick 100', 'kid 100'])
  })

  it('counts the same once more when it has ended', async () => {
    const { runtime, run } = team(members, { tools: [send], approver: putOff })
    const { outcome, events } = await run()
    const request = events.find((event) => event.type === 'interaction.approval.requested')
    if (request?.type !== 'interaction.approval.requested') throw new Error('nothing was asked')
    await runtime.sessions.approve(outcome.sessionId, { approvalId: request.request.id, decision: { kind: 'approve', breadth: 'once' } })
    const after = await runtime.sessions.outcome(outcome.sessionId)
    expect(after).toMatchObject({ status: 'completed', usage: { input: 800, output: 400 } })
  })
})
