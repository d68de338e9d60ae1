export { readOutputName, readOutputTool } from './builtin/read-output-tool.ts'
export { contractProblems, type StatedContracts, schemaValidator } from './schema/schema-validator.ts'
export { agentDirectory, directoryNames } from './subagent/agent-directory.ts'
export { agentCard, agentTool, agentToolName } from './subagent/agent-tool.ts'
