import type { StreamEvent } from '../contracts/index.ts'
import type { AgentNode } from './nodes.ts'

// Who talks to the person: the root agent, or during a handoff the innermost agent that took over. Messages to the session go to it.

/** The path of that agent after an event. `before`: the path before it. */
export function speakerAfter(event: StreamEvent, before: string): string {
  switch (event.type) {
    case 'interaction.handoff.started':
      return event.childPath
    case 'interaction.handoff.completed':
      return event.agentPath
    case 'interaction.turn.completed':
    case 'interaction.turn.failed':
    case 'interaction.turn.interrupted':
      return event.agentPath === 'root' ? 'root' : before
    default:
      return before
  }
}

/** The name of a child that speaks, from its path. `undefined`: the root speaks. */
export const childSpeaker = (path: string): string | undefined =>
  path === 'root' ? undefined : path.slice(path.lastIndexOf('/') + 1).replace(/#\d+$/, '')

/** The node of that agent. `undefined`: the root. */
export function speakerOf(agent: AgentNode | undefined): AgentNode | undefined {
  const turn = agent?.turns.at(-1)
  if (turn?.status !== 'running' && turn?.status !== 'suspended') return undefined
  for (const step of turn.steps.toReversed()) {
    const child = step.calls.findLast(({ speaks }) => speaks === true)?.child
    if (child) return speakerOf(child) ?? child
  }
  return undefined
}
