import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

export interface FixtureSettings {
  expiresIn: number | undefined
  refresh: 'works' | 'rejected' | 'broken'
  /** The parameters that the login page returns with, besides `code` and `state`. */
  returns: { readonly [name: string]: string }
  /** `iss` in authorization responses is advertised. */
  hasIss: boolean
  /** What calls of tools need. */
  callScope: string
  revokes: boolean
  resource: string | undefined
  /** Where the metadata says that the authorization server is. */
  namedServer: string | undefined
  /** The status of responses to calls. */
  callStatus: number
  /** The path of the metadata of the MCP server. */
  metadataPath: string
}

/** An MCP server and its authorization server on loopback addresses. The settings may be changed while it runs. */
export class OAuthFixture {
  readonly settings: FixtureSettings
  /** What the authorization server got, in order: `register`, `token refresh_token`, … */
  readonly log: string[] = []
  /** The bearer tokens that the MCP server got. */
  readonly bearers: (string | undefined)[] = []
  /** Access tokens that are valid, with their scopes. */
  readonly valid = new Map<string, string>()
  readonly #refreshTokens = new Map<string, string>()
  readonly #codes = new Map<string, { readonly challenge: string; readonly scope: string; readonly resource: string | null }>()
  #servers: readonly Server[] = []
  issuer = ''
  /** The address of the MCP server. */
  url = ''

  constructor(settings: Partial<FixtureSettings>) {
    this.settings = {
      expiresIn: 3_600,
      refresh: 'works',
      returns: {},
      hasIss: true,
      callScope: 'basic',
      revokes: true,
      resource: undefined,
      namedServer: undefined,
      callStatus: 200,
      metadataPath: '/.well-known/oauth-protected-resource',
      ...settings,
    }
  }

