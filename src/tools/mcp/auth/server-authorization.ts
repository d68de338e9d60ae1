// The tokens of one connection over HTTP.
//
// 1. A token goes to the origin of the server only.
// 2. A token that expired is renewed once, however many calls and processes use it: later ones find the new token.
// 3. Nothing here asks a person, or opens a browser.
import type { AuthProvider, FetchLike, OAuthClientProvider } from '@modelcontextprotocol/client'
import type { Clock, Json, McpClientCredentials } from '../../../contracts/index.ts'
import { type Redactor, redactor } from '../../../util/redact.ts'
import { McpError } from '../mcp-failure.ts'
import type { ResolvedHttp } from '../resolve-server.ts'
import { isSecureUrl, signingAlgorithm } from './auth-settings.ts'
import { type AuthLibrary, authFailure, describeAuthError, findAuthorizationServer, grantOf, loginRemedy } from './authorization-server.ts'
import { type Challenge, type McpTokenRecord, type McpTokenStore, type TokenGrant, tokenKey } from './token-store.ts'

/** Tokens are renewed this long before they expire. */
const earlyMs = 30_000
/** The newest tokens, which messages are searched for. */
const maxSent = 3

/** `undefined` if the server has credentials of its own, or tokens could be read on the way. */
export function serverAuthorization(server: ResolvedHttp, place: AuthorizationPlace): ServerAuthorization | undefined {
  const hasHeader = Object.keys(server.headers).some((name) => name.toLowerCase() === 'authorization')
  if (server.auth === undefined && (hasHeader || !isSecureUrl(server.url))) return undefined
  return new ServerAuthorization(server, place)
}

interface AuthorizationPlace {
  readonly store: McpTokenStore
  readonly clock: Clock
  readonly library: AuthLibrary
}

export class ServerAuthorization implements AuthProvider {
  readonly #server: ResolvedHttp
  readonly #place: AuthorizationPlace
  readonly #key: string
  /** The tokens of requests that were refused. */
  readonly #refused = new WeakMap<Response, string>()
  #sent: readonly string[] = []
  #redactor: Redactor | undefined

  constructor(server: ResolvedHttp, place: AuthorizationPlace) {
    this.#server = server
    this.#place = place
    this.#key = tokenKey(server)
  }

