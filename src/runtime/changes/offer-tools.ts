import { type ActiveSession, type ToolRegistry, withClientTools } from '../../steps/index.ts'
import { isSameList } from '../../util/is-same-list.ts'
import type { SessionSetup } from '../parts/session-setup.ts'

/** Offers changed tools of the agent, and those of its client, from now on. */
export function offerTools(session: ActiveSession, base: ToolRegistry, setup: SessionSetup): void {
  const { agent, changes, prices, windows, maxOutputs } = session.state
  const registry = withClientTools(base, agent, changes)
  if (registry !== session.ports.registry) session.ports = { ...session.ports, registry }
  const { tools, promptChars } = setup.effective(agent, registry)
  if (isSameList(tools, session.state.tools)) return
  const reason = 'The tools have changed.'
  session.note({ type: 'interaction.session.configured', agent, tools, promptChars, prices, windows, maxOutputs, reason })
}
