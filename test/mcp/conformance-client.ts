// The client of the official conformance suite: `conformance client --command "node conformance-client.ts"`.
import type { HttpServerDefinition, JsonObject, JsonSchema, SessionId, ToolContext, ToolOutput } from '../../src/contracts/index.ts'
import { mcpToolSource, memoryTokenStore } from '../../src/tools/mcp/index.ts'
import { authOf, authorizer, type ScenarioContext } from './conformance-auth.ts'
import { callTool, hostOf } from './stage.ts'

const url = process.argv.at(-1) ?? ''
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as ScenarioContext & {
  readonly toolCalls?: { name: string; arguments: JsonObject }[]
}

const host = hostOf({ tokens: memoryTokenStore() })
const ask: ToolContext['ask'] = async () => ({ kind: 'accept', text: '', content: {} })
const definition: HttpServerDefinition = {
  type: 'http',
  url,
  timeout: 20_000,
  ...authOf(process.env.MCP_CONFORMANCE_SCENARIO ?? '', context),
}
const authorized = authorizer('conformance', definition, host)
const server = mcpToolSource('conformance', definition, host)
const source = server.open({
  sessionId: 'session' as SessionId,
  overlay: {},
  report: ({ message }) => console.error(message),
})

const tools = await authorized.list(() => source.list())
const calls =
  context.toolCalls ??
  tools.map(({ name, inputSchema }) => ({ name: name.slice('conformance/'.length), arguments: exampleOf(inputSchema) }))
for (const { name, arguments: input } of calls) {
  const tool = tools.find((each) => each.name === `conformance/${name}`)
  const call = async (): Promise<ToolOutput> => (tool ? callTool(tool, input, { ask }) : { ok: true, content: 'is not offered' })
  console.error(name, JSON.stringify(await authorized.call(call)))
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
