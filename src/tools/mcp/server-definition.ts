export type {
  HttpServerDefinition,
  McpClientCredentials,
  McpOAuth,
  McpProtocol,
  McpServerAuth,
  McpServerDefinition,
  StdioServerDefinition,
} from '../../contracts/index.ts'
export { isServerName } from '../../policy/mcp-servers.ts'

export const defaultServerTimeoutMs = 60_000
