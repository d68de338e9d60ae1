import type { Clock, ExtensionStatus, Ids, OwnerUsages, Records, SchemaValidator } from '../../contracts/index.ts'
import { anthropicRoutes } from '../../headends/anthropic/index.ts'
import { type McpDependencies, mcpRoutes } from '../../headends/mcp/index.ts'
import { openaiRoutes } from '../../headends/openai/index.ts'
import { restRoutes } from '../../headends/rest/index.ts'
import { type AuditEntry, type Route, type ServerRouteDependencies, serverRoutes } from '../../headends/server/index.ts'

export interface RouteDependencies extends ServerRouteDependencies, McpDependencies {
  readonly clock: Clock
  readonly ids: Ids
  readonly records: Records
  readonly usages: OwnerUsages
  readonly validator: SchemaValidator
  audit(entry: AuditEntry): Promise<void>
  extensions(): readonly ExtensionStatus[]
}

/** All routes. Those of REST are last: `/v1/:agent` matches every word. */
export function serveRoutes(dependencies: RouteDependencies): readonly Route[] {
  const protocols = [
    ...mcpRoutes(dependencies),
    ...openaiRoutes(dependencies),
    ...anthropicRoutes(dependencies),
    ...restRoutes(dependencies),
  ]
  return [...serverRoutes(dependencies, protocols), ...protocols]
}

/** Words that no agent can have as its name: `/v1/sessions` is a route. */
export const reservedNames = (routes: readonly Route[]): ReadonlySet<string> =>
  new Set(routes.flatMap(({ path }) => /^\/v1\/([^/:]+)/.exec(path)?.[1] ?? []))
