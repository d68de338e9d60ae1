import type { ToolContext } from '../../src/contracts/index.ts'
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
