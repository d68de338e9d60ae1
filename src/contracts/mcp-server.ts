import type { Effect } from './items.ts'
import type { SandboxPolicy } from './sandbox.ts'

/** An MCP server as configuration describes it. Texts may contain `${NAME}` placeholders; sessions resolve them from their overlay. */
export type McpServerDefinition = StdioServerDefinition | HttpServerDefinition

/** A server that Troupe starts as a process. */
export interface StdioServerDefinition extends ServerOptions {
  readonly type: 'stdio'
  readonly command: string
  readonly args?: readonly string[]
  /** Besides PATH, HOME and the like: nothing else of the environment is passed on. */
  readonly env?: { readonly [name: string]: string }
  /** Relative to the workspace. Default: the workspace. */
  readonly cwd?: string
  /**
   * Default `off`: no sandbox, but the processes of the server end with Troupe. A policy: the server runs in the sandbox for
   * commands, with the default policy for the fields that are absent.
   */
  readonly sandbox?: 'off' | Partial<Omit<SandboxPolicy, 'mode'>>
}

/** A server behind a URL: Streamable HTTP, or the older HTTP with Server-Sent Events. `auto`: the first one that it knows. */
export interface HttpServerDefinition extends ServerOptions {
  readonly type: HttpTransport
  readonly url: string
  readonly headers?: { readonly [name: string]: string }
  /** Where access tokens come from. Default: `oauth`, which has tokens after `troupe mcp login`, unless `headers` authorize. */
  readonly auth?: McpServerAuth
}

type HttpTransport = 'http' | 'sse' | 'auto'

/** The texts may contain `${NAME}` placeholders. */
export type McpServerAuth = McpOAuth | McpClientCredentials

/** A person logs in with a browser (authorization code with PKCE). */
export interface McpOAuth extends AuthOptions {
  readonly type: 'oauth'
  /** A client that the authorization server knows. Default: `clientMetadataUrl` where that is supported, or registration. */
  readonly clientId?: string
  readonly clientSecret?: string
  /** An HTTPS URL where the metadata of the client is published. It is the id of the client. */
  readonly clientMetadataUrl?: string
  /** The port of the loopback redirect. Default: any. */
  readonly redirectPort?: number
}

/** The program authorizes itself, without a person. One of `clientSecret` and `privateKey` is required. */
export interface McpClientCredentials extends AuthOptions {
  readonly type: 'client_credentials'
  readonly clientId: string
  readonly clientSecret?: string
  /** RSA or EC, in PEM format (PKCS #8). */
  readonly privateKey?: string
}

interface AuthOptions {
  /** Default: those that the server asks for. */
  readonly scopes?: readonly string[]
  /** The only authorization server that gets credentials. Default: the one that the MCP server names. */
  readonly issuer?: string
}

/** The revisions of the protocol; `auto` asks the server. */
export type McpProtocol = '2026-07-28' | '2025-11-25' | 'auto'

/** Patterns match the names of the server's tools, without the name of the server. `*` matches anything. */
interface ServerOptions {
  /** Without `allow`, all tools are offered. `deny` wins. */
  readonly tools?: { readonly allow?: readonly string[]; readonly deny?: readonly string[] }
  /** Effects of tools, by pattern; the last match applies. Default `write`: annotations of the server are no promise. */
  readonly effects?: { readonly [pattern: string]: Effect }
  /** `allow`: calls need no approval unless a rule asks. By pattern; the last match applies. Default `ask`. */
  readonly approval?: { readonly [pattern: string]: 'ask' | 'allow' }
  /** Limits for the calls of this server over all sessions: the queue with the name of the server. */
  readonly queue?: { readonly concurrent?: number; readonly perMinute?: number }
  /** Milliseconds for each request. Default 60,000. */
  readonly timeout?: number
  /** Default `auto` for Streamable HTTP and `2025-11-25` for stdio and SSE. */
  readonly protocol?: McpProtocol
  /** `lazy`: a session connects when it needs the tools. `eager`: when it starts, and a connection is kept ready for the next one. */
  readonly connect?: 'eager' | 'lazy'
  /** Whether a session fails if the server does not list its tools. Default false. */
  readonly required?: boolean
  /** `session` (default): each session has a connection of its own. `process`: all sessions of the process share one. */
  readonly share?: 'session' | 'process'
}

/** As configuration writes it: without `type`, `command` means a process, `url` means `auto` and `auth` means `oauth`. */
export type McpServerSettings =
  | (Omit<StdioServerDefinition, 'type'> & { readonly type?: 'stdio' })
  | (Omit<HttpServerDefinition, 'type' | 'auth'> & { readonly type?: HttpTransport; readonly auth?: McpServerAuth | McpAuthWithoutType })

type McpAuthWithoutType = Omit<McpOAuth, 'type'> & { readonly type?: never }
