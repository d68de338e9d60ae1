export { readOutputName, readOutputTool } from './builtin/read-output.ts'
export { schemaProblem, schemaValidator } from './schema/index.ts'
export { agentDirectory, directoryNames } from './subagent/agent-directory.ts'
export { agentCard, agentTool, agentToolName } from './subagent/agent-tool.ts'
