import type { Clock, ExtensionStatus, OwnerBudget, OwnerUsages } from '../../contracts/index.ts'
import { nextUtcDay, utcDay } from '../../util/utc-day.ts'
import { type AuditEntry, type Caller, plainErrors, type Route, route } from '../server/index.ts'
import { agentRoutes } from './agent-routes.ts'
import { approvalRoutes } from './approval-routes.ts'
import { eventRoutes } from './event-routes.ts'
import { sessionRoutes } from './session-routes.ts'
import { turnRoutes } from './turn-routes.ts'

export interface RestDependencies {
  readonly clock: Clock
  readonly version: string
  readonly usages: OwnerUsages
  audit(entry: AuditEntry): Promise<void>
  /** Empty without extensions. */
  extensions(): readonly ExtensionStatus[]
}

/** `/v1/:agent` is last: other routes win. */
export function restRoutes(dependencies: RestDependencies): readonly Route[] {
  const agents = agentRoutes(dependencies)
  const isAsk = ({ path }: Route): boolean => path === '/v1/:agent'
  return [
    statusRoute(dependencies),
    extensionsRoute(dependencies),
    ...turnRoutes,
    ...sessionRoutes(dependencies),
    ...approvalRoutes(dependencies),
    ...eventRoutes(dependencies),
    ...agents.filter((each) => !isAsk(each)),
    ...agents.filter(isAsk),
  ]
}

const statusRoute = ({ version, ...deps }: RestDependencies): Route =>
  route({
    headend: 'rest',
    errors: plainErrors,
    method: 'GET',
    path: '/v1/status',
    access: 'read',
    summary: 'Show the version, the caller, the models and the budget of today',
    responses: {
      200: { description: '`{ version, principal, scopes, agents, models }`. With a budget: `budget`, what is used and left today.' },
    },
    async handle({ caller, sessions }) {
      const agents = sessions.agents()
      return Response.json({
        version,
        principal: caller.principal,
        scopes: caller.scopes,
        agents: agents.map(({ name }) => name),
        models: [...new Set(agents.flatMap(({ models }) => models))],
        ...(caller.budget && { budget: await budgetToday(caller, caller.budget, deps) }),
      })
    },
  })

const extensionsRoute = ({ extensions }: RestDependencies): Route =>
  route({
    headend: 'rest',
    errors: plainErrors,
    method: 'GET',
    path: '/v1/extensions',
    access: 'read',
    summary: 'List the extensions',
    responses: { 200: { description: 'Extensions with state, capabilities, health and problems. Empty if the folder has none.' } },
    handle: () => Response.json({ extensions: extensions() }),
  })

/** `used` is what is stored: requests in flight are not part of it. */
async function budgetToday(
  { principal }: Caller,
  { tokensPerDay, costUsdPerDay }: OwnerBudget,
  { usages, clock }: Pick<RestDependencies, 'usages' | 'clock'>,
): Promise<object> {
  const now = clock.now()
  const used = await usages.get(principal.id, utcDay(now))
  const left = (limit: number, amount: number): number => Math.max(0, limit - amount)
  return {
    ...(tokensPerDay !== undefined && { tokensPerDay }),
    ...(costUsdPerDay !== undefined && { costUsdPerDay }),
    used,
    remaining: {
      ...(tokensPerDay !== undefined && { tokens: left(tokensPerDay, used.tokens) }),
      ...(costUsdPerDay !== undefined && { costUsd: left(costUsdPerDay, used.costUsd) }),
    },
    renewsAt: new Date(nextUtcDay(now)).toISOString(),
  }
}
