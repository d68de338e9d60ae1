import type { Clock } from '../../contracts/index.ts'
import { type AuditEntry, plainErrors, type Route, route } from '../server/index.ts'
import { agentRoutes } from './agent-routes.ts'
import { approvalRoutes } from './approval-routes.ts'
import { eventRoutes } from './event-routes.ts'
import { sessionRoutes } from './session-routes.ts'
import { turnRoutes } from './turn-routes.ts'

export interface RestDependencies {
  readonly clock: Clock
  readonly version: string
  audit(entry: AuditEntry): Promise<void>
}

/** `/v1/:agent` is last: other routes win. */
export function restRoutes(dependencies: RestDependencies): readonly Route[] {
  const agents = agentRoutes(dependencies)
  const isAsk = ({ path }: Route): boolean => path === '/v1/:agent'
  return [
    statusRoute(dependencies),
    ...turnRoutes,
    ...sessionRoutes(dependencies),
    ...approvalRoutes(dependencies),
    ...eventRoutes(dependencies),
    ...agents.filter((each) => !isAsk(each)),
    ...agents.filter(isAsk),
  ]
}

const statusRoute = ({ version }: RestDependencies): Route =>
  route({
    headend: 'rest',
    errors: plainErrors,
    method: 'GET',
    path: '/v1/status',
    access: 'read',
    summary: 'Show the version, the caller and the models',
    responses: { 200: { description: '`{ version, principal, scopes, agents, models }`' } },
    handle({ caller, sessions }) {
      const agents = sessions.agents()
      return Response.json({
        version,
        principal: caller.principal,
        scopes: caller.scopes,
        agents: agents.map(({ name }) => name),
        models: [...new Set(agents.flatMap(({ models }) => models))],
      })
    },
  })
