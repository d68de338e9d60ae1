import type { AgentNode } from '../../view/index.ts'

/** The agent that talks to the person during a handoff, the innermost one. Messages to the session go to it. */
export function speakerOf(agent: AgentNode | undefined): AgentNode | undefined {
  const turn = agent?.turns.at(-1)
  if (turn?.status !== 'running' && turn?.status !== 'suspended') return undefined
  for (const step of turn.steps.toReversed()) {
    const child = step.calls.findLast(({ speaks }) => speaks === true)?.child
    if (child) return speakerOf(child) ?? child
  }
  return undefined
}
