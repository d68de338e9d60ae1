import type { ResolvedHttp } from '../resolve-server.ts'
import { type AuthorizationServer, type AuthPlace, describeAuthError, findAuthorizationServer } from './authorization-server.ts'
import { type Challenge, type GrantedClient, type McpTokenStore, type TokenGrant, tokenKey } from './token-store.ts'

/** `unsupported`: the authorization server revokes no tokens. `failed`: they may be valid until they expire. */
export type Logout = { readonly kind: 'none' | 'revoked' | 'unsupported' } | { readonly kind: 'failed'; readonly why: string }

/** Revokes the tokens where that is possible, and removes them in any case. */
export async function logout(server: ResolvedHttp, place: AuthPlace & { readonly store: McpTokenStore }): Promise<Logout> {
  let done: Logout = { kind: 'none' }
  await place.store.change(tokenKey(server), async (record) => {
    if (record?.grant) done = await revoke(server, { grant: record.grant, challenge: record.challenge }, place)
    return undefined
  })
  return done
}

async function revoke(
  server: ResolvedHttp,
  { grant, challenge }: { readonly grant: TokenGrant; readonly challenge: Challenge | undefined },
  place: AuthPlace,
): Promise<Logout> {
  const secret = server.auth?.clientSecret
  const client: GrantedClient = { ...(secret !== undefined && { client_secret: secret }), ...grant.client }
  try {
    const at = await findAuthorizationServer(server, { challenge, known: grant.issuer }, place)
    const { revocation_endpoint: endpoint } = (at.metadata ?? {}) as RevocationMetadata
    if (typeof endpoint !== 'string') return { kind: 'unsupported' }
    // The refresh token first: the access token usually ends with it.
    if (grant.refreshToken !== undefined)
      await revokeToken(at, { endpoint, client, token: grant.refreshToken, hint: 'refresh_token' }, place)
    await revokeToken(at, { endpoint, client, token: grant.accessToken, hint: 'access_token' }, place)
    return { kind: 'revoked' }
  } catch (error) {
    return { kind: 'failed', why: describeAuthError(error, grant.refreshToken, grant.accessToken, client.client_secret) }
  }
}

/** OpenID providers may have it, too. */
interface RevocationMetadata {
  readonly revocation_endpoint?: string
  readonly revocation_endpoint_auth_methods_supported?: string[]
}

async function revokeToken(
  { metadata, fetchFn }: AuthorizationServer,
  {
    endpoint,
    client,
    token,
    hint,
  }: { readonly endpoint: string; readonly client: GrantedClient; readonly token: string; readonly hint: string },
  { library }: AuthPlace,
): Promise<void> {
  const { revocation_endpoint_auth_methods_supported: methods } = (metadata ?? {}) as RevocationMetadata
  const method = library.selectClientAuthMethod({ ...client }, methods ?? metadata?.token_endpoint_auth_methods_supported ?? [])
  const body = new URLSearchParams({
    token,
    token_type_hint: hint,
    ...(method !== 'client_secret_basic' && { client_id: client.client_id }),
  })
  if (method === 'client_secret_post') body.set('client_secret', client.client_secret ?? '')
  const pair = [client.client_id, client.client_secret ?? ''].map(encodeURIComponent).join(':')
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    ...(method === 'client_secret_basic' && { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }),
  }
  const response = await fetchFn(endpoint, { method: 'POST', headers, body })
  if (!response.ok) throw new Error(`the authorization server answered with HTTP status ${response.status}`)
}
