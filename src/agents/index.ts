export { type AgentFile, parseAgentFile } from './agent-file.ts'
