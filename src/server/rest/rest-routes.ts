import type { Clock, ExtensionStatus, OwnerUsages } from '../../contracts/index.ts'
import { type AuditEntry, json, plainErrors, type Route, route } from '../http/index.ts'
import { agentRoutes } from './agent-routes.ts'
import { extensionList } from './answer-schemas.ts'
import { approvalRoutes } from './approval-routes.ts'
import { eventRoutes } from './event-routes.ts'
import { type ModelConnections, modelRoutes } from './model-routes.ts'
import { sessionRoutes } from './session-routes.ts'
import { type Demonstration, statusRoutes } from './status-routes.ts'
import { turnRoutes } from './turn-routes.ts'
import { usageRoutes } from './usage-routes.ts'

export interface RestDependencies {
  readonly clock: Clock
  readonly version: string
  readonly usages: OwnerUsages
  /** The folder of the server: lists contain its sessions. Absent: those of all folders. */
  readonly workspace?: string
  audit(entry: AuditEntry): Promise<void>
  /** Empty without extensions. */
  extensions(): readonly ExtensionStatus[]
  /** What is not as it should be although the server works. */
  warnings?(): readonly string[]
  /** Hears that agents, extensions or warnings have changed. Returns a function that ends it. */
  onChange?(changed: () => void): () => void
  /** Models that the user of this machine connects. */
  readonly models?: ModelConnections
  /** Only in the demonstration. */
  readonly demo?: Demonstration
}

/** `/v1/:agent` is last: other routes win. */
export function restRoutes(dependencies: RestDependencies): readonly Route[] {
  const agents = agentRoutes(dependencies)
  const isAsk = ({ path }: Route): boolean => path === '/v1/:agent'
  return [
    ...statusRoutes(dependencies),
    extensionsRoute(dependencies),
    ...modelRoutes(dependencies),
    ...turnRoutes(dependencies),
    ...sessionRoutes(dependencies),
    ...usageRoutes(dependencies),
    ...approvalRoutes(dependencies),
    ...eventRoutes(dependencies),
    ...agents.filter((each) => !isAsk(each)),
    ...agents.filter(isAsk),
  ]
}

const extensionsRoute = ({ extensions }: RestDependencies): Route =>
  route({
    headend: 'rest',
    errors: plainErrors,
    method: 'GET',
    path: '/v1/extensions',
    access: 'read',
    summary: 'List the extensions',
    responses: {
      200: {
        description: 'Extensions with state, capabilities, health and problems. Empty if the folder has none.',
        content: json(extensionList),
      },
    },
    handle: ({ shown }) => Response.json(shown({ extensions: extensions() })),
  })
