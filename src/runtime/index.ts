export type { AgentRuntime, RunHandle, RunInput, RunOptions, RuntimeOptions } from './agent-runtime.ts'
export type { AgentDefinition, AgentLoopConfig } from './config.ts'
export { createAgentRuntime } from './create-agent-runtime.ts'
export { systemClock } from './system.ts'