  async token(): Promise<string | undefined> {
    const grant = (await this.#place.store.read(this.#key))?.grant
    if (!grant) return undefined
    const isExpiring = grant.expiresAt !== undefined && grant.expiresAt - this.#place.clock.now() < earlyMs
    const { accessToken } = isExpiring && this.#canRenew(grant) ? await this.#renew(grant.accessToken, {}) : grant
    if (!this.#sent.includes(accessToken)) {
      this.#sent = [...this.#sent, accessToken].slice(-maxSent)
      this.#redactor = redactor(...this.#sent.map((token) => ({ MCP_ACCESS_TOKEN: token })))
    }
    return accessToken
  }

  /** A message of the server without tokens: it may send back what it got. */
  redact<Message>(message: Message): Message {
    return this.#redactor ? (this.#redactor.json(message as Json) as Message) : message
  }

  async onUnauthorized({ response }: { readonly response: Response }): Promise<void> {
    await this.#renew(this.#refused.get(response), this.#challengeOf(response))
  }

  /** Notes with which token a request was refused, and what the server asks for. */
  watch(fetch: FetchLike): FetchLike {
    return async (url, init) => {
      const token = /^Bearer (.+)$/.exec(new Headers(init?.headers).get('authorization') ?? '')?.[1]
      if (token !== undefined && new URL(url).origin !== this.#server.url.origin)
        throw new Error('a token would have been sent to another server')
      const response = await fetch(url, init)
      if (token !== undefined && response.status === 401) this.#refused.set(response, token)
      if (response.status === 403 && this.#place.library.extractWWWAuthenticateParams(response).error === 'insufficient_scope')
        await this.#note(this.#challengeOf(response))
      return response
    }
  }

  #canRenew(grant: TokenGrant): boolean {
    return this.#server.auth?.type === 'client_credentials' || grant.refreshToken !== undefined
  }

  #challengeOf(response: Response): Challenge {
    const { scope, resourceMetadataUrl } = this.#place.library.extractWWWAuthenticateParams(response)
    return { ...(scope !== undefined && { scope }), ...(resourceMetadataUrl && { resourceMetadataUrl: resourceMetadataUrl.href }) }
  }

  /** For the next login. Only a hint: a store that cannot be written must not hide why the request failed. */
  async #note(challenge: Challenge): Promise<void> {
    const { store } = this.#place
    const same = (record: McpTokenRecord | undefined): boolean =>
      JSON.stringify({ ...record?.challenge, ...challenge }) === JSON.stringify(record?.challenge ?? {})
    if (same(await store.read(this.#key))) return
    await store
      .change(this.#key, async (record) => this.#record(record, { challenge: { ...record?.challenge, ...challenge } }))
      .catch(() => {})
  }

  #record(record: McpTokenRecord | undefined, more: Partial<McpTokenRecord>): McpTokenRecord {
    return { ...record, server: this.#server.name, url: this.#server.url.href, ...more }
  }

  /** `used`: the token that no longer works. @throws McpError */
  async #renew(used: string | undefined, challenge: Challenge): Promise<TokenGrant> {
    const { name, auth } = this.#server
    await this.#note(challenge)
    let failure: Error | undefined
    const record = await this.#place.store.change(this.#key, async (record) => {
      const grant = record?.grant
      if (grant && grant.accessToken !== used) return record
      try {
        if (auth?.type === 'client_credentials')
          return this.#record(record, { grant: await this.#request(auth, grant, { ...record?.challenge, ...challenge }) })
        if (grant?.refreshToken !== undefined)
          return this.#record(record, { grant: await this.#refresh({ ...grant, refreshToken: grant.refreshToken }, record?.challenge) })
      } catch (error) {
        failure = this.#failureOf(error, grant)
        if (this.#kindOf(error) !== 'rejected') throw failure
      }
      // What was rejected is of no use.
      const { grant: _, ...rest } = this.#record(record, {})
      return grant || Object.keys(rest.challenge ?? {}).length > 0 ? rest : undefined
    })
    if (failure) throw failure
    if (record?.grant) return record.grant
    throw authFailure(
      used === undefined
        ? `The MCP server "${name}" requires authorization.`
        : `The authorization for the MCP server "${name}" has expired or was revoked.`,
      `${loginRemedy(name).slice(0, -1)}, or set its headers.`,
    )
  }

  async #refresh(grant: TokenGrant & { readonly refreshToken: string }, challenge: Challenge | undefined): Promise<TokenGrant> {
    const { clock, library } = this.#place
    const secret = this.#server.auth?.clientSecret
    const at = await findAuthorizationServer(this.#server, { challenge, known: grant.issuer }, this.#place)
    const tokens = await library.refreshAuthorization(at.url, {
      ...(at.metadata && { metadata: at.metadata }),
      clientInformation: { ...(secret !== undefined && { client_secret: secret }), ...grant.client },
      refreshToken: grant.refreshToken,
      ...(at.resource !== undefined && { resource: at.resource }),
      fetchFn: at.fetchFn,
    })
    return grantOf(tokens, { issuer: at.issuer, client: grant.client, requested: grant.scope, clock })
  }

  async #request(auth: McpClientCredentials, grant: TokenGrant | undefined, challenge: Challenge): Promise<TokenGrant> {
    const { clock, library } = this.#place
    const at = await findAuthorizationServer(this.#server, { challenge, known: grant?.issuer }, this.#place)
    const { clientId, clientSecret, privateKey, scopes } = auth
    const requested = scopes ? scopes.join(' ') : (challenge.scope ?? at.scopes?.join(' '))
    const client = { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) }
    const provider = {
      clientInformation: () => ({ ...client, issuer: at.issuer }),
      clientMetadata: { redirect_uris: [] },
      prepareTokenRequest: () => new URLSearchParams({ grant_type: 'client_credentials', ...(requested && { scope: requested }) }),
      ...(privateKey !== undefined && {
        addClientAuthentication: library.createPrivateKeyJwtAuth({
          issuer: clientId,
          subject: clientId,
          privateKey,
          alg: signingAlgorithm(privateKey) ?? '',
        }),
      }),
    }
    const tokens = await library.fetchToken(provider as unknown as OAuthClientProvider, at.url, {
      ...(at.metadata && { metadata: at.metadata }),
      ...(at.resource !== undefined && { resource: at.resource }),
      fetchFn: at.fetchFn,
    })
    // The secret stays in the configuration.
    return grantOf(tokens, { issuer: at.issuer, client: { client_id: clientId }, requested, clock })
  }

  /** `passing`: trying again may help. `unusable`: the authorization server does not do what the protocol says. */
  #kindOf(error: unknown): 'rejected' | 'passing' | 'unusable' {
    const { OAuthError, OAuthErrorCode } = this.#place.library
    if (error instanceof TypeError) return 'passing'
    if (!OAuthError.isInstance(error)) return 'unusable'
    const passing: readonly string[] = [OAuthErrorCode.ServerError, OAuthErrorCode.TemporarilyUnavailable, OAuthErrorCode.TooManyRequests]
    return passing.includes(error.code) ? 'passing' : 'rejected'
  }

  #failureOf(error: unknown, grant: TokenGrant | undefined): Error {
    if (error instanceof McpError) return error
    const { name, auth } = this.#server
    const why = describeAuthError(error, grant?.refreshToken, grant?.accessToken, auth?.clientSecret)
    const place = `The authorization server of the MCP server "${name}"`
    switch (this.#kindOf(error)) {
      case 'passing':
        return new McpError({ class: 'network', message: `${place} cannot be reached: ${why}` }, { cause: error })
      case 'unusable':
        return authFailure(`${place} cannot be used: ${why}`, 'Try again, or report it to its operator.')
      case 'rejected':
        return auth?.type === 'client_credentials'
          ? authFailure(`${place} refused the client: ${why}`, 'Check `auth` of the server.')
          : authFailure(`The authorization for the MCP server "${name}" has expired and was not renewed: ${why}`, loginRemedy(name))
    }
  }
}
