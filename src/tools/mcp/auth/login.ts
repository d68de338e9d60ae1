// The login of a person: authorization code with PKCE.
import { randomBytes } from 'node:crypto'
import type { McpOAuth } from '../../../contracts/index.ts'
import { McpError } from '../mcp-failure.ts'
import type { ResolvedHttp } from '../resolve-server.ts'
import { isSecureUrl } from './auth-settings.ts'
import {
  type AuthorizationServer,
  type AuthPlace,
  authFailure,
  describeAuthError,
  findAuthorizationServer,
  grantOf,
} from './authorization-server.ts'
import { type GrantedClient, type McpTokenRecord, type McpTokenStore, type TokenGrant, tokenKey } from './token-store.ts'

interface LoginPlace extends AuthPlace {
  readonly store: McpTokenStore
  /** Where the browser returns to. */
  readonly redirectUrl: string
  /** A secret that the browser returns with. */
  readonly state: string
}

/** A login that waits for the person. */
interface PendingLogin {
  /** For the browser. */
  readonly url: URL
  readonly issuer: string
  /** Takes the URL that the browser returned to, and stores the tokens. @throws McpError */
  finish(returned: URL): Promise<TokenGrant>
}

export const randomState = (): string => randomBytes(24).toString('base64url')

/** Finds the authorization server and registers a client if there is none. @throws McpError */
export async function startLogin(server: ResolvedHttp, place: LoginPlace): Promise<PendingLogin> {
  if (!isSecureUrl(server.url))
    throw authFailure(`The URL of the MCP server "${server.name}" is not HTTPS: its tokens could be read on the way.`, 'Use an https: URL.')
  const auth: McpOAuth = server.auth?.type === 'oauth' ? server.auth : { type: 'oauth' }
  return describing(server, [auth.clientSecret], async () => {
    const { library, store, redirectUrl, state } = place
    const record = await store.read(tokenKey(server))
    const at = await findAuthorizationServer(server, { challenge: record?.challenge }, place)
    const scope = scopeOf(at, { auth, record }, place)
    const client = await clientOf(at, { auth, scope }, place)
    const { authorizationUrl, codeVerifier } = await library.startAuthorization(at.url, {
      ...(at.metadata && { metadata: at.metadata }),
      clientInformation: { ...client },
      redirectUrl,
      state,
      ...(scope !== undefined && { scope }),
      ...(at.resource !== undefined && { resource: at.resource }),
    })
    if (!isSecureUrl(authorizationUrl)) throw new Error(`its login page is not at an HTTPS address: ${authorizationUrl.origin}`)
    const finish = (returned: URL): Promise<TokenGrant> =>
      describing(server, [auth.clientSecret, client.client_secret, codeVerifier], async () => {
        const { code, iss } = readReturned(returned, at, place)
        const tokens = await library.exchangeAuthorization(at.url, {
          ...(at.metadata && { metadata: at.metadata }),
          clientInformation: { ...client },
          authorizationCode: code,
          ...(iss !== undefined && { iss }),
          codeVerifier,
          redirectUri: redirectUrl,
          ...(at.resource !== undefined && { resource: at.resource }),
          fetchFn: at.fetchFn,
        })
        // A secret of the configuration stays there.
        const stored = auth.clientId === undefined ? client : { client_id: auth.clientId }
        const grant = grantOf(tokens, { issuer: at.issuer, client: stored, requested: scope, clock: place.clock })
        await store.change(tokenKey(server), async (before) => {
          const { challenge: { resourceMetadataUrl } = {} } = before ?? {}
          const challenge = resourceMetadataUrl === undefined ? {} : { challenge: { resourceMetadataUrl } }
          return { server: server.name, url: server.url.href, grant, ...challenge }
        })
        return grant
      })
    return { url: authorizationUrl, issuer: at.issuer, finish }
  })
}

/** What the server asked for wins over what it supports. A server that wants more than it was granted gets both. */
function scopeOf(
  { scopes, metadata }: AuthorizationServer,
  { auth, record }: { readonly auth: McpOAuth; readonly record: McpTokenRecord | undefined },
  { library }: AuthPlace,
): string | undefined {
  const wanted = record?.challenge?.scope
  const base = auth.scopes?.join(' ') ?? wanted ?? scopes?.join(' ')
  const scope = library.computeScopeUnion(wanted === undefined ? undefined : record?.grant?.scope, base, record?.grant && wanted)
  // Otherwise there may be no refresh token.
  return scope !== undefined && metadata?.scopes_supported?.includes('offline_access')
    ? library.computeScopeUnion(scope, 'offline_access')
    : scope
}

async function clientOf(
  at: AuthorizationServer,
  { auth, scope }: { readonly auth: McpOAuth; readonly scope: string | undefined },
  { library, redirectUrl }: LoginPlace,
): Promise<GrantedClient> {
  const { clientId, clientSecret, clientMetadataUrl } = auth
  if (clientId !== undefined) return { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) }
  if (clientMetadataUrl !== undefined && at.metadata?.client_id_metadata_document_supported === true) {
    library.validateClientMetadataUrl(clientMetadataUrl)
    return { client_id: clientMetadataUrl }
  }
  if (at.metadata && !at.metadata.registration_endpoint) throw new Error('it registers no clients. Set `auth.clientId` of the server')
  const methods = at.metadata?.token_endpoint_auth_methods_supported ?? []
  const registered = await library.registerClient(at.url, {
    ...(at.metadata && { metadata: at.metadata }),
    clientMetadata: {
      client_name: 'Troupe',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      application_type: 'native',
      token_endpoint_auth_method: ['none', 'client_secret_basic', 'client_secret_post'].find((each) => methods.includes(each)) ?? 'none',
    },
    ...(scope !== undefined && { scope }),
    fetchFn: at.fetchFn,
  })
  const { client_id, client_secret, token_endpoint_auth_method } = registered
  return {
    client_id,
    ...(client_secret !== undefined && { client_secret }),
    ...(token_endpoint_auth_method !== undefined && { token_endpoint_auth_method }),
  }
}

/** The issuer is checked before anything else is believed. */
function readReturned(returned: URL, { metadata }: AuthorizationServer, { library, state }: LoginPlace) {
  const { searchParams } = returned
  if (searchParams.get('state') !== state) throw new Error('the URL belongs to another login')
  const iss = searchParams.get('iss') ?? undefined
  library.validateAuthorizationResponseIssuer({
    iss,
    expectedIssuer: metadata?.issuer,
    issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
  })
  const code = searchParams.get('code')
  if (code) return { code, iss }
  const error = searchParams.get('error')
  if (error === null) throw new Error('the URL has no authorization code')
  throw new Error(`${error}${searchParams.has('error_description') ? `: ${searchParams.get('error_description')}` : ''}`)
}

async function describing<Result>(
  server: ResolvedHttp,
  secrets: readonly (string | undefined)[],
  run: () => Promise<Result>,
): Promise<Result> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof McpError) throw error
    const why = describeAuthError(error, ...secrets)
    throw authFailure(`The login at the MCP server "${server.name}" failed: ${why}`, 'Fix the cause, then log in again.')
  }
}
