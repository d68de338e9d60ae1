export type { McpDependencies } from './dependencies.ts'
export { mcpRoutes } from './routes.ts'
export { type StdioServed, serveStdio } from './stdio.ts'
export { mcpUpgrade } from './web-socket.ts'
