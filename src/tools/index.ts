export { readOutputName, readOutputTool } from './builtin/read-output.ts'
export { schemaValidator } from './schema/index.ts'
export { agentTool, agentToolName } from './subagent/agent-tool.ts'
