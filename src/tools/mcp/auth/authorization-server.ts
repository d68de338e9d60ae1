import type { AuthorizationServerMetadata, FetchLike, OAuthClientProvider, OAuthTokens } from '@modelcontextprotocol/client'
import type { Clock } from '../../../contracts/index.ts'
import { messageOf } from '../../../util/message-of.ts'
import { redactor } from '../../../util/redact.ts'
import { cutText, wellFormed } from '../../../util/well-formed.ts'
import { McpError } from '../mcp-failure.ts'
import { maxLogCharacters } from '../mcp-limits.ts'
import type { ResolvedHttp } from '../resolve-server.ts'
import { authFetch } from './auth-fetch.ts'
import type { Challenge, GrantedClient, TokenGrant } from './token-store.ts'

export type AuthLibrary = typeof import('@modelcontextprotocol/client')

/** The authorization server of an MCP server. */
export interface AuthorizationServer {
  readonly url: string
  readonly issuer: string
  readonly metadata: AuthorizationServerMetadata | undefined
  /** For whom tokens are requested. */
  readonly resource: string | undefined
  readonly scopes: readonly string[] | undefined
  readonly fetchFn: FetchLike
}

export interface AuthPlace {
  readonly library: AuthLibrary
  readonly clock: Clock
  readonly signal?: AbortSignal | undefined
}

/**
 * `known`: the issuer of the credentials so far.
 * @throws McpError if the server names another authorization server than that or `auth.issuer`; errors of the library.
 */
export async function findAuthorizationServer(
  server: ResolvedHttp,
  { challenge, known }: { readonly challenge?: Challenge | undefined; readonly known?: string | undefined },
  { library, clock, signal }: AuthPlace,
): Promise<AuthorizationServer> {
  const fetchFn = authFetch(server, clock, signal)
  const resourceMetadataUrl = URL.parse(challenge?.resourceMetadataUrl ?? '')
  const found = await library.discoverOAuthServerInfo(server.url, { fetchFn, ...(resourceMetadataUrl && { resourceMetadataUrl }) })
  const { authorizationServerUrl: url, authorizationServerMetadata: metadata, resourceMetadata } = found
  const issuer = metadata?.issuer ?? url
  for (const expected of [server.auth?.issuer, known])
    if (expected !== undefined && withoutSlash(expected) !== withoutSlash(issuer))
      throw authFailure(
        `The MCP server "${server.name}" names ${issuer} as its authorization server instead of ${expected}.`,
        expected === known ? loginRemedy(server.name) : 'Check `url` and `auth.issuer` of the server.',
      )
  await library.selectResourceURL(server.url, {} as OAuthClientProvider, resourceMetadata)
  return { url, issuer, metadata, resource: resourceMetadata?.resource, scopes: resourceMetadata?.scopes_supported, fetchFn }
}

const withoutSlash = (url: string): string => url.replace(/\/$/, '')

/** `requested`: what the tokens are for if the authorization server does not say. */
export function grantOf(
  { access_token: accessToken, refresh_token: refreshToken, expires_in, scope }: OAuthTokens,
  { issuer, client, requested, clock }: GrantContext,
): TokenGrant {
  const granted = scope ?? requested
  return {
    issuer,
    client,
    accessToken,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(granted !== undefined && { scope: granted }),
    ...(expires_in !== undefined && { expiresAt: clock.now() + expires_in * 1_000 }),
  }
}

interface GrantContext {
  readonly issuer: string
  readonly client: GrantedClient
  readonly requested: string | undefined
  readonly clock: Clock
}

export const loginRemedy = (server: string): string => `Run \`troupe mcp login ${server}\`.`

export const authFailure = (message: string, remedy: string): McpError => new McpError({ class: 'auth', message, remedy })

/** What went wrong, short and without the secrets: authorization servers may repeat them. */
export function describeAuthError(error: unknown, ...secrets: readonly (string | undefined)[]): string {
  const code = (error as { readonly code?: unknown }).code
  const said = messageOf(error)
  const text = typeof code === 'string' && /^[a-z_]+$/.test(code) && code !== said ? `${code}: ${said}` : said
  return cutText(hideTokens(wellFormed(text), secrets), maxLogCharacters)
}

const hideTokens = (text: string, secrets: readonly (string | undefined)[]): string =>
  redactor(...secrets.map((secret) => ({ MCP_TOKEN: secret ?? '' }))).text(text)
