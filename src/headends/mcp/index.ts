export type { McpDependencies, McpSessionLimits } from './dependencies.ts'
export { mcpRoutes } from './routes.ts'
