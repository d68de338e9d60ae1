import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Diagnostic, JsonObject, McpServerDefinition, SessionId, Tool, ToolContext, ToolOutput } from '../../src/contracts/index.ts'
import { type McpHost, type McpToolSource, mcpToolSource } from '../../src/tools/mcp/index.ts'
import { callTool, hostOf } from './stage.ts'

export { contextOf, hostOf, realClock } from './stage.ts'

export interface Opened {
  readonly source: McpToolSource
  readonly reports: Diagnostic[]
  call(tool: string, input: JsonObject, more?: Partial<ToolContext>): Promise<ToolOutput>
}

let sessions = 0

export function openServer(
  definition: McpServerDefinition,
  { host = hostOf(), overlay = {}, name = 'srv' }: { host?: McpHost; overlay?: { [name: string]: string }; name?: string } = {},
): Opened {
  const reports: Diagnostic[] = []
  const server = mcpToolSource(name, definition, host)
  const source = server.open({
    sessionId: `session-${++sessions}` as SessionId,
    overlay,
    report: (diagnostic) => reports.push(diagnostic),
  })
  onTestFinished(async () => {
    await source.close()
    await server.close?.()
  })
  return { source, reports, call: async (tool, input, more) => callTool(await toolOf(source, `${name}/${tool}`), input, more) }
}

async function toolOf(source: McpToolSource, name: string): Promise<Tool> {
  const tool = (await source.list()).find((each) => each.name === name)
  if (!tool) throw new Error(`no tool ${name}`)
  return tool
}

export const names = (tools: readonly Tool[]): readonly string[] => tools.map(({ name }) => name.slice(name.indexOf('/') + 1)).toSorted()

const modules = join(import.meta.dirname, '../../node_modules/@modelcontextprotocol')
export const realServer = (name: 'everything' | 'filesystem' | 'memory'): string => join(modules, `server-${name}/dist/index.js`)

/** A definition that runs a script with this Node. */
export const nodeServer = (script: string, args: readonly string[] = [], more: Partial<McpServerDefinition> = {}): McpServerDefinition =>
  ({ type: 'stdio', command: process.execPath, args: [script, ...args], ...more }) as McpServerDefinition

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** The server "everything" over HTTP. Ends with the test file. */
export async function startEverything(kind: 'streamableHttp' | 'sse'): Promise<{ readonly url: string; stop(): void }> {
  const port = await freePort()
  const child = spawn(process.execPath, [realServer('everything'), kind], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await new Promise<void>((resolve) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (text.includes(String(port))) resolve()
    })
  })
  return { url: `http://127.0.0.1:${port}/${kind === 'sse' ? 'sse' : 'mcp'}`, stop: () => child.kill('SIGKILL') }
}
