export type { HttpToolOptions } from './http-tool.ts'
export { type ImportedTools, importTools } from './openapi/import-tools.ts'
export { isSpecUrl, type OpenApiOptions, openApiTools } from './openapi/openapi-source.ts'
export { restTool } from './rest-tool.ts'
