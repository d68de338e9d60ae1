export type { McpDependencies, McpSessionLimits } from './dependencies.ts'
export { mcpRoutes } from './routes.ts'
export { type StdioServed, serveStdio } from './stdio.ts'
export { mcpUpgrade, type UpgradeDependencies } from './web-socket.ts'
