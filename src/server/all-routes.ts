import type { Ids, Records, SchemaValidator } from '../contracts/index.ts'
import { anthropicRoutes } from './anthropic/index.ts'
import { apiDefinitions } from './api-definitions.ts'
import { type ChannelDependencies, channelRoutes } from './channels/index.ts'
import { areasOf, type Route, type ServerRouteDependencies, serverRoutes } from './http/index.ts'
import { type McpDependencies, mcpRoutes } from './mcp/index.ts'
import { openaiRoutes } from './openai/index.ts'
import { type RestDependencies, restRoutes } from './rest/index.ts'
import { webRoutes } from './web/index.ts'
import { type HookDependencies, hookRoutes } from './webhooks/index.ts'

export interface RouteDependencies
  extends Omit<ServerRouteDependencies, 'definitions'>,
    McpDependencies,
    RestDependencies,
    ChannelDependencies,
    HookDependencies {
  readonly ids: Ids
  readonly records: Records
  readonly validator: SchemaValidator
  /** The folder of the built web chat. */
  readonly webFolder: string
}

/** All routes. Those of REST are last: `/v1/:agent` matches every word. */
export function allRoutes(dependencies: RouteDependencies): readonly Route[] {
  const others = [
    ...webRoutes(dependencies.webFolder),
    ...channelRoutes(dependencies),
    ...mcpRoutes(dependencies),
    ...openaiRoutes(dependencies),
    ...anthropicRoutes(dependencies),
    ...hookRoutes(dependencies),
    ...restRoutes(dependencies),
  ]
  return [...serverRoutes({ ...dependencies, definitions: apiDefinitions }, others), ...others]
}

/** Words that no agent can have as its name: `/v1/sessions` is a route. */
export const reservedNames = (routes: readonly Route[]): ReadonlySet<string> =>
  new Set(routes.flatMap(areasOf).flatMap((area) => /^\/v1\/([^/:]+)/.exec(area)?.[1] ?? []))
