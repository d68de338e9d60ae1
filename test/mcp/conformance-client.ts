// The client of the official conformance suite: `conformance client --command "node conformance-client.ts"`.
import type { JsonObject, JsonSchema, SessionId } from '../../src/contracts/index.ts'
import { mcpToolSource, noQuestions } from '../../src/tools/mcp/index.ts'
import { contextOf, hostOf } from './stage.ts'

const url = process.argv.at(-1) ?? ''
const { toolCalls } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as { toolCalls?: { name: string; arguments: JsonObject }[] }

const host = hostOf({ questions: () => ({ ...noQuestions, elicit: async () => ({ action: 'accept', content: {} }) }) })
const server = mcpToolSource('conformance', { type: 'http', url, timeout: 20_000 }, host)
const source = server.open({
  sessionId: 'session' as SessionId,
  overlay: {},
  report: ({ message }) => console.error(message),
})

const tools = await source.list()
const calls =
  toolCalls ?? tools.map(({ name, inputSchema }) => ({ name: name.slice('conformance/'.length), arguments: exampleOf(inputSchema) }))
for (const { name, arguments: input } of calls) {
  const tool = tools.find((each) => each.name === `conformance/${name}`)
  console.error(name, tool ? JSON.stringify(await tool.execute(input, contextOf())) : 'is not offered')
}
await source.prompts().catch(() => {})
await source.close()
await server.close?.()

/** Something for each required property. A scenario wants the schema of another tool back. */
function exampleOf({ properties = {}, required = [] }: JsonSchema): JsonObject {
  const byName = properties as { readonly [name: string]: JsonSchema }
  return Object.fromEntries((required as readonly string[]).map((name) => [name, example(name, byName[name] ?? {})])) as JsonObject
}

function example(name: string, { type, enum: choices }: JsonSchema): unknown {
  if (name === 'schema') return tools.find((tool) => !tool.name.includes('echo'))?.inputSchema
  if (Array.isArray(choices)) return choices[0]
  return { number: 3, integer: 3, boolean: true, array: [], object: {} }[String(type)] ?? 'text'
}
