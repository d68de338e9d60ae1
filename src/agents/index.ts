export { type AgentFile, type AgentFileOptions, parseAgentFile } from './agent-file.ts'
export { type AgentOption, type AgentOptionKey, type AgentOptionType, agentOptionKeys, agentOptions } from './agent-options.ts'
export { agentTemplate } from './agent-template.ts'
export { type AgentOverrides, parseOverrides, type WrittenOverrides } from './overrides.ts'
