// The server scenarios of the official conformance suite: what agents offer on the product itself, the rest on a fixture over the same
// transport. A scenario counts if each of its checks passes.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/runtime/index.ts'
import { listen } from '../../src/server/http/index.ts'
import { mcpRoutes } from '../../src/server/mcp/index.ts'
import { protocolRoutes } from '../../src/server/mcp/routes.ts'
import { conformanceServer } from '../fixtures/mcp-conformance-server.ts'
import { sceneDependencies } from './mcp-agents.ts'
import { conformanceAgents } from './mcp-conformance-agents.ts'
import { localToken, type Served, serve } from './support.ts'

/** What agents offer. */
const product = {
  '2025-11-25': [
    'server-initialize',
    'ping',
    'tools-list',
    'tools-call-simple-text',
    'tools-call-error',
    'tools-call-with-progress',
    'tools-call-elicitation',
    'elicitation-sep1034-defaults',
    'elicitation-sep1330-enums',
    'server-sse-multiple-streams',
    'resources-list',
    'dns-rebinding-protection',
    // Not scored.
    'server-session-lifecycle',
    'json-schema-2020-12',
  ],
  '2026-07-28': [
    'tools-list',
    'tools-call-simple-text',
    'tools-call-error',
    'tools-call-with-progress',
    'server-sse-multiple-streams',
    'resources-list',
    'sep-2164-resource-not-found',
    'dns-rebinding-protection',
    'input-required-result-result-type',
    'input-required-result-unsupported-methods',
    // Not scored.
    'json-schema-2020-12',
    'http-header-validation',
  ],
} as const
type Revision = keyof typeof product

const conformance = join(import.meta.dirname, '../../node_modules/@modelcontextprotocol/conformance')

function requiredScenarios(revision: Revision): readonly string[] {
  const [, required = ''] = readFileSync(join(conformance, `requirements/${revision}.yaml`), 'utf8').split(/^server:\n|^client:/m)
  return [...required.matchAll(/^ {2}- (\S+)$/gm)].map(([, name = '']) => name)
}

const onFixture = (revision: Revision): readonly string[] =>
  requiredScenarios(revision).filter((name) => !(product[revision] as readonly string[]).includes(name))

const short = [
  'tools-call-elicitation',
  'server-sse-multiple-streams',
  'tools-call-sampling',
  'input-required-result-multi-round',
  'server-stateless',
]

/** The suite cannot send a token: it is added in front of the server. */
async function withToken({ headends }: Served): Promise<{ readonly url: string; close(): Promise<void> }> {
  const listening = await listen(
    {
      fetch(request) {
        const headers = new Headers(request.headers)
        headers.set('authorization', `Bearer ${localToken}`)
        return headends.fetch(new Request(request, { headers }))
      },
    },
    { host: '127.0.0.1', port: 0, clock: systemClock },
  )
  return { url: `http://127.0.0.1:${listening.port}/mcp`, close: () => listening.close(0) }
}

const names = { hosts: ['127.0.0.1', 'localhost'], origins: [] }
const opened: { close(): Promise<void> }[] = []
const urls = { product: '', fixture: '' }

beforeAll(async () => {
  const agents = await serve({ ...conformanceAgents, routes: () => mcpRoutes(sceneDependencies()), server: { names } })
  const listeners = new Set<() => void>()
  const fixture = await serve({
    routes: () =>
      protocolRoutes(
        {
          ...sceneDependencies(),
          onAgentsChange(changed) {
            listeners.add(changed)
            return () => listeners.delete(changed)
          },
        },
        () =>
          conformanceServer(() => {
            for (const changed of listeners) changed()
          }),
      ),
    server: { names },
  })
  const [front, back] = [await withToken(agents), await withToken(fixture)]
  opened.push(front, back, agents, fixture)
  Object.assign(urls, { product: front.url, fixture: back.url })
})
afterAll(async () => {
  for (const each of opened) await each.close()
})

const cases = (['2025-11-25', '2026-07-28'] as const).flatMap((revision) => [
  { revision, place: 'product' as const, scenarios: product[revision] as readonly string[] },
  { revision, place: 'fixture' as const, scenarios: onFixture(revision) },
])

it.each(['2025-11-25', '2026-07-28'] as const)('the requirements of %s can be read', (revision) => {
  expect(requiredScenarios(revision).length).toBeGreaterThanOrEqual(30)
})

describe.each(cases)('$revision on the $place', ({ revision, place, scenarios }) => {
  const chosen = process.env.TROUPE_FULL ? scenarios : scenarios.filter((name) => short.includes(name))
  it.concurrent.each(chosen)('%s', async (scenario) => {
    const args = ['server', '--url', urls[place], '--scenario', scenario, '--spec-version', revision, '--force']
    const child = spawn(process.execPath, [join(conformance, 'dist/index.js'), ...args])
    let printed = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (printed += text))
    const code = await new Promise((resolve) => child.once('close', resolve))
    expect(code, printed).toBe(0)
    expect(printed).toMatch(/Passed: [1-9]\d*\/\d+, 0 failed, 0 warnings/)
  })
})
