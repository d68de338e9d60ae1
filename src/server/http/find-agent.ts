import type { AgentDescription, SessionService } from '../../contracts/index.ts'
import { HttpError } from './http-error.ts'

/** An agent that the caller may ask. An unknown name is reported with the names of the others. */
export function findAgent(sessions: Pick<SessionService, 'agents'>, name: string): AgentDescription {
  const agents = sessions.agents()
  const found = agents.find((agent) => agent.name === name)
  if (found) return found
  const names = agents.map((agent) => agent.name)
  throw new HttpError('not_found', `There is no agent "${name}".`, {
    code: 'agent_unknown',
    remedy: names.length > 0 ? `Use one of: ${names.join(', ')}.` : 'This token may use no agent.',
    details: { agents: names },
  })
}
