// What a call of an MCP tool over stdio costs besides the server's own time: plain JSON over the pipes, the library's own
// client, and the tool of Troupe, alternating in one run. Also how long the first tools of a session take without and with a
// process that was started ahead.
// node bench/mcp.mjs [calls], after npm run build and npm ci.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { createInterface } from 'node:readline'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { mcpToolSource } from '../src/tools/mcp/index.ts'

const calls = Number(process.argv[2] ?? 1000)
const script = join(import.meta.dirname, '../node_modules/@modelcontextprotocol/server-memory/dist/index.js')
const command = { command: process.execPath, args: [script] }
const clock = {
  now: Date.now,
  monotonic: () => performance.now(),
  after: (ms, fire) => {
    const timer = setTimeout(fire, ms)
    return () => clearTimeout(timer)
  },
}
const source = mcpToolSource('memory', { type: 'stdio', ...command }, { clock, workspace: import.meta.dirname, environment: process.env })
const open = (sessionId) => source.open({ sessionId, overlay: {}, report: () => {} })
const input = { query: 'nothing' }

const plain = await plainClient()
const library = new Client({ name: 'bench', version: '1' })
await library.connect(new StdioClientTransport({ ...command, stderr: 'ignore' }))
const [cold, opened] = await timed(async () => {
  const session = open('one')
  return [session, (await session.list()).find(({ name }) => name === 'memory/search_nodes')]
})
const [session, tool] = opened
const context = { signal: new AbortController().signal, progress: () => {} }

const ways = {
  plain: () => plain.call(input),
  library: () => library.callTool({ name: 'search_nodes', arguments: input }),
  troupe: () => tool.execute(input, context),
}
const times = { plain: [], library: [], troupe: [] }
for (let round = 0; round < calls + 50; round++)
  for (const [way, run] of Object.entries(ways)) {
    const [ms] = await timed(run)
    if (round >= 50) times[way].push(ms)
  }

const second = open('two')
await second.list()
await new Promise((resolve) => setTimeout(resolve, 2_000))
const third = open('three')
const [warm] = await timed(() => third.list())

const medians = Object.fromEntries(Object.entries(times).map(([way, all]) => [way, median(all)]))
console.log(
  JSON.stringify({
    calls,
    medianMs: Object.fromEntries(Object.entries(medians).map(([way, ms]) => [way, rounded(ms)])),
    addedMs: rounded(medians.troupe - medians.plain),
    addedToLibraryMs: rounded(medians.troupe - medians.library),
    firstToolsMs: { started: rounded(cold), startedAhead: rounded(warm) },
  }),
)
await Promise.all([session.close(), second.close(), third.close(), library.close()])
await source.close()
plain.close()

/** The server's own time, as far as it can be seen from outside. */
async function plainClient() {
  const child = spawn(command.command, command.args, { stdio: ['pipe', 'pipe', 'ignore'] })
  const waiting = new Map()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line)
    waiting.get(message.id)?.(message)
  })
  let id = 0
  const request = (method, params) =>
    new Promise((resolve) => {
      waiting.set(++id, resolve)
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    })
  await request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } })
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`)
  return {
    call: (given) => request('tools/call', { name: 'search_nodes', arguments: given }),
    close: () => child.kill(),
  }
}

async function timed(run) {
  const begin = performance.now()
  const result = await run()
  return [performance.now() - begin, result]
}

function median(all) {
  return all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)]
}

function rounded(ms) {
  return Math.round(ms * 1000) / 1000
}
