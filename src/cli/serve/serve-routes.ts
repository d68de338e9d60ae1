import { readFile } from 'node:fs/promises'
import type { Ids, Records, SchemaValidator } from '../../contracts/index.ts'
import { packageFile } from '../../project/index.ts'
import { anthropicRoutes } from '../../server/anthropic/index.ts'
import { areasOf, type Definitions, type Route, type ServerRouteDependencies, serverRoutes } from '../../server/http/index.ts'
import { type McpDependencies, mcpRoutes } from '../../server/mcp/index.ts'
import { openaiRoutes } from '../../server/openai/index.ts'
import { type RestDependencies, restRoutes } from '../../server/rest/index.ts'
import { webRoutes } from '../../server/web/index.ts'

export interface RouteDependencies extends Omit<ServerRouteDependencies, 'definitions'>, McpDependencies, RestDependencies {
  readonly ids: Ids
  readonly records: Records
  readonly validator: SchemaValidator
  /** The folder of the built web chat. */
  readonly webFolder: string
}

/** All routes. Those of REST are last: `/v1/:agent` matches every word. */
export function serveRoutes(dependencies: RouteDependencies): readonly Route[] {
  const others = [
    ...webRoutes(dependencies.webFolder),
    ...mcpRoutes(dependencies),
    ...openaiRoutes(dependencies),
    ...anthropicRoutes(dependencies),
    ...restRoutes(dependencies),
  ]
  return [...serverRoutes({ ...dependencies, definitions }, others), ...others]
}

/** Read when somebody asks for `/openapi.json`. */
const definitions = async (): Promise<Definitions> =>
  JSON.parse(await readFile(packageFile('schemas/stream-event.schema.json'), 'utf8')).$defs as Definitions

/** Words that no agent can have as its name: `/v1/sessions` is a route. */
export const reservedNames = (routes: readonly Route[]): ReadonlySet<string> =>
  new Set(routes.flatMap(areasOf).flatMap((area) => /^\/v1\/([^/:]+)/.exec(area)?.[1] ?? []))
