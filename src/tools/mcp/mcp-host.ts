import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AuthProvider, OAuthClientProvider } from '@modelcontextprotocol/client'
import type { Clock, JsonSchema, MaybePromise, McpServerDefinition } from '../../contracts/index.ts'
import type { ProcessSandbox } from '../sandbox/index.ts'
import { type McpTokenStore, memoryTokenStore } from './auth/token-store.ts'

/** What MCP connections need from the program. All sources with the same host object share connections. */
export interface McpHost {
  readonly clock: Clock
  /** The folder that sessions work in: the only root, and the default working directory of servers. */
  readonly workspace: string
  /** The environment of the program. Servers get a few variables of it, such as PATH and HOME, and their own `env`. */
  readonly environment: { readonly [name: string]: string | undefined }
  /** Starts servers that have a `sandbox` policy. Without it, they are not started. */
  readonly sandbox?: Pick<ProcessSandbox, 'start'>
  /** Default: the global one. Redirects to other origins are never followed. */
  readonly fetch?: typeof globalThis.fetch
  /** The tokens of HTTP servers that use OAuth. Default: in memory. */
  readonly tokens?: McpTokenStore
  /** Credentials for an HTTP server, instead of its `auth`; `undefined` if there are none. */
  authProvider?(server: string, url: URL): AuthProvider | OAuthClientProvider | undefined
  /** Which descriptions of tools a person has accepted. Without it, all are. */
  readonly pins?: ToolPins
  /** What a server logs or prints, line by line, shortened and limited in number. */
  log?(server: string, line: string): void
  /** Reported to servers. Default `troupe`. */
  readonly client?: { readonly name: string; readonly version: string }
}

/** Remembers tool descriptions by hash, so that a server cannot change them unnoticed. */
export interface ToolPins {
  check(server: string, tools: readonly PinnedTool[], definition: McpServerDefinition): MaybePromise<PinVerdict>
}

export interface PinnedTool {
  readonly name: string
  /** The hash of the name, description and schemas. */
  readonly hash: string
  /** What models see, and a person reviews. */
  readonly description: string
  readonly inputSchema?: JsonSchema
}

/** `withheld`: names of tools that are new or changed since a person accepted them. They are not offered. */
export interface PinVerdict {
  readonly withheld: readonly string[]
  /** How to accept the change. */
  readonly remedy?: string
}

const memoryStores = new WeakMap<McpHost, McpTokenStore>()

export function tokensOf(host: McpHost): McpTokenStore {
  if (host.tokens) return host.tokens
  const store = memoryStores.get(host) ?? memoryTokenStore()
  memoryStores.set(host, store)
  return store
}

/** The folders that servers should work in: the workspace. */
export const rootsOf = ({ workspace }: McpHost) => ({ roots: [{ uri: pathToFileURL(workspace).href, name: basename(workspace) }] })
