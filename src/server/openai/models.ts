import type { AgentDescription } from '../../contracts/index.ts'
import { findAgent, type RouteRequest } from '../http/index.ts'

/** Agents have no date of creation: programs only need the field. */
const model = ({ name, displayName, description }: AgentDescription): object => ({
  id: name,
  object: 'model',
  created: 0,
  owned_by: 'troupe',
  name: displayName ?? name,
  description,
})

export const listModels = ({ sessions }: RouteRequest): Response => Response.json({ object: 'list', data: sessions.agents().map(model) })

export const getModel = ({ sessions, params }: RouteRequest): Response => Response.json(model(findAgent(sessions, params.model ?? '')))
