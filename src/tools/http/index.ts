export type { HttpToolOptions } from './http-tool.ts'
export { type OpenApiOptions, openApiTools } from './openapi/openapi-source.ts'
export { restTool } from './rest-tool.ts'
