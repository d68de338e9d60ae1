import { z } from 'zod'
import type { AgentDescription } from '../../contracts/index.ts'
import { findAgent, pageOf, type RouteRequest } from '../http/index.ts'

export const modelsQuery = z.looseObject({
  limit: z.coerce.number().int().min(1).max(1000).default(20),
  after_id: z.string().optional(),
  before_id: z.string().optional(),
})

/** Agents have no date of release: an epoch is what Anthropic has for an unknown one. */
const model = ({ name, displayName }: AgentDescription) => ({
  type: 'model',
  id: name,
  display_name: displayName ?? name,
  created_at: '1970-01-01T00:00:00Z',
})

export const listModels = ({ sessions, query }: RouteRequest<undefined, z.infer<typeof modelsQuery>>): Response =>
  Response.json(pageOf(sessions.agents().map(model), { after: query.after_id, before: query.before_id, limit: query.limit }))

export const getModel = ({ sessions, params }: RouteRequest<undefined, object>): Response =>
  Response.json(model(findAgent(sessions, params.model ?? '')))
