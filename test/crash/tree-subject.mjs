// A tree: a parent, two children at once, a grandchild, and an approval that another process answers.
import { liveLives } from './kill-points.mjs'
import { agents, modelsWith, toolsWith } from './team.mjs'

await liveLives(
  (effect, points) => ({
    config: { agents, agentSelection: { agent: 'boss' }, tools: toolsWith(effect) },
    adapter: modelsWith(points),
    approver: { decide: () => 'suspend' },
  }),
  // What a person would do next: answer what is asked, or continue what was left.
  async (runtime, { treeId, before, outcome }) => {
    if (outcome.status !== 'suspended') return outcome
    if (outcome.reason === 'approval') {
      const { request } = before.findLast(({ type }) => type === 'interaction.approval.requested')
      await runtime.sessions.approve(treeId, { approvalId: request.id, decision: { kind: 'approve', breadth: 'once' } })
    }
    try {
      return await (await runtime.open(treeId)).outcome
    } catch (error) {
      // Closed while it answered: the next process goes on.
      if (error.code === 'runtime_closed') return outcome
      throw error
    }
  },
)
