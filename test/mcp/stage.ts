import type { JsonObject, Tool, ToolContext, ToolOutput } from '../../src/contracts/index.ts'
import type { McpHost } from '../../src/tools/mcp/index.ts'

/** Real time: the servers are real processes. */
export const realClock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms: number, fire: () => void) => {
    const timer = setTimeout(fire, ms)
    return () => clearTimeout(timer)
  },
}

export const hostOf = (more: Partial<McpHost> = {}): McpHost => ({
  clock: realClock,
  workspace: import.meta.dirname,
  environment: process.env,
  ...more,
})

export const contextOf = (more: Partial<ToolContext> = {}): ToolContext =>
  ({ signal: new AbortController().signal, progress: () => {}, ask: async () => ({ kind: 'cancel' }), ...more }) as ToolContext

/** Calls a tool. What it asks by returning is answered by `ask`, if that is given. */
export async function callTool(tool: Tool, input: JsonObject, more: Partial<ToolContext> = {}): Promise<ToolOutput> {
  const context = contextOf(more)
  const returned = await tool.execute(input, context)
  const output: ToolOutput = typeof returned === 'string' ? { ok: true, content: returned } : returned
  if (output.ok || !output.ask || !more.ask) return output
  const { questions, state } = output.ask
  const answers: Record<string, Awaited<ReturnType<ToolContext['ask']>>> = {}
  for (const [id, question] of Object.entries(questions)) answers[id] = await context.ask(question)
  return callTool(tool, input, { ...more, answers, ...(state !== undefined && { askState: state }) })
}