  async start(): Promise<void> {
    const authorization = await listen((request, response, url) => this.#authorize(request, response, url))
    const mcp = await listen((request, response, url) => this.#serve(request, response, url))
    this.issuer = originOf(authorization)
    this.url = `${originOf(mcp)}/mcp`
    this.#servers = [authorization, mcp]
  }

  async stop(): Promise<void> {
    for (const server of this.#servers) {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }

  expireAll(): void {
    this.valid.clear()
  }

  async #authorize(request: IncomingMessage, response: ServerResponse, { pathname, searchParams }: URL): Promise<void> {
    const form = new URLSearchParams(request.method === 'POST' ? await text(request) : '')
    switch (pathname) {
      case '/.well-known/oauth-authorization-server':
        return json(response, 200, this.#metadata())
      case '/register':
        this.log.push('register')
        return json(response, 201, {
          client_id: 'registered',
          redirect_uris: ['http://127.0.0.1/callback'],
          token_endpoint_auth_method: 'none',
        })
      case '/authorize':
        response.writeHead(302, { location: this.#redirect(searchParams) }).end()
        return
      case '/token': {
        const { status, body } = this.#token(form, request.headers.authorization)
        return json(response, status, body)
      }
      case '/revoke':
        this.log.push(`revoke ${form.get('token_type_hint')}`)
        this.valid.delete(form.get('token') ?? '')
        this.#refreshTokens.delete(form.get('token') ?? '')
        return json(response, 200, {})
      default:
        return json(response, 404, {})
    }
  }

  #metadata(): object {
    const { issuer } = this
    return {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      registration_endpoint: `${issuer}/register`,
      ...(this.settings.revokes && { revocation_endpoint: `${issuer}/revoke` }),
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
      authorization_response_iss_parameter_supported: this.settings.hasIss,
    }
  }

  #redirect(given: URLSearchParams): string {
    const [code, scope] = [randomUUID(), given.get('scope') ?? '']
    this.log.push(`authorize ${scope}`)
    this.#codes.set(code, { challenge: given.get('code_challenge') ?? '', scope, resource: given.get('resource') })
    const at = new URL(given.get('redirect_uri') ?? '')
    const { hasIss, returns } = this.settings
    for (const [name, value] of Object.entries({ code, state: given.get('state') ?? '', ...(hasIss && { iss: this.issuer }), ...returns }))
      at.searchParams.set(name, value)
    return at.href
  }

  #token(form: URLSearchParams, authorization: string | undefined): { readonly status: number; readonly body: object } {
    const kind = form.get('grant_type') ?? ''
    this.log.push(`token ${kind}${form.get('resource') === this.url ? '' : ' without resource'}`)
    if (kind === 'client_credentials') {
      const given = Buffer.from(authorization?.slice('Basic '.length) ?? '', 'base64').toString()
      if (given === 'robot:the-client-secret' || form.has('client_assertion')) return this.#issue(form.get('scope') ?? '', false)
      return { status: 401, body: { error: 'invalid_client', error_description: `wrong secret ${given}` } }
    }
    if (kind === 'refresh_token') {
      const given = form.get('refresh_token') ?? ''
      const scope = this.#refreshTokens.get(given)
      if (this.settings.refresh === 'broken') return { status: 503, body: {} }
      this.#refreshTokens.delete(given)
      if (this.settings.refresh === 'works' && scope !== undefined) return this.#issue(scope, true)
      return { status: 400, body: { error: 'invalid_grant', error_description: `unknown ${given}` } }
    }
    const grant = this.#codes.get(form.get('code') ?? '')
    this.#codes.delete(form.get('code') ?? '')
    const proof = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (grant && proof === grant.challenge && grant.resource === form.get('resource')) return this.#issue(grant.scope, true)
    return { status: 400, body: { error: 'invalid_grant' } }
  }

  #issue(scope: string, isRenewable: boolean): { readonly status: number; readonly body: object } {
    const [token, refreshToken] = [`access-${randomUUID()}`, `refresh-${randomUUID()}`]
    this.valid.set(token, scope)
    if (isRenewable) this.#refreshTokens.set(refreshToken, scope)
    const { expiresIn } = this.settings
    const more = { ...(expiresIn !== undefined && { expires_in: expiresIn }), ...(isRenewable && { refresh_token: refreshToken }) }
    return { status: 200, body: { access_token: token, token_type: 'Bearer', scope, ...more } }
  }

  async #serve(request: IncomingMessage, response: ServerResponse, { pathname }: URL): Promise<void> {
    const { settings, url } = this
    if (pathname.startsWith(settings.metadataPath))
      return json(response, 200, {
        resource: settings.resource ?? url,
        authorization_servers: [settings.namedServer ?? this.issuer],
        scopes_supported: ['everything'],
      })
    if (pathname !== '/mcp' || request.method !== 'POST') return json(response, pathname === '/mcp' ? 405 : 404, {})
    const token = request.headers.authorization?.slice('Bearer '.length)
    this.bearers.push(token)
    const message = JSON.parse(await text(request)) as { readonly id?: number; readonly method: string }
    const scope = this.valid.get(token ?? '')
    const refuse = (status: number, challenge: string): void => {
      const metadata = new URL(`${settings.metadataPath}/mcp`, url)
      response.setHeader('www-authenticate', `Bearer resource_metadata="${metadata}", ${challenge}`)
      json(response, status, {})
    }
    if (scope === undefined) return refuse(401, 'scope="basic"')
    if (message.method === 'tools/call' && !scope.split(' ').includes(settings.callScope))
      return refuse(403, `error="insufficient_scope", scope="${settings.callScope}"`)
    if (message.id === undefined) response.writeHead(202).end()
    else if (message.method === 'tools/call' && settings.callStatus !== 200)
      response.writeHead(settings.callStatus).end(`called with ${token}`)
    else json(response, 200, { jsonrpc: '2.0', id: message.id, ...answerTo(message.method, token) })
  }
}

export async function oauthServer(settings: Partial<FixtureSettings> = {}): Promise<OAuthFixture> {
  const fixture = new OAuthFixture(settings)
  await fixture.start()
  onTestFinished(() => fixture.stop())
  return fixture
}

function answerTo(method: string, token: string | undefined): object {
  switch (method) {
    case 'initialize':
      return { result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'fixture', version: '1' } } }
    case 'tools/list':
      return { result: { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] } }
    case 'tools/call':
      return { result: { content: [{ type: 'text', text: `called with ${token}` }] } }
    case 'ping':
      return { result: {} }
    default:
      return { error: { code: -32601, message: `no ${method}` } }
  }
}

async function listen(handle: (request: IncomingMessage, response: ServerResponse, url: URL) => Promise<void>): Promise<Server> {
  const server = createServer((request, response) => {
    handle(request, response, new URL(request.url ?? '/', 'http://127.0.0.1')).catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return server
}

const originOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** As a browser does for a person who approves everything. Returns the text of the last page. */
export async function approve(page: URL): Promise<string> {
  const response = await fetch(page, { redirect: 'manual' })
  return (await fetch(response.headers.get('location') ?? '')).text()
}
