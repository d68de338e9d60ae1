export type { AgentDefinition, AgentLoopConfig } from './config.ts'
export { createAgentRuntime } from './create-agent-runtime.ts'
export { systemClock } from './system.ts'
export type { AgentRuntime, RunHandle, RunInput, RunOptions, RuntimeOptions } from './types.ts'
