import { type ToolFailure, TroupeError } from '../../contracts/index.ts'
import { asSentence } from '../../util/as-sentence.ts'
import { messageOf } from '../../util/message-of.ts'
import { cutText } from '../../util/well-formed.ts'
import { maxErrorCharacters } from './mcp-limits.ts'
import { explanationIn } from './refusal.ts'

/** An expected failure of a server. */
export class McpError extends Error {
  readonly failure: ToolFailure
  /** Whether the request never reached the server. */
  readonly isUnsent: boolean

  constructor(failure: ToolFailure, { isUnsent = false, cause }: { readonly isUnsent?: boolean; readonly cause?: unknown } = {}) {
    super(failure.message, cause === undefined ? undefined : { cause })
    this.failure = failure
    this.isUnsent = isUnsent
  }
}

export const configFailure = (message: string, remedy: string): McpError => new McpError({ class: 'config', message, remedy })

export const cancelled = (server: string): McpError =>
  new McpError({ class: 'cancelled', message: `The request to the MCP server "${server}" was cancelled.` })

/** The code of the error for a dropped connection. No server uses it: it is made here. */
export const droppedCode = -32_099

/** What the library throws, as far as it matters. */
interface LibraryError {
  readonly code?: unknown
  readonly status?: unknown
  readonly message?: unknown
  readonly data?: { readonly text?: unknown }
  readonly errorDescription?: unknown
  readonly requiredScope?: unknown
}

/** `server`: its configured name. */
export function failureOf(error: unknown, server: string): ToolFailure {
  if (error instanceof McpError) return error.failure
  const { code } = (typeof error === 'object' && error !== null ? error : {}) as LibraryError
  const status = statusOf(error)
  const said = cutText(messageOf(error), maxErrorCharacters)
  if (isAuthFailure(error)) {
    const message = `The MCP server "${server}" ${status === 403 ? `denied access${refusalText(error)}` : 'requires authorization.'}`
    return { class: 'auth', message, remedy: `Run \`troupe mcp login ${server}\`, or set its headers.` }
  }
  if (typeof status === 'number') return statusFailure(status, server)
  if (code === droppedCode || isUnreachable(error))
    return { class: 'network', message: `The MCP server "${server}" cannot be reached or dropped the connection: ${said}` }
  if (code === 'CONNECTION_CLOSED') return { class: 'failed', message: `The MCP server "${server}" ended or closed the connection.` }
  if (code === -32602) return { class: 'invalid_input', message: `The MCP server "${server}" rejected the request: ${said}` }
  if (typeof code === 'number') return { class: 'failed', message: `The MCP server "${server}" reported an error: ${said}` }
  if (code === 'INVALID_RESULT') return { class: 'failed', message: `The MCP server "${server}" sent an invalid result: ${said}` }
  return { class: 'failed', message: `The MCP server "${server}" failed: ${said}` }
}

/** How the library reports a response differs by transport. */
function statusOf(error: unknown): unknown {
  if (typeof error !== 'object' || error === null) return undefined
  const { code, status, message } = error as LibraryError
  const [, posted] = /^Error POSTing to endpoint \(HTTP (\d{3})\)/.exec(String(message)) ?? []
  if (error.constructor.name === 'InsufficientScopeError' || code === 403) return 403
  return status ?? (posted === undefined ? undefined : Number(posted))
}

function refusalText(error: unknown): string {
  const { data, message, errorDescription, requiredScope } = error as LibraryError
  const scope = requiredScope === undefined ? '' : `the scope "${requiredScope}" is missing`
  const texts = [data?.text, errorDescription, /^Error POSTing to endpoint \(HTTP 403\): (.*)$/s.exec(String(message))?.[1], scope]
  const text = texts.map((each) => explanationIn(String(each ?? ''))).find((each) => each !== '')
  return text === undefined ? '.' : `: ${asSentence(text)}`
}

function statusFailure(status: number, server: string): ToolFailure {
  if (status >= 300 && status < 400) {
    const message = `The MCP server "${server}" redirects to another host, which is not followed.`
    return { class: 'failed', message, remedy: 'Set the URL that it redirects to, if you trust it.' }
  }
  return { class: status >= 500 ? 'network' : 'failed', message: `The MCP server "${server}" answered with HTTP status ${status}.` }
}

/** `fetch` throws a TypeError, and the library may wrap it. */
function isUnreachable(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > 4) return false
  const { cause, data } = error as { readonly cause?: unknown; readonly data?: { readonly cause?: unknown } }
  return error instanceof TypeError || isUnreachable(cause ?? data?.cause, depth + 1)
}

export function isAuthFailure(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const status = statusOf(error)
  if (status === 401 || status === 403 || (error as LibraryError).code === 401) return true
  return ['UnauthorizedError', 'OAuthError', 'OAuthClientFlowError'].includes(error.constructor.name)
}

/** Whether trying again may help. */
export const isPassing = ({ class: kind }: ToolFailure): boolean => kind === 'network'

/** For callers outside a call. */
export function troupeErrorOf(error: unknown, server: string): TroupeError {
  if (error instanceof TroupeError) return error
  const { class: kind, message, remedy } = failureOf(error, server)
  return new TroupeError(kind === 'config' ? 'config_invalid' : 'tools_unavailable', message, {
    ...(remedy !== undefined && { remedy }),
    cause: error,
  })
}
