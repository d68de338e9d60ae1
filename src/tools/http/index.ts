export type { HttpToolOptions } from './http-tool.ts'
export { restTool } from './rest-tool.ts'
