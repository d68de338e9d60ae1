import { z } from 'zod'
import type { MaybePromise } from '../../contracts/index.ts'
import { apiPage } from './api-page.ts'
import { plainErrors } from './http-error.ts'
import { type Definitions, openApiDocument } from './openapi.ts'
import { json, type Route, route } from './route.ts'

export interface ServerRouteDependencies {
  readonly version: string
  /** The path below which the server is mounted. */
  readonly basePath?: string
  /** Why the server cannot work as configured. Empty: it can. */
  problems(): MaybePromise<readonly string[]>
  /** What is not as it should be although the server works, such as a change that could not be applied. */
  warnings?(): readonly string[]
  /** In the text format of Prometheus. */
  metrics(): MaybePromise<string>
  /** Schemas that routes refer to with `published`. */
  definitions(): MaybePromise<Definitions>
}

const ready = z.object({ status: z.literal('ready'), warnings: z.array(z.string()).optional() })
const notReady = z.object({ status: z.literal('not ready'), problems: z.array(z.string()) })

const base = { headend: 'server', errors: plainErrors } as const
const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Routes about the server itself. `others`: what the API description contains. The page at `/` is for a server without a web chat. */
export function serverRoutes(
  { version, basePath = '', problems, warnings, metrics, definitions }: ServerRouteDependencies,
  others: readonly Route[],
): readonly Route[] {
  const own: readonly Route[] = [
    route({
      ...base,
      method: 'GET',
      path: '/health',
      access: 'public',
      summary: 'Whether the process answers',
      responses: { 200: { description: '`{ status: "ok" }`', content: json(z.object({ status: z.literal('ok') })) } },
      handle: () => Response.json({ status: 'ok' }),
    }),
    route({
      ...base,
      method: 'GET',
      path: '/ready',
      access: 'public',
      summary: 'Whether the server takes requests',
      responses: {
        200: { description: 'It does. `warnings` says what is not as it should be.', content: json(ready) },
        503: { description: 'It does not: `problems` says why.', content: json(notReady) },
      },
      async handle({ shown }) {
        const found = await problems()
        if (found.length > 0) return Response.json(shown({ status: 'not ready', problems: found }), { status: 503 })
        const noted = warnings?.() ?? []
        return Response.json(shown({ status: 'ready', ...(noted.length > 0 && { warnings: noted }) }))
      },
    }),
    route({
      ...base,
      method: 'GET',
      path: '/metrics',
      access: 'read',
      summary: 'Counters in the text format of Prometheus',
      responses: { 200: { description: 'Metrics without names of owners or sessions.', content: { 'text/plain': z.string() } } },
      async handle() {
        return new Response(await metrics(), { headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } })
      },
    }),
    route({
      ...base,
      method: 'GET',
      path: '/openapi.json',
      access: 'public',
      summary: 'This interface as an OpenAPI document',
      responses: { 200: { description: 'OpenAPI 3.1.', content: json(z.looseObject({ openapi: z.string() })) } },
      handle: async () => Response.json(await document()),
    }),
    route({
      ...base,
      method: 'GET',
      path: '/docs',
      access: 'public',
      summary: 'This interface as a page',
      responses: { 200: { description: 'A page without scripts.', content: { 'text/html': z.string() } } },
      handle: () =>
        new Response(apiPage(all, version), {
          headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': pagePolicy },
        }),
    }),
    route({
      ...base,
      method: 'GET',
      path: '/',
      access: 'public',
      summary: 'How to build the web chat, and links to the parts of the server',
      responses: { 200: { description: 'Two sentences and links.', content: { 'text/html': z.string() } } },
      handle: () =>
        new Response(homePage, { headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': pagePolicy } }),
    }),
  ].filter(({ path }) => others.every((other) => other.path !== path))
  const all: readonly Route[] = [...own, ...others].filter(({ isUnlisted }) => !isUnlisted)
  let known: object | undefined
  const document = async (): Promise<object> => {
    known ??= openApiDocument(all, { version, basePath, definitions: await definitions() })
    return known
  }
  return own
}

const homePage = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Troupe</title>
<p>The web chat is not built. Run <code>npm run build</code> in the folder of Troupe, and start the server again.</p>
<p>This server has an <a href="docs">API reference</a>, an <a href="openapi.json">OpenAPI document</a> and a page about <a href="health">its health</a>.</p>
</html>
`
