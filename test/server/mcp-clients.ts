// MCP clients of both majors, over each transport.
import { join } from 'node:path'
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport as SSEClientTransport1 } from '@modelcontextprotocol/sdk/client/sse.js'
import { StdioClientTransport as StdioClientTransport1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as StreamableHTTPClientTransport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { localToken } from './support.ts'

export const kinds = ['client 2.4, 2026-07-28', 'client 2.4, 2025-11-25', 'sdk 1.32'] as const
export const transports = ['http', 'sse', 'ws', 'stdio'] as const
export type Kind = (typeof kinds)[number]
export type TransportName = (typeof transports)[number]

export interface CallResult {
  readonly content: readonly { readonly type: string; readonly text?: string }[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
  readonly _meta?: { readonly [key: string]: unknown }
}

export interface Elicited {
  readonly message: string
  readonly requestedSchema: { readonly properties: object }
}
type ElicitAnswer = { action: 'accept' | 'decline' | 'cancel'; content?: { [name: string]: string } }

/** What the tests need of a client. */
export interface TestClient {
  readonly sessionId: string | undefined
  listTools(): Promise<{ readonly tools: readonly { readonly [key: string]: unknown }[] }>
  callTool(name: string, input: object, options?: CallOptions): Promise<CallResult>
  listResources(
    cursor?: string,
  ): Promise<{ readonly resources: readonly { readonly uri: string }[]; readonly nextCursor?: string | undefined }>
  listResourceTemplates(): Promise<{ readonly resourceTemplates: readonly { readonly uriTemplate: string }[] }>
  readResource(uri: string): Promise<{ readonly contents: readonly { readonly mimeType?: string | undefined; readonly text?: string }[] }>
  close(): Promise<void>
}

export interface CallOptions {
  readonly signal?: AbortSignal
  onprogress?(progress: { readonly progress: number; readonly message?: string | undefined }): void
}

export interface ClientOptions {
  readonly kind: Kind
  readonly transport: TransportName
  readonly url: string
  readonly token?: string
  /** Without it, the client cannot ask. */
  elicit?(form: Elicited): ElicitAnswer | Promise<ElicitAnswer>
  toolsChanged?(): void
}

const info = { name: 'test-client', version: '1.0.0' }
const stdioServer = { command: process.execPath, args: [join(import.meta.dirname, '../fixtures/mcp-stdio-server.ts')] }

export async function connect(options: ClientOptions): Promise<TestClient> {
  const client = options.kind === 'sdk 1.32' ? await connectSdk1(options) : await connectClient2(options)
  onTestFinished(() => client.close())
  return client
}

async function connectClient2({
  kind,
  transport: name,
  url,
  token = localToken,
  elicit,
  toolsChanged,
}: ClientOptions): Promise<TestClient> {
  const client = new Client(info, {
    capabilities: elicit ? { elicitation: { form: {} } } : {},
    versionNegotiation: { mode: kind.endsWith('2026-07-28') ? { pin: '2026-07-28' } : 'legacy' },
    ...(toolsChanged && { listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: toolsChanged } } }),
  })
  if (elicit) client.setRequestHandler('elicitation/create', ({ params }) => elicit(params as unknown as Elicited))
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  const transport = {
    http: () => new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }),
    sse: () => new SSEClientTransport(new URL(`${url}/mcp/sse`), { requestInit }),
    ws: () => new SocketClientTransport(url, token),
    stdio: () => new StdioClientTransport(stdioServer),
  }[name]()
  await client.connect(transport as never)
  return {
    sessionId: (transport as { readonly sessionId?: string }).sessionId,
    listTools: () => client.listTools() as ReturnType<TestClient['listTools']>,
    callTool: (tool, input, callOptions) => client.callTool({ name: tool, arguments: { ...input } }, callOptions) as Promise<CallResult>,
    listResources: (cursor) => client.listResources(cursor === undefined ? {} : { cursor }),
    listResourceTemplates: () => client.listResourceTemplates(),
    readResource: (uri) => client.readResource({ uri }) as ReturnType<TestClient['readResource']>,
    close: () => client.close(),
  }
}

async function connectSdk1({ transport: name, url, token = localToken, elicit, toolsChanged }: ClientOptions): Promise<TestClient> {
  const client = new Client1(info, { capabilities: elicit ? { elicitation: {} } : {} })
  if (elicit) client.setRequestHandler(ElicitRequestSchema, ({ params }) => elicit(params as unknown as Elicited))
  if (toolsChanged) client.setNotificationHandler(ToolListChangedNotificationSchema, () => toolsChanged())
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  const transport = {
    http: () => new StreamableHTTPClientTransport1(new URL(`${url}/mcp`), { requestInit }),
    sse: () => new SSEClientTransport1(new URL(`${url}/mcp/sse`), { requestInit }),
    ws: () => new SocketClientTransport(url, token),
    stdio: () => new StdioClientTransport1(stdioServer),
  }[name]()
  await client.connect(transport as never)
  return {
    sessionId: (transport as { readonly sessionId?: string }).sessionId,
    listTools: () => client.listTools() as ReturnType<TestClient['listTools']>,
    callTool: (tool, input, callOptions) =>
      client.callTool({ name: tool, arguments: { ...input } }, undefined, callOptions as never) as Promise<CallResult>,
    listResources: (cursor) => client.listResources(cursor === undefined ? {} : { cursor }),
    listResourceTemplates: () => client.listResourceTemplates(),
    readResource: (uri) => client.readResource({ uri }) as ReturnType<TestClient['readResource']>,
    close: () => client.close(),
  }
}

/** Those of the libraries cannot send a token. */
export class SocketClientTransport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: never) => void
  readonly sessionId = undefined
  readonly #socket: WebSocket

  constructor(url: string, token: string) {
    this.#socket = new WebSocket(`${url.replace('http', 'ws')}/mcp/ws`, 'mcp', { headers: { authorization: `Bearer ${token}` } })
    this.#socket.on('message', (data) => this.onmessage?.(JSON.parse(String(data)) as never))
    this.#socket.on('close', () => this.onclose?.())
  }

  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.once('open', resolve)
      this.#socket.once('error', reject)
    })
  }

  async send(message: object): Promise<void> {
    this.#socket.send(JSON.stringify(message))
  }

  async close(): Promise<void> {
    this.#socket.close()
  }
}
