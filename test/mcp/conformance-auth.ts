// The authorization scenarios: the client logs in when it is refused, as a person would with `troupe mcp login`.
import type { HttpServerDefinition, ToolOutput } from '../../src/contracts/index.ts'
import { loginToServer, type McpHost } from '../../src/tools/mcp/index.ts'

export interface ScenarioContext {
  readonly client_id?: string
  readonly client_secret?: string
  readonly private_key_pem?: string
}

/** The `auth` of the server that a scenario is about. */
export function authOf(scenario: string, { client_id: id, client_secret: secret, private_key_pem: key }: ScenarioContext): object {
  const client = { ...(id && { clientId: id }), ...(secret && { clientSecret: secret }), ...(key && { privateKey: key }) }
  if (scenario.startsWith('auth/client-credentials')) return { auth: { type: 'client_credentials', ...client } }
  if (scenario === 'auth/basic-cimd')
    return { auth: { type: 'oauth', clientMetadataUrl: 'https://conformance-test.local/client-metadata.json' } }
  return id ? { auth: { type: 'oauth', ...client } } : {}
}

/** Nobody logs in again and again. */
const maxLogins = 2

/** Runs something that may be refused, and logs in until it works. */
export function authorizer(name: string, definition: HttpServerDefinition, host: McpHost) {
  let logins = 0
  const mayLogIn = (isRefused: boolean): boolean => isRefused && definition.auth?.type !== 'client_credentials' && logins < maxLogins
  /** After a failure, the next attempt shows whether it matters: a server may have changed its authorization server. */
  const login = async (): Promise<void> => {
    logins++
    console.error('login', await loginToServer(name, definition, { ...waiting, host, overlay: {}, show: approve }).catch(String))
  }
  return {
    async list<Listed>(run: () => Promise<Listed>): Promise<Listed> {
      try {
        return await run()
      } catch (error) {
        if (!mayLogIn(/authoriz|denied access/.test(String(error)))) throw error
        await login()
        return this.list(run)
      }
    },
    async call(run: () => Promise<ToolOutput>): Promise<ToolOutput> {
      const output = await run()
      if (!mayLogIn(!output.ok && output.error.class === 'auth')) return output
      await login()
      return this.call(run)
    },
  }
}

const waiting = { timeoutMs: 10_000 }

/** As a browser does: the pages of the scenarios approve everything. */
async function approve(page: URL): Promise<void> {
  const response = await fetch(page, { redirect: 'manual' })
  await fetch(response.headers.get('location') ?? '')
}
