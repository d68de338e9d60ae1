export { readOutputName, readOutputTool } from './builtin/read-output.ts'
export { schemaValidator } from './schema/index.ts'
