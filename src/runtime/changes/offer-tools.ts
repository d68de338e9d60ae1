import type { AgentSpec } from '../../contracts/index.ts'
import { type ActiveSession, type ToolRegistry, withClientTools } from '../../steps/index.ts'
import { isSameList } from '../../util/is-same-list.ts'
import type { SessionSetup } from '../parts/session-setup.ts'

interface OfferedTools {
  readonly base: ToolRegistry
  readonly setup: SessionSetup
  /** With other instructions, perhaps. */
  readonly agent: AgentSpec
}

/** Offers changed tools of the agent, and those of its client, from now on. */
export function offerTools(session: ActiveSession, { base, setup, agent }: OfferedTools): void {
  const { changes, prices, windows, maxOutputs } = session.state
  const registry = withClientTools(base, agent, changes)
  if (registry !== session.ports.registry) session.ports = { ...session.ports, registry }
  const { tools, promptChars } = setup.effective(agent, registry)
  const hasSamePrompt = agent.prompt === session.state.agent.prompt
  if (hasSamePrompt && isSameList(tools, session.state.tools)) return
  const reason = hasSamePrompt ? 'The tools have changed.' : 'The instructions have changed.'
  session.note({ type: 'interaction.session.configured', agent, tools, promptChars, prices, windows, maxOutputs, reason })
}
