import type { McpServerDefinition, SessionId, SourceSession } from '../../../contracts/index.ts'
import { configFailure, failureOf, troupeErrorOf } from '../mcp-failure.ts'
import { type McpHost, tokensOf } from '../mcp-host.ts'
import { mcpToolSource } from '../mcp-tool-source.ts'
import { type ResolvedHttp, resolveServer } from '../resolve-server.ts'
import { authFailure } from './authorization-server.ts'
import { randomState, startLogin } from './login.ts'
import { type Logout, logout } from './logout.ts'
import { listenForRedirect } from './loopback-redirect.ts'
import { tokenKey } from './token-store.ts'

export interface LoginOptions {
  readonly host: McpHost
  readonly overlay: SourceSession['overlay']
  /** Sends the person to the login page. */
  show(url: URL): void
  /** The URL that the browser returned to, for browsers on other machines. Called once the page is shown. */
  paste?(signal: AbortSignal): Promise<string>
  readonly timeoutMs: number
}

/** `not_required`: the server lists its tools without a login. */
export type LoginResult = { readonly kind: 'not_required'; readonly tools: number } | LoggedIn

interface LoggedIn {
  readonly kind: 'logged_in'
  readonly tools: number
  readonly issuer: string
  readonly scope?: string
  /** Milliseconds since 1970. */
  readonly expiresAt?: number
  readonly isRenewable: boolean
}

/** Logs a person in at a server, and lists its tools to see that it works. @throws TroupeError */
export async function loginToServer(name: string, definition: McpServerDefinition, options: LoginOptions): Promise<LoginResult> {
  const { host, overlay } = options
  return describing(name, async () => {
    const server = resolveHttp(name, definition, options)
    if (server.auth?.type === 'client_credentials')
      throw configFailure(`The MCP server "${name}" uses client credentials, which need no login`, 'Run `troupe mcp show` to test them.')
    const count = (): Promise<number> => countTools(name, definition, { host, overlay })
    // The refusal says what to ask the authorization server for.
    const before = await count().catch((error: unknown) => {
      if (failureOf(error, name).class !== 'auth') throw error
      return undefined
    })
    if (before !== undefined && server.auth === undefined && (await tokensOf(host).read(tokenKey(server))) === undefined)
      return { kind: 'not_required', tools: before }
    const { issuer, scope, expiresAt, refreshToken } = await authorize(server, options)
    return {
      kind: 'logged_in',
      tools: await count(),
      issuer,
      ...(scope !== undefined && { scope }),
      ...(expiresAt !== undefined && { expiresAt }),
      isRenewable: refreshToken !== undefined,
    }
  })
}

/** @throws TroupeError */
export async function logoutFromServer(
  name: string,
  definition: McpServerDefinition,
  options: Pick<LoginOptions, 'host' | 'overlay'>,
): Promise<Logout> {
  const { host } = options
  return describing(name, async () => {
    const library = await import('@modelcontextprotocol/client')
    return logout(resolveHttp(name, definition, options), { library, clock: host.clock, store: tokensOf(host) })
  })
}

async function authorize(server: ResolvedHttp, { host, show, paste, timeoutMs }: LoginOptions) {
  const library = await import('@modelcontextprotocol/client')
  const state = randomState()
  const port = server.auth?.type === 'oauth' ? server.auth.redirectPort : undefined
  const redirect = await listenForRedirect(state, port)
  const ended = new AbortController()
  const cancelTimer = host.clock.after(timeoutMs, () =>
    ended.abort(authFailure(`Nobody logged in at the MCP server "${server.name}" within ${timeoutMs / 60_000} minutes.`, 'Log in again.')),
  )
  const aborted = new Promise<never>((_, reject) => {
    ended.signal.addEventListener('abort', () => reject(ended.signal.reason), { once: true })
  })
  aborted.catch(() => {})
  const within = <Value>(work: Promise<Value>): Promise<Value> => Promise.race([work, aborted])
  try {
    const place = { library, clock: host.clock, store: tokensOf(host), redirectUrl: redirect.url, state, signal: ended.signal }
    const login = await within(startLogin(server, place))
    show(login.url)
    const pasted = paste?.(ended.signal).then((text) => ({ url: pastedUrl(text), answer: () => {} }))
    const { url, answer } = await within(Promise.race([redirect.returned, ...(pasted ? [pasted] : [])]))
    try {
      const grant = await within(login.finish(url))
      answer(true)
      return grant
    } catch (error) {
      answer(false)
      throw error
    }
  } finally {
    cancelTimer()
    ended.abort()
    redirect.close()
  }
}

function pastedUrl(text: string): URL {
  const url = URL.parse(text.trim())
  if (url) return url
  throw authFailure('The pasted text is not a URL.', 'Paste the whole address that the browser shows after the login, and log in again.')
}

function resolveHttp(name: string, definition: McpServerDefinition, place: Pick<LoginOptions, 'host' | 'overlay'>): ResolvedHttp {
  const server = resolveServer(name, definition, place)
  if (server.type !== 'stdio') return server
  throw configFailure(`The MCP server "${name}" is a program on this machine, which has no login`, 'Set its `env` instead.')
}

async function countTools(name: string, definition: McpServerDefinition, { host, overlay }: Pick<LoginOptions, 'host' | 'overlay'>) {
  const source = mcpToolSource(name, definition, host)
  const opened = source.open({ sessionId: 'login' as SessionId, overlay, report: () => {} })
  try {
    return (await opened.list()).length
  } catch (error) {
    // `list` rejects with what it was caused by.
    throw (error as Error).cause ?? error
  } finally {
    await opened.close()
    await source.close?.()
  }
}

async function describing<Result>(name: string, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run()
  } catch (error) {
    throw troupeErrorOf(error, name)
  }
}
